package settle

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"

	"countersign/approvals"
	"countersign/policy"
	"countersign/store"
)

// RotateKey replaces the installation's key and seals every answer anew, all in
// one transaction, and returns how many there were. Programs that run go on with
// the new key. Where an answer can't be opened nothing is changed.
func (o *Office) RotateKey(ctx context.Context) (resealed int, err error) {
	const action = "keys rotate"
	err = o.Do(ctx, action, policy.Manager, func(s *Session) error {
		old, err := s.Key()
		if err != nil {
			return err
		}
		fresh := make([]byte, len(old))
		rand.Read(fresh)
		if err := s.RotateKey(fresh); errors.Is(err, store.ErrKeyGiven) {
			return &Error{Kind: Failed, Code: KeyGiven, Message: err.Error()}
		} else if err != nil {
			return err
		}
		sealed, err := s.Sealed()
		if err != nil {
			return err
		}
		for id, box := range sealed {
			answer, err := approvals.Open(old, id, box)
			if err != nil {
				return fmt.Errorf("nothing was changed: %w", err)
			}
			again, err := approvals.Seal(fresh, id, answer)
			if err != nil {
				return err
			}
			if err := s.Reseal(id, again); err != nil {
				return err
			}
		}
		resealed = len(sealed)
		return nil
	})
	place := func() error { return o.DB.Tx(ctx, func(tx *store.Tx) error { return tx.PlaceKey() }) }
	if refused := (*Error)(nil); err != nil && !errors.As(err, &refused) {
		return 0, errors.Join(err, place()) // removes the key that was made in vain
	}
	if err != nil {
		return 0, err
	}
	if err = place(); err != nil {
		err = fmt.Errorf("the key is rotated, and its file will be put in place by the next program that opens the database: %w", err)
	}
	return resealed, err
}
