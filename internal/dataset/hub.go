package dataset

import (
	"cmp"
	"context"
	"crypto/sha1" // the hash by which git names a file; nothing secret rests on it
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"net/url"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"time"

	"github.com/orbench/orbench"
	"github.com/orbench/orbench/internal/untrusted"
	"github.com/orbench/orbench/model"
)

// hubURL is the hub unless PullOptions.Endpoint names another. gitHubURL is the address of
// GitHub's files unless PullOptions.GitHub names another.
const (
	hubURL    = "https://huggingface.co"
	gitHubURL = "https://raw.githubusercontent.com"
)

// onGitHub is the Host of repositories on GitHub.
const onGitHub = "github"

// answerTimeout bounds the wait for the beginning of the file.
const answerTimeout = 30 * time.Second

// maxFile bounds a file, in bytes: many times the largest one published.
const maxFile = 128 << 20

// fetched is a fetched file and what its server says about it.
type fetched struct {
	// Commit is the file's commit, empty if unknown.
	Commit  string
	Content []byte
	// SHA256 is the hash of Content in hex.
	SHA256 string
	// etag is the hub's checksum of the file, if it is a checksum. size is its length, or
	// -1.
	etag string
	size int64
}

// commitForm is a commit's full hash.
var commitForm = regexp.MustCompile(`^[0-9a-f]{40}$`)

// fetch downloads a file by its path in the repository of an entry, at most 128 MiB. The error is an
// *orbench.InputError if an address is invalid or the hub wants a login. Otherwise it is
// the context's cause, or gives the server's answer.
func fetch(ctx context.Context, e Entry, file string, opts PullOptions) (fetched, error) {
	endpoint, usual, setting, token := opts.Endpoint, hubURL, "HF_ENDPOINT", opts.Token
	folder := path.Join("datasets", e.Repo, "resolve", e.Revision)
	if e.Host == onGitHub {
		endpoint, usual, setting, token = opts.GitHub, gitHubURL, "ORBENCH_GITHUB", ""
		folder = path.Join(e.Repo, e.Revision)
	}
	endpoint = strings.TrimSuffix(cmp.Or(endpoint, usual), "/")
	if u, err := url.Parse(endpoint); err != nil || u.Host == "" || (u.Scheme != "https" && u.Scheme != "http") {
		return fetched{}, &orbench.InputError{
			File: setting, Problem: "not a URL", Hint: "set it to something like " + usual + ", or unset it",
		}
	}
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	answered := time.AfterFunc(answerTimeout, func() { cancel(errors.New("the server did not answer in time")) })
	address := endpoint + "/" + path.Join(folder, file)
	shown := untrusted.Address(address)
	resp, said, err := get(ctx, address, token, setting)
	answered.Stop()
	if err != nil {
		return fetched{}, err
	}
	defer resp.Body.Close()
	got := fetched{Commit: e.Revision, size: resp.ContentLength}
	// GitHub's ETag is no checksum, and the commit is part of the address.
	if e.Host != onGitHub {
		if got, err = describe(said, e.Revision); err != nil {
			return fetched{}, fmt.Errorf("%s %w", shown, err)
		}
	}
	got.Content, err = io.ReadAll(io.LimitReader(resp.Body, maxFile+1))
	switch {
	case ctx.Err() != nil:
		return fetched{}, context.Cause(ctx)
	case err != nil && !(errors.Is(err, io.ErrUnexpectedEOF) && got.size >= 0): // else verify says how much is lacking
		return fetched{}, fmt.Errorf("download %s from %s: %s", file, untrusted.Address(endpoint), model.Clip(err.Error(), token))
	case len(got.Content) > maxFile:
		return fetched{}, fmt.Errorf("%s is longer than %d bytes", shown, maxFile)
	}
	got.SHA256 = fmt.Sprintf("%x", sha256.Sum256(got.Content))
	return got, nil
}

