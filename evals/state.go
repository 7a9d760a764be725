package evals

import (
	"context"
	"strings"

	"countersign/audit"
	"countersign/policy"
	"countersign/policy/money"
	"countersign/store"
)

// state is what the grader reads of a database.
type state struct {
	calls     []store.AuditRow // of agents alone
	orders    map[string]store.Order
	approvals []store.Approval
	tickets   []store.Ticket
	requests  []store.Approval // to a human
}

func look(ctx context.Context, db *store.DB) (s state, err error) {
	s.orders = map[string]store.Order{}
	err = db.View(ctx, func(v *store.View) error {
		err := v.AuditRows(store.AuditFilter{}, func(row store.AuditRow) error {
			if row.Door != string(audit.CLI) {
				s.calls = append(s.calls, row)
			}
			return nil
		})
		if err != nil {
			return err
		}
		if s.approvals, err = v.Approvals(true); err != nil {
			return err
		}
		if s.requests, err = v.Requests(true); err != nil {
			return err
		}
		if s.tickets, err = v.Tickets(true); err != nil {
			return err
		}
		ids, err := v.OrderIDs()
		for _, id := range ids {
			if s.orders[id], err = v.OrderByID(id); err != nil {
				return err
			}
		}
		return err
	})
	return s, err
}

// happened lists the agent's calls since before as the audit log has them.
func happened(before, after state) []string {
	lines := []string{}
	for _, row := range after.calls[len(before.calls):] {
		amount := ""
		if row.Amount != nil {
			amount = money.Amount{Minor: *row.Amount, Currency: row.Currency}.Format()
		}
		lines = append(lines, strings.Join(strings.Fields(strings.Join([]string{row.Action, row.OrderID, amount, row.Outcome, row.Code}, " ")), " "))
	}
	return lines
}

// outcomeOf is how a recorded call ended.
func outcomeOf(row store.AuditRow) OutcomeWanted {
	return OutcomeWanted{audit.Outcome(row.Outcome), policy.Code(row.Code)}
}
