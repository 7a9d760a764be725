package tools

import (
	"encoding/json"
	"net/url"
	"regexp"
	"strings"
	"sync"

	"countersign/policy"
	"countersign/store"
)

// Resource is something that a client can read by its URI. Reading it is a call
// like a tool's, by a [Tool] that no list of tools offers: the same gates, the
// same audit.
type Resource struct {
	*Tool
	// URI is where it is. One that ends in {id} stands for one of each id.
	URI  string
	MIME string
}

// What resources hold. Answers of MIMEText are a [Text].
const (
	MIMEText = "text/plain"
	MIMEJSON = "application/json"
)

// Prompt is a text that a client's user can start a conversation with. Asking
// for it is a call too. Its answer is a [Text].
type Prompt struct {
	*Tool
	Command string // its name in the client
}

// Text is the answer of what is read as plain text.
type Text struct {
	Text string `json:"text"`
}

// Resources is every resource, one line each.
var Resources = []Resource{
	{readPolicy, "countersign://policy", MIMEText},
	{readArticle, "countersign://articles/{id}", MIMEJSON},
	{readApproval, "countersign://approvals/{id}", MIMEJSON},
	{readTicket, "countersign://tickets/{id}", MIMEJSON},
}

// Prompts is every prompt.
var Prompts = []Prompt{
	{supportPrompt, "support"},
}

// ReadArgs are the arguments of what is read by an id.
type ReadArgs struct {
	ID string `json:"id" jsonschema:"minLength=1,maxLength=64"`
}

// NoArgs are the arguments of what there is one of.
type NoArgs struct{}

// idMark ends the URI of a resource of which there is one for each id.
const idMark = "{id}"

// expanded is what RFC 6570 puts in the place of {id}.
var expanded = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^(?:[A-Za-z0-9._~-]|%[0-9A-Fa-f]{2})+$`) })

// Templated reports whether there is one of each id.
func (r Resource) Templated() bool { return strings.HasSuffix(r.URI, idMark) }

// Readable reports whether there is a resource of a URI's kind; one of that id
// there may not be.
func Readable(uri string) bool {
	r, _ := resourceAt(uri)
	return r.Tool != nil
}

// resourceAt returns the resource at a URI and the arguments to read it with; a
// Resource without a Tool where there is none of that kind.
func resourceAt(uri string) (Resource, json.RawMessage) {
	for _, r := range Resources {
		if !r.Templated() {
			if uri == r.URI {
				return r, json.RawMessage("{}")
			}
			continue
		}
		escaped, ok := strings.CutPrefix(uri, strings.TrimSuffix(r.URI, idMark))
		if !ok || !expanded().MatchString(escaped) {
			continue
		}
		id, err := url.PathUnescape(escaped)
		if err != nil {
			continue
		}
		if args, err := json.Marshal(ReadArgs{id}); err == nil {
			return r, args
		}
	}
	return Resource{}, json.RawMessage(uri)
}

var readPolicy = define(spec[NoArgs, Text]{
	Name:        "read_policy",
	Title:       "The shop's rules",
	Description: "The refund and address rules in force, in plain words.",
	Role:        policy.Viewer,
	Answer: func(s *Scope, _ NoArgs) (Text, error) {
		return Text{"The shop's rules (" + s.Rules.Version + "):\n\n" + bullets(s.Rules.Words())}, nil
	},
})

func bullets(lines []string) string {
	return "- " + strings.Join(lines, "\n- ") + "\n"
}

var readArticle = define(spec[ReadArgs, FoundArticle]{
	Name:        "read_article",
	Title:       "Help-center article",
	Description: "A public article of the help center, by the id that search_help_center shows.",
	Role:        policy.Viewer,
	Answer: func(s *Scope, in ReadArgs) (FoundArticle, error) {
		a, err := s.PublicArticle(in.ID)
		if err != nil {
			return FoundArticle{}, err
		}
		return foundArticle(a, Visible(a.Body), false), nil
	},
})

var readApproval = define(spec[ReadArgs, ApprovalState]{
	Name:          "read_approval",
	Title:         "Approval",
	Description:   "How a request of this customer's stands that a human decides, by its approval_id.",
	Role:          policy.Viewer,
	NeedsCustomer: true,
	Answer: func(s *Scope, in ReadArgs) (ApprovalState, error) {
		a, err := s.CustomersApproval(s.Customer, in.ID)
		if err != nil {
			return ApprovalState{}, err
		}
		s.subject.approvalID, s.subject.orderID = a.ID, a.OrderID
		return approvalState(a), nil
	},
})

var readTicket = define(spec[ReadArgs, TicketDetails]{
	Name:          "read_ticket",
	Title:         "Ticket",
	Description:   "A ticket of this customer's with the team's replies, by its ticket_id.",
	Role:          policy.Viewer,
	NeedsCustomer: true,
	Answer: func(s *Scope, in ReadArgs) (TicketDetails, error) {
		t, err := s.CustomersTicket(s.Customer, in.ID)
		if err != nil {
			return TicketDetails{}, err
		}
		s.subject.orderID = t.OrderID
		return ticketDetails(t), nil
	},
})

// TicketDetails is one ticket, open or closed.
type TicketDetails struct {
	TicketState
	Omitted int `json:"earlier_replies_omitted,omitempty"`
}

// What a single ticket shows, in bytes of each text.
const (
	mostTicketText   = 4000
	mostTicketReply  = 2000
	mostTicketThread = 20 // replies
)

func ticketDetails(t store.Ticket) TicketDetails {
	d := TicketDetails{TicketState: ticketState(t)}
	d.Summary = untrusted(short(t.Summary, mostTicketText))
	replies, left := newest(t.Replies, mostTicketThread)
	d.Replies, d.Omitted = []TicketReply{}, left
	for _, r := range replies {
		d.Replies = append(d.Replies, TicketReply{r.By, rfc3339(r.Created), short(r.Body, mostTicketReply)})
	}
	return d
}

// shorter leaves out the oldest reply, then ends of texts.
func (d TicketDetails) shorter() (shortener, bool) {
	if len(d.Replies) > 1 {
		d.Replies = d.Replies[1:]
		d.Omitted++
		return d, true
	}
	text, long := cutBytes(d.Summary.Value, len(d.Summary.Value)*3/4)
	d.Summary = untrusted(text)
	return d, long
}