// get requests a file. said is the hub's description of it. For a large file, the answer
// that redirects to the store of large files has the description; the store's own answer
// says less.
func get(ctx context.Context, address, token, setting string) (resp *http.Response, said http.Header, err error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, address, nil)
	if err != nil {
		return nil, nil, err
	}
	// A compressed file would hide the length.
	req.Header.Set("Accept-Encoding", "identity")
	if token != "" {
		req.Header.Set("Authorization", "Bearer "+token)
	}
	client := &http.Client{CheckRedirect: func(next *http.Request, via []*http.Request) error {
		if next.URL.Host != req.URL.Host {
			next.Header.Del("Authorization")
		}
		if h := next.Response.Header; h.Get("X-Linked-Etag") != "" {
			said = h
		}
		if len(via) >= 10 {
			return errors.New("too many redirects")
		}
		return nil
	}}
	shown := untrusted.Address(address)
	if resp, err = client.Do(req); err != nil {
		if ctx.Err() != nil {
			return nil, nil, context.Cause(ctx)
		}
		return nil, nil, fmt.Errorf("%s; check the connection, set %s to a mirror, or fetch %s by hand and give its path",
			model.Clip(err.Error(), token), setting, shown)
	}
	switch s := resp.StatusCode; {
	case s == http.StatusOK:
		if said == nil {
			said = resp.Header
		}
		return resp, said, nil
	case said == nil && (s == http.StatusUnauthorized || s == http.StatusForbidden):
		err = &orbench.InputError{
			File: shown, Problem: fmt.Sprintf("the server wants a login (HTTP %d)", s),
			Hint: "accept the dataset's terms on its page and set HF_TOKEN, or log in with: hf auth login",
		}
	case s == http.StatusNotFound:
		err = fmt.Errorf("%s is not there (HTTP 404); if it has moved, fetch the file by hand and give its path", shown)
	default:
		err = fmt.Errorf("%s answers HTTP %d; try again later", shown, s)
	}
	resp.Body.Close()
	return nil, nil, err
}

// describe reads the commit of the revision, and the file's checksum and size.
func describe(said http.Header, revision string) (got fetched, err error) {
	etag, size := said.Get("ETag"), said.Get("Content-Length")
	if linked := said.Get("X-Linked-Etag"); linked != "" {
		etag, size = linked, said.Get("X-Linked-Size")
	}
	got.etag = strings.Trim(strings.TrimPrefix(etag, "W/"), `"`)
	if got.size, err = strconv.ParseInt(size, 10, 64); err != nil {
		got.size = -1
	}
	got.Commit = said.Get("X-Repo-Commit")
	pinned := commitForm.MatchString(revision)
	if pinned && got.Commit == "" {
		got.Commit = revision
	}
	switch {
	case !commitForm.MatchString(got.Commit):
		return got, errors.New("does not say which commit it is")
	case pinned && got.Commit != revision:
		return got, fmt.Errorf("is commit %s, not the one asked for", got.Commit)
	}
	return got, nil
}

// local reads a file that was fetched by other means. It is in folder by its path in the
// repository, or by its name alone; or folder is the file itself. Its commit is unknown.
// The error is an *orbench.InputError.
func local(folder, file string) (got fetched, err error) {
	got.size = -1
	at := folder
	info, err := os.Stat(at)
	if err == nil && info.IsDir() {
		at = filepath.Join(folder, filepath.FromSlash(file))
		if _, err := os.Stat(at); errors.Is(err, fs.ErrNotExist) {
			at = filepath.Join(folder, path.Base(file))
		}
		info, err = os.Stat(at)
	}
	if err == nil && info.Size() > maxFile {
		return got, &orbench.InputError{File: at, Problem: fmt.Sprintf("the file is longer than %d bytes", maxFile), Hint: "name another folder"}
	}
	if got.Content, err = os.ReadFile(at); err != nil {
		return got, &orbench.InputError{File: at, Problem: "cannot read the file: " + err.Error(), Hint: "fetch " + file + ", or name the folder of the repository", Err: err}
	}
	got.SHA256 = fmt.Sprintf("%x", sha256.Sum256(got.Content))
	return got, nil
}

// verify checks the file against its server's description, and against the checksum sum
// unless that is empty. Errors name the file as path. An ETag of 64 hex digits is the SHA-256
// of a large file. One of 40 is git's name for a small one. Others mean nothing.
func (f fetched) verify(path, sum string) error {
	have := f.etag
	switch len(f.etag) {
	case 2 * sha256.Size:
		have = f.SHA256
	case 2 * sha1.Size:
		h := sha1.New()
		fmt.Fprintf(h, "blob %d\x00", len(f.Content))
		h.Write(f.Content)
		have = hex.EncodeToString(h.Sum(nil))
	}
	switch {
	case f.size >= 0 && f.size != int64(len(f.Content)):
		return fmt.Errorf("%d of %d bytes arrived; try again", len(f.Content), f.size)
	case have != f.etag:
		return fmt.Errorf("the file was damaged on its way: its checksum is %s and the hub says %s; try again", have, f.etag)
	case sum == "" || sum == f.SHA256:
		return nil
	case f.Commit == "":
		return &orbench.InputError{File: path, Problem: fmt.Sprintf("is not the published file: its SHA-256 is %s and should be %s", f.SHA256, sum), Hint: "fetch it anew"}
	default:
		return fmt.Errorf("%s at commit %s is not the published file: its SHA-256 is %s and should be %s", path, f.Commit, f.SHA256, sum)
	}
}
