package main

import (
	"bytes"
	"context"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// whatIsWhere shows the .env file without its values, what the agent was given,
// and that no secret is anywhere else.
func (s *wallsStory) whatIsWhere(ctx context.Context) error {
	s.heading("5  What is where")
	text, err := os.ReadFile(s.env)
	if err != nil {
		return err
	}
	s.say("The server's .env, with the values masked here, and what the agent was given:")
	printBeside(s.app.out, magenta.Render(voice(".env", "")), masked(string(text)))
	fmt.Fprintln(s.app.out)
	left := blue.Render(voice("agent", ""))
	for _, w := range s.walls {
		for _, name := range slices.Sorted(maps.Keys(w.answer)) {
			s.field(left, name, w.answer[name], nil)
			left = voice("", "")
		}
	}
	fmt.Fprintln(s.app.out)
	if s.interactive {
		return nil // nobody but the reader knows what to search for
	}
	searched, err := s.search()
	if err == nil {
		s.say(fmt.Sprintf("Searched for the three secrets: every answer that the agent got, the database with its log, and the key, %d bytes. None is there.", searched))
	}
	return err
}

// masked is the text of a .env file without its values.
func masked(text string) string {
	lines := strings.Split(strings.TrimSuffix(text, "\n"), "\n")
	for i, line := range lines {
		if name, _, ok := strings.Cut(line, "="); ok && !strings.HasPrefix(line, "#") {
			lines[i] = name + "=" + strings.Repeat("•", 8)
		}
	}
	return strings.Join(lines, "\n")
}

// search looks for the secrets in all that they must not be in.
func (s *wallsStory) search() (searched int, err error) {
	places := [][]byte{s.heard.Bytes()}
	files, err := filepath.Glob(s.db + "*")
	if err != nil {
		return 0, err
	}
	for _, name := range files {
		text, err := os.ReadFile(name)
		if err != nil {
			return 0, err
		}
		places = append(places, text)
	}
	for _, place := range places {
		searched += len(place)
		for _, w := range s.walls {
			if bytes.Contains(place, []byte(w.secret[1])) {
				return 0, fmt.Errorf("%s: its secret got where it must not be", w.request)
			}
		}
	}
	return searched, nil
}
