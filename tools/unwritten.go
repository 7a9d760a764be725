package tools

import (
	"errors"
	"fmt"
	"io/fs"
	"syscall"

	"countersign/approvals/envfile"
	"countersign/audit"
	"countersign/policy"
)

// whyUnwritten puts into words what keeps a .env file from being written.
var whyUnwritten = []struct {
	cause  error
	reason string
}{
	{envfile.ErrLink, "it is a symbolic link, which this server follows only with --env-file-follow"},
	{envfile.ErrNoFile, "it is no regular file"},
	{envfile.ErrBusy, "another program is writing it"},
	{envfile.ErrOwn, "it is one of Countersign's own files"},
	{envfile.ErrNoText, "it isn't a .env file"},
	{envfile.ErrUnread, "for what else stands in it, they would not be read back"},
	{syscall.ENOSPC, "the disk is full"},
	{syscall.EDQUOT, "the disk quota is used up"},
	{syscall.EFBIG, "it would become larger than a file of this server may be"},
	{syscall.EROFS, "the disk is read-only"},
	{fs.ErrPermission, "this server isn't permitted to write in its folder"},
	{fs.ErrNotExist, "its folder isn't there"},
}

// unwritten says why a .env file wasn't written, in no words of the system. The
// log has the same for whoever runs the server.
func unwritten(name string, err error) *refusal {
	reason := "it can't be written"
	for _, why := range whyUnwritten {
		if errors.Is(err, why.cause) {
			reason = why.reason
			break
		}
	}
	var open *envfile.OpenQuoteError
	if errors.As(err, &open) {
		reason = "its " + open.Error()
	}
	fault := errors.New("secrets can't be put into " + Visible(name) + ": " + reason)
	if errors.Is(err, envfile.ErrWrite) { // which names the system's reason, and no path or variable
		fault = fmt.Errorf("%w: %w", fault, err)
	}
	return &refusal{
		outcome: audit.Failed, code: policy.EnvFileUnavailable, fault: fault,
		message: fmt.Sprintf("A human has answered, but the secrets can't be put into %s: %s. The answer is kept. Have whoever runs this server mend that, then call check_request again.", Visible(name), reason),
	}
}
