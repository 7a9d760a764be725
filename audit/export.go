package audit

import (
	"bufio"
	"context"
	"encoding/csv"
	"io"
	"strconv"
	"strings"

	"countersign/policy/money"
	"countersign/store"
)

// An Export writes the rows that fit a filter, in the order of their sequence,
// one by one: a log of any length takes the same memory. An error of w ends it.
type Export func(ctx context.Context, db *store.DB, f store.AuditFilter, w io.Writer) error

// exportBuffer is how many bytes go to the writer at a time.
const exportBuffer = 64 << 10

// ExportJSONLines is an [Export] of lines as [JSON] gives them.
func ExportJSONLines(ctx context.Context, db *store.DB, f store.AuditFilter, w io.Writer) error {
	lines := bufio.NewWriterSize(w, exportBuffer)
	err := Tail(ctx, db, f, false, func(r store.AuditRow) error {
		_, err := lines.Write(append(JSON(r), '\n'))
		return err
	})
	if err != nil {
		return err
	}
	return lines.Flush()
}

// ExportCSV is an [Export] for spreadsheets: a header with the names of the
// columns, amounts as decimals, and an apostrophe before whatever a spreadsheet
// would take for a formula.
func ExportCSV(ctx context.Context, db *store.DB, f store.AuditFilter, w io.Writer) error {
	table := csv.NewWriter(bufio.NewWriterSize(w, exportBuffer))
	if err := table.Write(csvHeader); err != nil {
		return err
	}
	err := Tail(ctx, db, f, false, func(r store.AuditRow) error { return table.Write(csvRecord(r)) })
	if err != nil {
		return err
	}
	table.Flush()
	return table.Error()
}

var csvHeader = []string{"seq", "at", "actor", "actor_kind", "role", "door", "session", "client", "customer", "action", "order_id",
	"approval_id", "amount", "currency", "outcome", "code", "fingerprint", "policy", "duration_us", "prev_hash", "hash"}

func csvRecord(r store.AuditRow) []string {
	amount := ""
	if r.Amount != nil {
		amount = money.Amount{Minor: *r.Amount, Currency: r.Currency}.Decimal()
	}
	record := []string{strconv.FormatInt(r.Seq, 10), r.At, r.Actor, r.ActorKind, r.Role, r.Door, r.Session, r.Client, r.Customer, r.Action,
		r.OrderID, r.ApprovalID, amount, r.Currency, r.Outcome, r.Code, r.Fingerprint, r.Policy, strconv.FormatInt(r.DurationUS, 10),
		r.PrevHash, r.Hash}
	for i, cell := range record {
		record[i] = defused(cell)
	}
	return record
}

// defused is a cell that no spreadsheet runs.
func defused(cell string) string {
	if cell != "" && strings.Contains("=+-@\t\r", cell[:1]) {
		return "'" + cell
	}
	return cell
}
