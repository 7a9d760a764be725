// Package policy holds the shop's rules as pure functions: facts in, decision out. It reads no clock and no database;
// every moment is an argument. The same functions answer what an order view shows and what a refund does, so the two
// cannot disagree.
package policy

import "errors"

// ErrRole means that a text names none of the three roles.
var ErrRole = errors.New("unknown role: use viewer, staff or manager")

// Role says how much a principal may do. Roles are ranked: viewer, staff, manager. Any other value ranks below viewer.
type Role string

// The roles, lowest first.
const (
	Viewer  Role = "viewer"
	Staff   Role = "staff"
	Manager Role = "manager"
)

// ParseRole reads the name of a role, in lower case. The error is ErrRole.
func ParseRole(name string) (Role, error) {
	if r := Role(name); r.rank() > 0 {
		return r, nil
	}
	return "", ErrRole
}

// AtLeast reports whether r ranks as high as lowest. An unknown role on either side never does.
func (r Role) AtLeast(lowest Role) bool {
	return lowest.rank() > 0 && r.rank() >= lowest.rank()
}

func (r Role) rank() int {
	switch r {
	case Viewer:
		return 1
	case Staff:
		return 2
	case Manager:
		return 3
	}
	return 0
}

// Kind says what a principal is.
type Kind string

// The kinds of principals: a model that calls tools, and a person who decides.
const (
	Agent    Kind = "agent"
	Operator Kind = "operator"
)
