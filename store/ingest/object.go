package ingest

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"countersign/policy/money"
)

// need says whether a field may be absent. Null counts as absent.
type need bool

const (
	required need = true
	optional need = false
)

// object takes typed fields out of a decoded JSON object and notes every fault,
// its own and those of the objects inside it.
type object struct {
	fields map[string]any // those not taken yet
	known  []string       // those asked for
	path   string         // "items.0.", "" for the line itself
	*reading
}

// reading is what the objects of a line have in common.
type reading struct {
	now    time.Time
	faults []Problem         // without their line
	shared map[string]string // of the whole file
}

func (o *object) fault(name, message string) {
	o.faults = append(o.faults, Problem{Path: o.path + name, Message: message})
}

func (o *object) take(name string, n need) any {
	value := o.fields[name]
	delete(o.fields, name)
	o.known = append(o.known, name)
	if value == nil && n == required {
		o.fault(name, "is missing")
	}
	return value
}

// takeAs takes a field of one JSON type; what names the type.
func takeAs[T any](o *object, name string, n need, what string) (value T, ok bool) {
	taken := o.take(name, n)
	if value, ok = taken.(T); !ok && taken != nil {
		o.fault(name, "must be "+what)
	}
	return value, ok
}

// text takes a text of at most limit characters as it is.
func (o *object) text(name string, n need, limit int) string {
	text, _ := takeAs[string](o, name, n, "a string")
	if utf8.RuneCountInString(text) > limit {
		o.fault(name, fmt.Sprintf("is longer than %d characters", limit))
	}
	return text
}

// word takes a text without the blanks around it.
func (o *object) word(name string, n need, limit int) string {
	return strings.TrimSpace(o.text(name, n, limit))
}

// common takes a text of which many lines hold the same, and keeps it once.
func (o *object) common(name string, n need, limit int) string {
	word := o.word(name, n, limit)
	kept, ok := o.shared[word]
	if !ok {
		kept = word
		o.shared[word] = word
	}
	return kept
}

// id takes an id that may not be empty.
func (o *object) id(name string) string {
	faults := len(o.faults)
	id := o.word(name, required, maxID)
	switch {
	case strings.ContainsFunc(id, hidden):
		o.fault(name, "must be plain text without line breaks and invisible characters")
	case id == "" && len(o.faults) == faults:
		o.fault(name, "must not be empty")
	}
	return id
}

func hidden(r rune) bool {
	return unicode.In(r, unicode.Cc, unicode.Cf, unicode.Zl, unicode.Zp)
}

func (o *object) flag(name string) bool {
	flag, _ := takeAs[bool](o, name, optional, "true or false")
	return flag
}

// oneOf takes one of a few words.
func (o *object) oneOf(name string, words ...string) string {
	word, ok := takeAs[string](o, name, required, "a string")
	if i := slices.Index(words, word); i >= 0 {
		return words[i]
	}
	if ok {
		o.fault(name, "must be one of "+strings.Join(words, ", "))
	}
	return ""
}

// count takes a whole number of pieces.
func (o *object) count(name string, least int64) int64 {
	number, ok := takeAs[json.Number](o, name, required, "a number")
	if !ok {
		return least
	}
	count, err := strconv.ParseInt(number.String(), 10, 64)
	if err != nil || count < least || count > maxCount {
		o.fault(name, fmt.Sprintf("must be a whole number from %d to %d", least, maxCount))
	}
	return count
}

// money takes an amount in minor units of a currency, which is "" where it isn't known.
func (o *object) money(name string, n need, currency string, absent int64) int64 {
	value := o.take(name, n)
	if value == nil {
		return absent
	}
	text, ok := value.(string)
	switch {
	case !ok:
		o.fault(name, moneyAdvice(value, currency))
	case currency != "":
		amount, err := money.Parse(text, currency)
		if err != nil {
			o.fault(name, err.Error())
		}
		return amount.Minor
	}
	return absent
}

// moneyAdvice says which string to send instead of a value that isn't one.
func moneyAdvice(value any, currency string) string {
	number, ok := value.(json.Number)
	if amount, err := money.Parse(number.String(), currency); ok && err == nil {
		return fmt.Sprintf("must be a string: send %q", amount.Decimal())
	}
	return "must be a string of plain decimal digits, with no more decimals than the currency has"
}

// time takes a time, the zero one where it is absent.
func (o *object) time(name string, n need) (t time.Time) {
	if text, ok := takeAs[string](o, name, n, "a string"); ok {
		var err error
		if t, err = moment(text, o.now); err != nil {
			o.fault(name, err.Error())
		}
	}
	return t
}

// date takes a date, "" where it is absent.
func (o *object) date(name string) (d string) {
	if text, ok := takeAs[string](o, name, optional, "a string"); ok {
		var err error
		if d, err = date(text, o.now); err != nil {
			o.fault(name, err.Error())
		}
	}
	return d
}

// object takes an object inside this one and lets read read it.
func (o *object) object(name string, read func(*object)) {
	if fields, ok := takeAs[map[string]any](o, name, optional, "an object"); ok {
		o.inner(name, fields, read)
	}
}

// each takes an array of at most limit objects and lets read read them in turn.
func (o *object) each(name string, n need, limit int, read func(*object)) {
	array, _ := takeAs[[]any](o, name, n, "an array of objects")
	if len(array) > limit {
		o.fault(name, fmt.Sprintf("holds more than %d", limit))
		return
	}
	for i, element := range array {
		path := name + "." + strconv.Itoa(i)
		if fields, ok := element.(map[string]any); ok {
			o.inner(path, fields, read)
		} else {
			o.fault(path, "must be an object")
		}
	}
}

func (o *object) inner(path string, fields map[string]any, read func(*object)) {
	in := object{fields: fields, path: o.path + path + ".", reading: o.reading}
	read(&in)
	in.end()
}

// end notes the fields that nobody asked for.
func (o *object) end() {
	for _, name := range slices.Sorted(maps.Keys(o.fields)) {
		message := "there is no such field as " + strings.TrimPrefix(fieldName(name), "the field ")
		for _, known := range o.known {
			if bare(known) == bare(name) {
				message += "; did you mean " + known + "?"
			}
		}
		o.faults = append(o.faults, Problem{Path: strings.TrimSuffix(o.path, "."), Message: message})
	}
}

// bare is a field's name without case and separators.
func bare(name string) string {
	return strings.NewReplacer("_", "", "-", "").Replace(strings.ToLower(name))
}
