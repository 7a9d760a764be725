//go:build unix

package envfile_test

import (
	"errors"
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"countersign/approvals/envfile"
)

// names lists a folder.
func names(t *testing.T, folder string) (found []string) {
	t.Helper()
	entries, err := os.ReadDir(folder)
	if err != nil {
		t.Fatal(err)
	}
	for _, entry := range entries {
		found = append(found, entry.Name())
	}
	return found
}

// What a killed writer left is removed by the next one, or before; a link in its
// place is no way to another file.
func TestDraftThatWasLeft(t *testing.T) {
	folder, other := t.TempDir(), filepath.Join(t.TempDir(), "other")
	f := envfile.File{Path: filepath.Join(folder, ".env")}
	put := func() error { return f.Put([]envfile.Variable{{Name: "KEY", Value: "v"}}) }
	if err := errors.Join(f.Sweep(), os.WriteFile(other, []byte("mine\n"), 0o600)); err != nil {
		t.Fatal(err)
	}
	equal(t, nil, names(t, folder))
	for _, leave := range []func() error{
		func() error { return os.WriteFile(f.Draft(), []byte("KEY=5ecret and more\n"), 0o444) },
		func() error { return os.Symlink(other, f.Draft()) },
		func() error { return os.Link(other, f.Draft()) },
	} {
		for _, next := range []func() error{put, f.Sweep} {
			if err := leave(); err != nil {
				t.Fatal(err)
			}
			if err := next(); err != nil {
				t.Fatal(err)
			}
			equal(t, []string{".env", ".env.lock"}, names(t, folder))
		}
	}
	for path, want := range map[string]string{other: "mine\n", f.Path: "KEY=v\n"} {
		if text, err := os.ReadFile(path); err != nil || string(text) != want {
			t.Errorf("%s: %q, %v", path, text, err)
		}
	}
}

// The draft of who is writing stays.
func TestSweepBesideAWriter(t *testing.T) {
	f := envfile.File{Path: filepath.Join(t.TempDir(), ".env")}
	lock, err := os.Create(f.Path + ".lock")
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(syscall.Flock(int(lock.Fd()), syscall.LOCK_EX), os.WriteFile(f.Draft(), []byte("KEY=v\n"), 0o600), f.Sweep()); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(f.Draft()); err != nil {
		t.Error(err)
	}
	if err := errors.Join(lock.Close(), f.Sweep()); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(f.Draft()); err == nil {
		t.Error("it stays when its writer is gone")
	}
}

// Who owns the file can read what another user's server wrote, and write next.
func TestOwnerIsKept(t *testing.T) {
	const user, group = 12345, 23456
	f := envfile.File{Path: filepath.Join(t.TempDir(), ".env")}
	if err := os.WriteFile(f.Path, []byte("A=1\n"), 0o640); err != nil {
		t.Fatal(err)
	}
	if err := os.Chown(f.Path, user, group); err != nil {
		t.Skip("only root can give files away:", err)
	}
	if err := f.Put([]envfile.Variable{{Name: "KEY", Value: "v"}}); err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{f.Path, f.Path + ".lock"} {
		info, err := os.Stat(path)
		if err != nil {
			t.Fatal(err)
		}
		owner := info.Sys().(*syscall.Stat_t)
		equal(t, [2]uint32{user, group}, [2]uint32{owner.Uid, owner.Gid})
		equal(t, "-rw-------", info.Mode().String())
	}
}
