// Package audit writes and checks the log of every call: who did what to which
// order, with what outcome. Rows are hash-chained and hold typed fields only;
// free text, names, addresses and e-mails have no way in.
package audit

import (
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"strconv"
	"strings"
	"time"

	"countersign/policy"
	"countersign/policy/money"
	"countersign/store"
)

// Outcome says how a call ended.
type Outcome string

const (
	OK              Outcome = "ok"
	PendingApproval Outcome = "pending_approval"
	Denied          Outcome = "denied"  // gates, policy refusals, foreign ids
	Invalid         Outcome = "invalid" // validation
	Failed          Outcome = "error"   // unknown ids, faults
)

// Door is the way a call came in.
type Door string

const (
	MCP  Door = "mcp"
	CLI  Door = "cli"
	Eval Door = "eval"
)

// An Entry is what one row records.
type Entry struct {
	Principal   store.Principal
	Door        Door
	Session     string // one per server process or command
	Client      string // the client's own name for itself
	Customer    string // opaque key
	Action      string // tool or command
	OrderID     string // once resolved to an own order
	ApprovalID  string
	Amount      money.Amount // a zero Currency: no amount
	Outcome     Outcome
	Code        policy.Code
	Fingerprint string // see Fingerprint
	Policy      string // version
	Duration    time.Duration
}

// NewSession returns a name for one server process or one command.
func NewSession() string {
	random := make([]byte, 6)
	rand.Read(random)
	return hex.EncodeToString(random)
}

// Append adds e as the log's next row, in the caller's transaction: if it
// fails, nothing of that transaction may be committed.
func Append(tx *store.Tx, e Entry) error {
	seq, prev, err := tx.AuditHead()
	if err != nil {
		return err
	}
	row := store.AuditRow{
		Seq: seq + 1, At: store.FormatTime(tx.Now),
		Actor: e.Principal.Name, ActorKind: string(e.Principal.Kind), Role: string(e.Principal.Role),
		Door: string(e.Door), Session: e.Session, Client: boundedName(e.Client),
		Customer: e.Customer, Action: e.Action, OrderID: e.OrderID, ApprovalID: e.ApprovalID,
		Currency: e.Amount.Currency,
		Outcome:  string(e.Outcome), Code: string(e.Code), Fingerprint: e.Fingerprint, Policy: e.Policy,
		DurationUS: e.Duration.Microseconds(), PrevHash: prev,
	}
	if e.Amount.Currency != "" {
		row.Amount = &e.Amount.Minor
	}
	row.Hash = chainHash(row)
	return tx.AddAuditRow(row)
}

// Fingerprint returns an HMAC-SHA-256 of a call's arguments, 32 hex digits: the
// same arguments give the same one, and without the installation's key it says
// nothing about them.
func Fingerprint(key []byte, action string, arguments []byte) string {
	mac := hmac.New(sha256.New, key)
	mac.Write([]byte(action + "\n"))
	mac.Write(arguments)
	return hex.EncodeToString(mac.Sum(nil)[:16])
}

// boundedName keeps 64 characters of a client's name, of a harmless alphabet.
func boundedName(name string) string {
	const most = 64
	kept := strings.Map(func(r rune) rune {
		switch {
		case r >= 'a' && r <= 'z', r >= 'A' && r <= 'Z', r >= '0' && r <= '9', strings.ContainsRune("._-", r):
			return r
		}
		return -1
	}, name)
	return kept[:min(len(kept), most)]
}

// chainHash returns the SHA-256, in hex, over the previous row's hash and every
// other field of r in the order of the table's columns, each as its length in
// bytes, a colon, and its text; an absent amount is empty.
func chainHash(r store.AuditRow) string {
	amount := ""
	if r.Amount != nil {
		amount = strconv.FormatInt(*r.Amount, 10)
	}
	buf := make([]byte, 0, 512)
	for _, field := range [...]string{
		r.PrevHash, strconv.FormatInt(r.Seq, 10), r.At, r.Actor, r.ActorKind, r.Role, r.Door, r.Session, r.Client,
		r.Customer, r.Action, r.OrderID, r.ApprovalID, amount, r.Currency, r.Outcome, r.Code, r.Fingerprint, r.Policy,
		strconv.FormatInt(r.DurationUS, 10),
	} {
		buf = strconv.AppendInt(buf, int64(len(field)), 10)
		buf = append(buf, ':')
		buf = append(buf, field...)
	}
	sum := sha256.Sum256(buf)
	return hex.EncodeToString(sum[:])
}

// JSON returns the row as one line of JSON, fields named as the columns, the
// amount as a decimal string or null.
func JSON(r store.AuditRow) []byte {
	var amount *string
	if r.Amount != nil {
		text := money.Amount{Minor: *r.Amount, Currency: r.Currency}.Decimal()
		amount = &text
	}
	line, err := json.Marshal(struct {
		Seq         int64   `json:"seq"`
		At          string  `json:"at"`
		Actor       string  `json:"actor"`
		ActorKind   string  `json:"actor_kind"`
		Role        string  `json:"role"`
		Door        string  `json:"door"`
		Session     string  `json:"session"`
		Client      string  `json:"client"`
		Customer    string  `json:"customer"`
		Action      string  `json:"action"`
		OrderID     string  `json:"order_id"`
		ApprovalID  string  `json:"approval_id"`
		Amount      *string `json:"amount"`
		Currency    string  `json:"currency"`
		Outcome     string  `json:"outcome"`
		Code        string  `json:"code"`
		Fingerprint string  `json:"fingerprint"`
		Policy      string  `json:"policy"`
		DurationUS  int64   `json:"duration_us"`
		PrevHash    string  `json:"prev_hash"`
		Hash        string  `json:"hash"`
	}{r.Seq, r.At, r.Actor, r.ActorKind, r.Role, r.Door, r.Session, r.Client, r.Customer, r.Action, r.OrderID,
		r.ApprovalID, amount, r.Currency, r.Outcome, r.Code, r.Fingerprint, r.Policy, r.DurationUS, r.PrevHash, r.Hash})
	if err != nil {
		panic(err) // strings and integers marshal
	}
	return line
}
