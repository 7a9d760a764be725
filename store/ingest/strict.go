package ingest

import (
	"errors"
	"regexp"
	"sync"

	"countersign/store/strictjson"
)

// maxDepth bounds how deep a line may be nested; the format needs three levels.
const maxDepth = 8

var errObject = errors.New("is not a JSON object on one line")

// decode reads one line strictly. The problem lacks its line.
func decode(text []byte) (map[string]any, *Problem) {
	value, err := strictjson.Decode(text, maxDepth)
	object, ok := value.(map[string]any)
	var fault *strictjson.Error
	switch {
	case errors.Is(err, strictjson.ErrSyntax), err == nil && !ok:
		return nil, &Problem{Message: errObject.Error()}
	case errors.As(err, &fault):
		return nil, &Problem{Path: strictjson.SafePath(fault.Path), Message: fault.Error()}
	}
	return object, nil
}

var (
	plainID   = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[#A-Za-z0-9_.-]{1,64}$`) })
	plainName = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_-]{0,39}$`) })
)

// fieldName names a key in a message, unless it could be anything else than a name.
func fieldName(key string) string {
	if plainName().MatchString(key) {
		return "the field " + key
	}
	return "a field"
}

// quoteID shows an id in a message behind what it is the id of, unless it could
// be personal.
func quoteID(what, id string) string {
	if plainID().MatchString(id) {
		return what + " " + id
	}
	return "this " + what
}
