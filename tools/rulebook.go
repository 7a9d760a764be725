package tools

import (
	"context"
	"errors"
	"fmt"
	"sync"

	"countersign/policy"
	"countersign/store"
)

// ErrPolicyStored means that the shop keeps its policy in the database, where
// whoever starts a program can't replace it.
var ErrPolicyStored = errors.New("this shop's policy is stored in its database; a policy file can't replace it")

// Rulebook knows the rules in force: those stored in the database, else those
// of a file, else the built-in ones. It is safe for concurrent use.
type Rulebook struct {
	file *policy.Rules // nil without one
	demo bool          // a demo database: the file comes first

	mu     sync.Mutex
	text   string // the stored text that stored was parsed from
	stored policy.Rules
}

// NewRulebook returns the rulebook of db. A file's rules (nil without one) are
// for a demo database or one that stores none; else it returns [ErrPolicyStored].
func NewRulebook(ctx context.Context, db *store.DB, file *policy.Rules) (*Rulebook, error) {
	b := &Rulebook{file: file}
	err := db.View(ctx, func(v *store.View) error {
		demo, err := v.Setting(store.SettingDemo)
		if err != nil {
			return err
		}
		b.demo = demo != ""
		stored, err := v.Setting(store.SettingPolicy)
		if err == nil && stored != "" && file != nil && !b.demo {
			return ErrPolicyStored
		}
		return err
	})
	if err != nil {
		return nil, err
	}
	return b, nil
}

// InForce returns the rules at the moment of v. A policy that an operator
// stores holds from the next call on.
func (b *Rulebook) InForce(v *store.View) (policy.Rules, error) {
	if b.file != nil && b.demo {
		return *b.file, nil
	}
	text, err := v.Setting(store.SettingPolicy)
	switch {
	case err != nil:
		return policy.Rules{}, err
	case text != "":
		return b.parse(text)
	case b.file != nil:
		return *b.file, nil
	}
	return policy.Default(), nil
}

func (b *Rulebook) parse(text string) (policy.Rules, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.text != text {
		rules, err := policy.Parse([]byte(text))
		if err != nil {
			return policy.Rules{}, fmt.Errorf("the stored policy: %w", err)
		}
		b.text, b.stored = text, rules
	}
	return b.stored, nil
}
