package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"time"

	"countersign/cmd/internal/setup"
	"countersign/store"
)

// diagnoseFiles makes the checks of the database's files and their folder.
func (a *app) diagnoseFiles(d *diagnosis, path string) {
	info, err := os.Stat(path)
	if err != nil {
		return // opening it has told
	}
	a.diagnoseModes(d, path)
	diagnoseSpace(d, path)
	diagnoseHolders(d, info)
	diagnoseLeftovers(d, filepath.Dir(path), a.drafts(path))
}

// diagnoseModes looks for files that others may read, and for a folder in which
// others may put files.
func (a *app) diagnoseModes(d *diagnosis, path string) {
	const name = "file modes"
	if runtime.GOOS == "windows" {
		d.ok(name, "this system has none")
		return
	}
	files := store.Files(path)
	if kept := setup.CredentialPath(a.env); kept != "" {
		files = append(files, kept)
	}
	fine := int64(0)
	for _, file := range files {
		info, err := os.Stat(file)
		switch {
		case errors.Is(err, fs.ErrNotExist):
		case err != nil:
			d.warn(name, err.Error(), "")
		case info.Mode().Perm()&0o077 != 0:
			d.warn(name, fmt.Sprintf("%s has mode %04o, others can get at it", file, info.Mode().Perm()), remedy("chmod 600", file))
		default:
			fine++
		}
	}
	folder := filepath.Dir(path)
	info, err := os.Stat(folder)
	switch {
	case err != nil:
		d.warn(name, err.Error(), "")
	case info.Mode()&fs.ModeSticky != 0 && info.Mode().Perm()&0o022 != 0:
		d.warn(name, fmt.Sprintf("everybody can put files in %s", folder), "keep the database in a folder of its own")
	case info.Mode().Perm()&0o022 != 0:
		d.warn(name, fmt.Sprintf("%s has mode %04o, others can change what is in it", folder, info.Mode().Perm()), remedy("chmod 700", folder))
	default:
		d.ok(name, counted(fine, "file")+" for their owner alone, and nobody else can write in the folder")
	}
}

func diagnoseSpace(d *diagnosis, path string) {
	const name, least = "disk space", 100_000_000
	free, err := freeSpace(filepath.Dir(path))
	size := databaseSize(path)
	switch {
	case errors.Is(err, errors.ErrUnsupported):
		d.ok(name, "it can't be told on this system")
	case err != nil:
		d.warn(name, err.Error(), "")
	case free < least || free < 2*size:
		d.warn(name, byteSize(free)+" free", "make room: on a full disk nothing can be done, and nothing is shown")
	default:
		d.ok(name, byteSize(free)+" free")
	}
}

func diagnoseHolders(d *diagnosis, database fs.FileInfo) {
	const name = "open in"
	found, hidden, err := holders(database)
	text := strings.Join(found, ", ")
	switch {
	case errors.Is(err, errors.ErrUnsupported):
		text = "it can't be told on this system"
	case err != nil:
		d.warn(name, err.Error(), "")
		return
	case text == "":
		text = "no other process"
	}
	if hidden {
		text += " (those of other users can't be seen)"
	}
	d.ok(name, text)
}

// holders returns the other processes that have a file open, as "pid 7 name",
// and whether some processes didn't let themselves be looked at.
func holders(file fs.FileInfo) (found []string, hidden bool, err error) {
	if runtime.GOOS != "linux" {
		return nil, false, errors.ErrUnsupported
	}
	processes, err := os.ReadDir("/proc")
	if err != nil {
		return nil, false, err
	}
	for _, entry := range processes {
		pid, err := strconv.Atoi(entry.Name())
		if err != nil || pid == os.Getpid() {
			continue
		}
		process := filepath.Join("/proc", entry.Name())
		open, err := hasOpen(process, file)
		hidden = hidden || errors.Is(err, fs.ErrPermission)
		if open {
			command, _ := os.ReadFile(filepath.Join(process, "comm")) // it may have ended just now
			found = append(found, strings.TrimSpace(fmt.Sprintf("pid %d %s", pid, command)))
		}
	}
	return found, hidden, nil
}

// hasOpen reports whether a process, given by its folder in /proc, has a file open.
func hasOpen(process string, file fs.FileInfo) (bool, error) {
	descriptors, err := os.ReadDir(filepath.Join(process, "fd"))
	for _, descriptor := range descriptors {
		link := filepath.Join(process, "fd", descriptor.Name())
		if target, err := os.Readlink(link); err != nil || !filepath.IsAbs(target) {
			continue // gone, or no file
		}
		if info, err := os.Stat(link); err == nil && os.SameFile(info, file) {
			return true, nil
		}
	}
	return false, err
}

// diagnoseLeftovers looks for what a killed init, backup or server left. What is
// younger may still be somebody's work.
func diagnoseLeftovers(d *diagnosis, folder string, drafts []string) {
	const name, age, draftAge = "leftovers", time.Hour, time.Minute
	entries, err := os.ReadDir(folder)
	if err != nil {
		d.warn(name, err.Error(), "")
		return
	}
	found := false
	for _, draft := range drafts {
		if info, err := os.Lstat(draft); err == nil && time.Since(info.ModTime()) > draftAge {
			found = true
			d.warn(name, draft+" was left by a killed server, with secrets in it", remedy("rm", draft))
		}
	}
	for _, entry := range entries {
		if !strings.HasPrefix(entry.Name(), ".countersign-") {
			continue
		}
		if info, err := entry.Info(); err == nil && time.Since(info.ModTime()) > age {
			found = true
			file := filepath.Join(folder, entry.Name())
			d.warn(name, file+" was never finished", remedy("rm", file))
		}
	}
	if !found {
		d.ok(name, "none of a killed init, backup or server")
	}
}
