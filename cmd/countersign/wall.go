package main

import (
	"crypto/rand"
	"fmt"
	"strings"

	"countersign/approvals"
)

// wall is something that the agent can't get by itself, and what a person enters.
type wall struct {
	title, instructions, category string
	fields                        []approvals.Field

	plain  [][2]string // what isn't secret, by field
	secret [2]string   // the field and its value, made up for this telling
	note   string

	request string         // the id, once it is filed
	answer  map[string]any // what the agent was given
}

// threeWalls are those of an app that is to be put online.
func threeWalls() []*wall {
	return []*wall{
		{
			title: "Hosting project", category: "hosting",
			instructions: "Create a project at the host and copy its address and its service key from Settings, Keys.",
			fields: []approvals.Field{
				{Name: "PROJECT_URL", Type: approvals.String, Required: true, Pattern: "https://.+"},
				{Name: "SERVICE_KEY", Type: approvals.Secret, Required: true},
			},
			plain: [][2]string{{"PROJECT_URL", "https://todo.host.example"}}, secret: [2]string{"SERVICE_KEY", "srv_" + rand.Text()},
		}, {
			title: "Payment key", category: "payment",
			instructions: "Open an account at the payment service and copy the secret key. A test key will do.",
			fields: []approvals.Field{
				{Name: "MODE", Type: approvals.Choice, Options: []string{"test", "live"}, Required: true},
				{Name: "PAYMENT_KEY", Type: approvals.Secret, Required: true, Pattern: "sk_[0-9A-Za-z_]{20,}"},
			},
			plain: [][2]string{{"MODE", "test"}}, secret: [2]string{"PAYMENT_KEY", "sk_test_" + rand.Text()},
		}, {
			title: "A domain", category: "domain",
			instructions: "Buy a domain for the app, and make a token with which its records can be set.",
			fields: []approvals.Field{
				{Name: "DOMAIN", Type: approvals.String, Required: true},
				{Name: "DNS_TOKEN", Type: approvals.Secret, Required: true},
			},
			plain: [][2]string{{"DOMAIN", "todo.example"}}, secret: [2]string{"DNS_TOKEN", "dns_" + rand.Text()},
			note: "paid for a year",
		},
	}
}

// form is shown as its fields' names and types.
type form []approvals.Field

func (f form) String() string {
	var texts []string
	for _, field := range f {
		texts = append(texts, field.Name+" ("+field.Type+")")
	}
	return strings.Join(texts, ", ")
}

// given keeps what the agent was given.
func (w *wall) given(answer map[string]any) error {
	var ok bool
	if w.answer, ok = answer["answer"].(map[string]any); !ok {
		return fmt.Errorf("%s: it is %v, not answered", w.request, answer["status"])
	}
	return nil
}
