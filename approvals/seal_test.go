package approvals_test

import (
	"bytes"
	"encoding/base64"
	"errors"
	"strings"
	"testing"

	"countersign/approvals"
)

func TestSeal(t *testing.T) {
	key, other := bytes.Repeat([]byte{1}, 32), bytes.Repeat([]byte{2}, 32)
	const secret = "Zq7Secret"
	sealed, err := approvals.Seal(key, "RQ-1", []byte(secret))
	if err != nil {
		t.Fatal(err)
	}
	opened, err := approvals.Open(key, "RQ-1", sealed)
	if err != nil || string(opened) != secret {
		t.Errorf("%q, %v", opened, err)
	}
	again, err := approvals.Seal(key, "RQ-1", []byte(secret))
	if err != nil || again == sealed {
		t.Errorf("sealed twice to the same text: %v", err)
	}
	box, err := base64.RawStdEncoding.DecodeString(sealed[strings.LastIndex(sealed, ":")+1:])
	if err != nil {
		t.Fatal(err)
	}
	if bytes.Contains(box, []byte(secret)) {
		t.Error("it is in the clear")
	}
	box[len(box)-1] ^= 1
	changed := sealed[:strings.LastIndex(sealed, ":")+1] + base64.RawStdEncoding.EncodeToString(box)
	boxed := func(box string) string { return sealed[:strings.LastIndex(sealed, ":")+1] + box }
	for name, c := range map[string]struct {
		key        []byte
		id, sealed string
		want       error
	}{
		"another key":     {other, "RQ-1", sealed, approvals.ErrWrongKey},
		"another request": {key, "RQ-2", sealed, approvals.ErrSeal},
		"changed":         {key, "RQ-1", changed, approvals.ErrSeal},
		"cut":             {key, "RQ-1", sealed[:len(sealed)-30], approvals.ErrSeal},
		"nothing":         {key, "RQ-1", "", approvals.ErrSeal},
		"in the clear":    {key, "RQ-1", `{"values":{}}`, approvals.ErrSeal},
		"another format":  {key, "RQ-1", strings.Replace(sealed, "sealed1:", "sealed2:", 1), approvals.ErrSeal},
		"no box":          {key, "RQ-1", strings.TrimSuffix(boxed(""), ":"), approvals.ErrSeal},
		"an empty box":    {key, "RQ-1", boxed(""), approvals.ErrSeal},
		"a short box":     {key, "RQ-1", boxed(base64.RawStdEncoding.EncodeToString(box[:3])), approvals.ErrSeal},
		"a nonce alone":   {key, "RQ-1", boxed(base64.RawStdEncoding.EncodeToString(box[:12])), approvals.ErrSeal},
		"one part more":   {key, "RQ-1", sealed + ":" + sealed, approvals.ErrSeal},
		"no base64":       {key, "RQ-1", boxed("%%"), approvals.ErrSeal},
	} {
		if text, err := approvals.Open(c.key, c.id, c.sealed); !errors.Is(err, c.want) || text != nil {
			t.Errorf("%s: %q, %v", name, text, err)
		}
	}
}
