package evals

import (
	"embed"
	"io/fs"
)

//go:embed scenarios/*.yaml recordings/*.yaml
var files embed.FS

// Scenarios are the files of the built-in scenarios.
func Scenarios() fs.FS { return sub("scenarios") }

// Recordings are the built-in recordings, by the ids of their scenarios.
func Recordings() fs.FS { return sub("recordings") }

func sub(folder string) fs.FS {
	inside, err := fs.Sub(files, folder)
	if err != nil {
		panic(err) // the names above are valid paths
	}
	return inside
}
