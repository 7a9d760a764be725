package strictjson_test

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"countersign/store/strictjson"
)

func TestDecode(t *testing.T) {
	for text, want := range map[string]any{
		`{}`: map[string]any{},
		` { "a" : [ 1 , -2.50, "x", true , null ] } `: map[string]any{"a": []any{json.Number("1"), json.Number("-2.50"), "x", true, nil}},
		`"\u00e9\n\"\\"`:  "é\n\"\\",
		`"\ufffd\uFFFD�"`: "\ufffd\ufffd\ufffd",
		`"\ud83d\ude00"`:  "😀",
		`7`:               json.Number("7"),
		`[[1],[2]]`:       []any{[]any{json.Number("1")}, []any{json.Number("2")}},
	} {
		got, err := strictjson.Decode([]byte(text), 4)
		if err != nil {
			t.Errorf("%s: %v", text, err)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s: %s", text, diff)
		}
	}
}

func TestDecodeRefuses(t *testing.T) {
	for text, want := range map[string]struct {
		err  error
		path string
	}{
		``:                      {strictjson.ErrSyntax, ""},
		`{"a":1}{"a":1}`:        {strictjson.ErrSyntax, ""},
		`{"a":1,}`:              {strictjson.ErrSyntax, ""},
		"{\"a\":\"\xff\"}":      {strictjson.ErrEncoding, ""},
		`{"a":{"b":1,"b":2}}`:   {strictjson.ErrDuplicate, "a/b"},
		`{"a":1,"\u0061":2}`:    {strictjson.ErrDuplicate, "a"},
		`{"a":[1,"x\u0000"]}`:   {strictjson.ErrNUL, "a/1"},
		`{"\u0000":1}`:          {strictjson.ErrNUL, ""},
		`{"a":[[[[[]]]]]}`:      {strictjson.ErrDepth, "a/0/0/0"},
		`"\ud800"`:              {strictjson.ErrSurrogate, ""},
		`"\ude00\ud83d"`:        {strictjson.ErrSurrogate, ""},
		`["\ufffd","\ud800 x"]`: {strictjson.ErrSurrogate, ""},
	} {
		_, err := strictjson.Decode([]byte(text), 4)
		var at *strictjson.Error
		if !errors.Is(err, want.err) || !errors.As(err, &at) || strings.Join(at.Path, "/") != want.path {
			t.Errorf("%q: %v at %v, want %v at %s", text, err, at, want.err, want.path)
		}
	}
}

// FuzzDecode checks that what is decoded is what encoding/json decodes.
func FuzzDecode(f *testing.F) {
	for _, seed := range []string{`{"a":[1,{"b":"\u00e9"}],"c":null}`, `"\ud83d\ude00"`, ` [ ] `, `-1e5`} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		got, err := strictjson.Decode(text, 50)
		if err != nil {
			return
		}
		decoder := json.NewDecoder(strings.NewReader(string(text)))
		decoder.UseNumber()
		var want any
		if err := decoder.Decode(&want); err != nil {
			t.Fatalf("decoded what isn't JSON: %v", err)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Error(diff)
		}
	})
}
