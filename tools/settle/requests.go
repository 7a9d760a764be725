package settle

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"countersign/approvals"
	"countersign/policy"
	"countersign/store"
)

// Answer answers a waiting request, once, whoever else tries: entered is what an
// operator typed, by field name. It is checked against the request's form and
// sealed before it is stored. It returns the request as answered.
func (o *Office) Answer(ctx context.Context, id string, entered map[string]string, note string) (decided store.Approval, err error) {
	err = o.Do(ctx, "requests answer", policy.Manager, func(s *Session) error {
		a, err := s.claimableRequest(id)
		if err != nil {
			return err
		}
		key, err := s.Key()
		if err != nil {
			return err
		}
		sealed, err := sealAnswer(key, a, entered)
		if err != nil {
			return err
		}
		a.State, a.DecidedBy, a.Note = store.Approved, s.Operator.ID, note
		if err := s.claim(a); err != nil {
			return err
		}
		if err := s.SetApprovalResult(a.ID, sealed); err != nil {
			return fmt.Errorf("answering %s: %w", a.ID, err)
		}
		decided, err = s.Request(a.ID)
		return err
	})
	return decided, err
}

// Decline says a human's no to a waiting request. The note reaches the agent.
func (o *Office) Decline(ctx context.Context, id, note string) (decided store.Approval, err error) {
	err = o.Do(ctx, "requests decline", policy.Manager, func(s *Session) error {
		a, err := s.claimableRequest(id)
		if err != nil {
			return err
		}
		if strings.TrimSpace(note) == "" {
			return invalid("declining needs a note: it tells the agent why")
		}
		a.State, a.DecidedBy, a.Note = store.Rejected, s.Operator.ID, note
		if err := s.claim(a); err != nil {
			return err
		}
		decided, err = s.Request(a.ID)
		return err
	})
	return decided, err
}

// claimableRequest returns a request that this operator may decide now.
func (s *Session) claimableRequest(id string) (store.Approval, error) {
	a, err := s.Request(id)
	if errors.Is(err, store.ErrNotFound) {
		return a, notFound("there is no request of this id; see countersign requests list")
	}
	if err != nil {
		return a, err
	}
	return a, s.mayDecide(a)
}

// sealAnswer checks what was entered and returns it as it is stored.
func sealAnswer(key []byte, a store.Approval, entered map[string]string) (json.RawMessage, error) {
	var form approvals.Form
	if err := json.Unmarshal(a.Arguments, &form); err != nil {
		return nil, fmt.Errorf("form of %s: %w", a.ID, err)
	}
	answer, err := form.Fill(entered)
	var wrong *approvals.FieldError
	if errors.As(err, &wrong) {
		return nil, invalid("%s", wrong)
	}
	if err != nil {
		return nil, err
	}
	text, err := json.Marshal(answer)
	if err != nil {
		return nil, fmt.Errorf("answer of %s: %w", a.ID, err)
	}
	sealed, err := approvals.Seal(key, a.ID, text)
	return json.RawMessage(sealed), err
}
