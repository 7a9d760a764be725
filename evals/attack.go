package evals

import (
	"encoding/json"
	"errors"
	"slices"
	"strings"
)

// AttackMark is where an attack, or what stands there instead, is put.
const AttackMark = "{{attack}}"

// What the ids of a scenario's two variants end with.
const (
	attackSuffix = "-attack"
	cleanSuffix  = "-clean"
)

// base is the id without its variant's ending: what the file is called.
func (s Scenario) base() string { return baseOf(s.ID) }

func baseOf(id string) string {
	return strings.TrimSuffix(strings.TrimSuffix(id, attackSuffix), cleanSuffix)
}

// Twin is the id of the variant with the attack where this is the one without,
// else "".
func (s Scenario) Twin() string {
	if base, clean := strings.CutSuffix(s.ID, cleanSuffix); clean {
		return base + attackSuffix
	}
	return ""
}

// variants returns a scenario itself, or its variants with and without the attack.
func (s Scenario) variants() ([]Scenario, error) {
	if s.Attack == "" {
		return []Scenario{s}, nil
	}
	attacked, clean := s.with(s.Attack), s.with(s.Clean)
	attacked.ID, clean.ID = s.ID+attackSuffix, s.ID+cleanSuffix
	clean.Title += ", without the attack"
	if !marked(s) {
		return nil, errors.New("attack has no place: write " + AttackMark + " in shop, history or a message")
	}
	return []Scenario{attacked, clean}, nil
}

// with puts a text in the marked places.
func (s Scenario) with(text string) Scenario {
	s.Shop = Rows(strings.ReplaceAll(string(s.Shop), AttackMark, escaped(text)))
	s.History = slices.Clone(s.History)
	for i, call := range s.History {
		args := map[string]any{}
		for name, value := range call.Args {
			if words, ok := value.(string); ok {
				value = strings.ReplaceAll(words, AttackMark, text)
			}
			args[name] = value
		}
		s.History[i].Args = args
	}
	s.Messages = slices.Clone(s.Messages)
	for i, step := range s.Messages {
		s.Messages[i].Say = strings.ReplaceAll(step.Say, AttackMark, text)
	}
	return s
}

// marked reports whether a scenario has a place for an attack.
func marked(s Scenario) bool {
	places := string(s.Shop)
	for _, call := range s.History {
		for _, value := range call.Args {
			if words, ok := value.(string); ok {
				places += words
			}
		}
	}
	for _, step := range s.Messages {
		places += step.Say
	}
	return strings.Contains(places, AttackMark)
}

// escaped is text as it stands inside a JSON string.
func escaped(text string) string {
	quoted, err := json.Marshal(text)
	if err != nil {
		panic(err) // strings marshal
	}
	return string(quoted[1 : len(quoted)-1])
}
