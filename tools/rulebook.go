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

// InForce are the rules in force and their version.
type InForce struct {
	policy.Rules
	Version string
}

func inForce(rules policy.Rules) InForce { return InForce{Rules: rules, Version: rules.Version()} }

// Rulebook knows the rules in force: those stored in the database, else those
// of a file, else the built-in ones. It is safe for concurrent use.
type Rulebook struct {
	base InForce // the file's rules, else the built-in ones
	only bool    // a file in a demo database: it comes before what is stored

	mu     sync.Mutex
	text   string // the stored text that stored was parsed from
	stored InForce
}

// NewRulebook returns the rulebook of db. A file's rules (nil without one) are
// for a demo database or one that stores none; else it returns [ErrPolicyStored].
func NewRulebook(ctx context.Context, db *store.DB, file *policy.Rules) (*Rulebook, error) {
	b := &Rulebook{base: inForce(policy.Default())}
	if file != nil {
		b.base = inForce(*file)
	}
	err := db.View(ctx, func(v *store.View) error {
		demo, err := v.IsDemo()
		if err != nil {
			return err
		}
		b.only = demo && file != nil
		stored, err := v.Setting(store.SettingPolicy)
		if err == nil && stored != "" && file != nil && !demo {
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
func (b *Rulebook) InForce(v *store.View) (InForce, error) {
	text, err := v.Setting(store.SettingPolicy)
	if err != nil {
		return InForce{}, err
	}
	return b.given(text)
}

// given returns the rules in force where text is the stored policy.
func (b *Rulebook) given(text string) (InForce, error) {
	if b.only || text == "" {
		return b.base, nil
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.text != text {
		rules, err := policy.Parse([]byte(text))
		if err != nil {
			return InForce{}, fmt.Errorf("the stored policy: %w", err)
		}
		b.text, b.stored = text, inForce(rules)
	}
	return b.stored, nil
}
