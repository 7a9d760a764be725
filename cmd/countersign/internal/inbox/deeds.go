package inbox

import (
	"context"
	"strings"
)

// deedOf is what a key means for an item, and whether the question is asked at
// once: there is nothing that must be entered first.
func (m *model) deedOf(item Item, key string) (d deed, asks bool) {
	switch string(item.Kind) + " " + key {
	case "approval a":
		return m.approve(item), true
	case "approval l":
		return m.approve(item), false
	case "approval r":
		return m.reject(item), false
	case "request a":
		return m.answer(item), false
	case "request d":
		return m.decline(item), false
	case "ticket r":
		return m.reply(item), false
	}
	return m.close(item), true
}

func (m *model) approve(item Item) deed {
	amount := &field{name: "amount", label: "Amount, at most " + item.Asked + " (empty: all of it)"}
	amount.check = func(text string) error { return item.Less(strings.TrimSpace(text)) }
	note := &field{name: "note", label: "A word to the agent (may be empty)"}
	fields := []*field{amount, note}
	if item.Asked == "" {
		fields = fields[1:]
	}
	return deed{
		title: "Approve " + item.ID, fields: fields,
		question: func() string {
			what := strings.Trim(item.Asked+" on "+item.OrderID, " ")
			if less := strings.TrimSpace(amount.String()); less != "" {
				what = m.print.Line(less) + " instead of " + what
			}
			return "Approve " + item.ID + ": " + what + "?"
		},
		do: func(ctx context.Context) (string, error) {
			decided, err := m.office.Approve(ctx, item.ID, strings.TrimSpace(amount.String()), note.String())
			if err != nil {
				return "", err
			}
			return m.print.Decided(decided), nil
		},
	}
}

func (m *model) reject(item Item) deed {
	note := &field{name: "note", label: "Why? The agent reads it, and so the customer hears it", check: required}
	return deed{
		title: "Reject " + item.ID, fields: []*field{note},
		question: func() string { return "Reject " + item.ID + "?" },
		do: func(ctx context.Context) (string, error) {
			decided, err := m.office.Reject(ctx, item.ID, note.String())
			if err != nil {
				return "", err
			}
			return m.print.Decided(decided), nil
		},
	}
}

func (m *model) answer(item Item) deed {
	var fields []*field
	for _, f := range item.Form.Fields {
		fields = append(fields, formField(f, m.print.Describe(f)))
	}
	note := &field{name: "note", label: "A word to the agent (may be empty)"}
	return deed{
		title: "Answer " + item.ID, fields: append(fields, note),
		question: func() string { return "Send this answer to " + item.ID + "?" },
		do: func(ctx context.Context) (string, error) {
			entered := map[string]string{}
			for i, f := range item.Form.Fields {
				entered[f.Name] = fields[i].String()
			}
			decided, err := m.office.Answer(ctx, item.ID, entered, note.String())
			if err != nil {
				return "", err
			}
			return m.print.Decided(decided), nil
		},
	}
}

func (m *model) decline(item Item) deed {
	note := &field{name: "note", label: "Why? The agent reads it", check: required}
	return deed{
		title: "Decline " + item.ID, fields: []*field{note},
		question: func() string { return "Decline " + item.ID + "?" },
		do: func(ctx context.Context) (string, error) {
			decided, err := m.office.Decline(ctx, item.ID, note.String())
			if err != nil {
				return "", err
			}
			return m.print.Decided(decided), nil
		},
	}
}

func (m *model) reply(item Item) deed {
	text := &field{name: "reply", label: "Your reply. The agent reads it", check: required}
	return deed{
		title: "Reply on " + item.ID, fields: []*field{text}, stays: true,
		question: func() string { return "Send this reply on " + item.ID + "?" },
		do: func(ctx context.Context) (string, error) {
			t, err := m.office.Reply(ctx, item.ID, text.String())
			return t.ID + "  replied", err
		},
	}
}

func (m *model) close(item Item) deed {
	return deed{
		title:    "Close " + item.ID,
		question: func() string { return "Close " + item.ID + "?" },
		do: func(ctx context.Context) (string, error) {
			t, err := m.office.CloseTicket(ctx, item.ID)
			return t.ID + "  closed", err
		},
	}
}
