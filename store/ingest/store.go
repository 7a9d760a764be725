package ingest

import (
	"cmp"
	"errors"
	"fmt"
	"slices"

	"countersign/store"
)

// progressEvery is after how many rows progress is told.
const progressEvery = 500

// Store writes the batch: what is new or differs from its last import. The error
// is [ErrProblems], [ErrNoRows], or one of the database's, after which the
// caller's transaction must not commit.
func (b *Batch) Store(tx *store.Tx, opts Options) (Report, error) {
	s := storing{Batch: b, tx: tx, opts: opts}
	s.report = Report{
		Customers: Count{Skipped: b.skipped[customers]},
		Orders:    Count{Skipped: b.skipped[orders]},
		Shipments: Count{Skipped: b.skipped[shipments]},
		Articles:  Count{Skipped: b.skipped[articles]},
		Unknown:   Count{Skipped: b.skipped[""]},
		Problems:  append([]Problem{}, b.problems...),
	}
	var fault, verdict error
	lost := tx.Savepoint(func() (keep bool) {
		fault = s.all()
		verdict = s.verdict()
		return fault == nil && verdict == nil && !opts.DryRun
	})
	if err := cmp.Or(fault, lost); err != nil {
		return Report{}, fmt.Errorf("import: %w", err)
	}
	slices.SortStableFunc(s.report.Problems, func(a, b Problem) int { return cmp.Compare(a.Line, b.Line) })
	return s.report, verdict
}

// storing is one run of Store.
type storing struct {
	*Batch
	tx     *store.Tx
	opts   Options
	report Report
	done   int
}

// all stores the types in the order in which they refer to each other.
func (s *storing) all() error {
	if err := put(s, s.customers, &s.report.Customers, s.tx.PutCustomer); err != nil {
		return err
	}
	if err := put(s, s.orders, &s.report.Orders, s.putOrder); err != nil {
		return err
	}
	if err := put(s, s.shipments, &s.report.Shipments, s.putShipment); err != nil {
		return err
	}
	return put(s, s.articles, &s.report.Articles, s.tx.PutArticle)
}

// put stores rows one by one. A row that the store refuses is a problem.
func put[T any](s *storing, rows []row[T], count *Count, put func(T, string) (store.Change, error)) error {
	for _, r := range rows {
		change, err := put(r.value, r.hex())
		var refused store.Refused
		switch {
		case errors.As(err, &refused):
			count.Skipped++
			s.report.Problems = append(s.report.Problems, Problem{Line: r.line, Message: refused.Reason})
		case err != nil:
			return fmt.Errorf("line %d: %w", r.line, err)
		default:
			count.add(change)
			if change == store.LeftOut {
				s.report.Erased++
			}
		}
		s.step()
	}
	return nil
}

func (s *storing) putOrder(o store.Order, source string) (store.Change, error) {
	if erased, err := s.tx.IsErased(o.Customer); err != nil {
		return "", err
	} else if erased {
		number, _ := store.FoldNumber(o.ID)
		return store.LeftOut, s.tx.LeaveOutOrder(number)
	}
	customer, err := s.tx.CustomerByID(o.Customer)
	if errors.Is(err, store.ErrNotFound) {
		return "", s.dangling("customer_id", identity{kind: customers, id: o.Customer}, o.Customer)
	}
	if err != nil {
		return "", err
	}
	o.Customer = customer.Key
	return s.tx.PutOrder(o, source)
}

func (s *storing) putShipment(p shipment, source string) (store.Change, error) {
	order := orderIdentity(p.OrderID)
	if erased, err := s.tx.IsOrderErased(order.id); err != nil || erased {
		return store.LeftOut, err
	}
	id, err := s.tx.OrderIDByNumber(order.id)
	if errors.Is(err, store.ErrNotFound) {
		return "", s.dangling("order_id", order, p.OrderID)
	}
	if err != nil {
		return "", err
	}
	p.OrderID = id // the order's line may write it another way
	return s.tx.PutShipment(p.Shipment, p.place, source)
}

// dangling says why what a line refers to isn't in the database.
func (s *storing) dangling(field string, to identity, id string) store.Refused {
	name := quoteID(to.kind, id)
	if at, ok := s.seen[to]; ok {
		return store.Refused{Reason: fmt.Sprintf("%s: line %d, which holds %s, has a problem", field, at.line, name)}
	}
	return store.Refused{Reason: fmt.Sprintf("%s: %s is neither in this file nor in the database", field, name)}
}

// verdict says why what was written can't stay.
func (s *storing) verdict() error {
	total := s.report.Total()
	switch {
	case len(s.report.Problems) > 0 && !s.opts.SkipBad:
		return ErrProblems
	case total.New+total.Changed+total.Unchanged+s.report.Erased == 0:
		return ErrNoRows
	}
	return nil
}

func (s *storing) step() {
	s.done++
	total := len(s.customers) + len(s.orders) + len(s.shipments) + len(s.articles)
	if s.opts.Progress != nil && (s.done%progressEvery == 0 || s.done == total) {
		s.opts.Progress(s.done, total)
	}
}
