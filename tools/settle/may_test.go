package settle_test

import (
	"testing"
	"time"

	"countersign/policy"
	"countersign/store"
	"countersign/tools/settle"
)

// What would be refused whatever is sent is said before anything is entered. To
// try it is recorded as the act would be, and where it may be done nothing is.
func TestSaysBeforehandWhoMayNot(t *testing.T) {
	s := open(t)
	id := s.parked("A-1", "144.00")
	own := s.ask("dora", "A-2", "50.00").ApprovalID
	may := func(o *settle.Office, id string) (err error) {
		seen := s.db.View(t.Context(), func(v *store.View) error {
			a, bad := v.Parked(id)
			err = o.MayDecide(v, "approvals approve", a)
			return bad
		})
		if seen != nil {
			t.Fatal(seen)
		}
		return err
	}
	dora, sam, shell := office(s.db, "dora"), office(s.db, "sam"), office(s.db, "dora")
	shell.AgentShell = true
	for _, err := range []error{may(dora, id), dora.Try(t.Context(), "approvals approve", id)} {
		if err != nil {
			t.Error(err)
		}
	}
	for _, err := range []error{may(dora, own), dora.Try(t.Context(), "approvals approve", own)} {
		refused(t, err, settle.NotPermitted, settle.FourEyes, "AP-0002 was asked for by dora; somebody else has to decide it")
	}
	for _, err := range []error{may(sam, id), sam.Try(t.Context(), "approvals approve", id)} {
		refused(t, err, settle.NotPermitted, policy.PermissionDenied,
			`"approvals approve" needs an operator of role manager; this token is for operator "sam" of role staff`)
	}
	for _, err := range []error{may(shell, id), shell.Try(t.Context(), "approvals approve", id)} {
		refused(t, err, settle.NotPermitted, settle.AgentShell,
			`"approvals approve" is for people: this shell seems to be an agent's; run it in a terminal of your own`)
	}
	s.clock.Advance(72 * time.Hour)
	for _, err := range []error{may(dora, id), dora.Try(t.Context(), "approvals approve", id)} {
		refused(t, err, settle.Conflict, settle.RequestExpired, "AP-0001 expired at 2026-05-04T12:00:00Z; nobody decided it")
	}
	equal(t, []string{
		"dora approvals approve AP-0002 denied four_eyes", "sam approvals approve  denied permission_denied",
		"dora approvals approve  denied agent_shell", "dora approvals approve AP-0001 denied request_expired",
	}, s.log())
}
