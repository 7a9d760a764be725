// Package envfile puts variables into a .env file and leaves everything else in
// it as it was.
package envfile

import (
	"errors"
	"regexp"
	"strings"
	"sync"
)

// ErrUnquotable means that no way to write a value is read as that value by the
// usual readers of .env files: they disagree about escapes, so none is used.
var ErrUnquotable = errors.New(`a .env file can't carry it to every reader; ` +
	`it may hold no carriage return or other control character, no "${…}" and no \\, have no \ at its end, and not both ' and one of " $ \ or a backquote`)

var (
	variable = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]*$`) })

	// bare is read as it stands, by a shell too.
	bare = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[A-Za-z0-9_./:@%+,=-]+$`) })
	// expanded is replaced by python-dotenv, however it is quoted.
	expanded = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`\$\{[^}]*\}`) })
	control  = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`[\x00-\x08\x0b-\x1f\x7f]`) })
)

// ValidName reports whether a variable may have this name in a shell.
func ValidName(name string) bool { return variable().MatchString(name) }

// Check returns [ErrUnquotable] for a value that can't be written.
func Check(value string) error {
	_, err := quote(value)
	return err
}

// quote writes a value so that dotenv for Node, Python and Go, Node itself and a
// shell read it back. Their escapes differ, so each form here is one that needs
// none: in single quotes nothing is special but a backslash to some, in double
// quotes nothing else is where none of " $ ` \ is in it.
func quote(value string) (string, error) {
	switch {
	case expanded().MatchString(value), control().MatchString(value):
		return "", ErrUnquotable
	case bare().MatchString(value):
		return value, nil
	case !strings.Contains(value, "'") && !strings.Contains(value, `\\`) && !strings.HasSuffix(value, `\`):
		return "'" + value + "'", nil
	case !strings.ContainsAny(value, "\"$`\\"):
		return `"` + value + `"`, nil
	}
	return "", ErrUnquotable
}
