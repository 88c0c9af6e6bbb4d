package dataset

import (
	"context"
	"crypto/sha1" // the hash by which git names a file; nothing secret rests on it
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"os"
	"path"
	"regexp"
	"strconv"
	"strings"
	"time"

	"github.com/gomlx/go-huggingface/hub"

	"github.com/orbench/orbench"
	"github.com/orbench/orbench/model"
)

// hubURL is the hub unless PullOptions.Endpoint names another.
const hubURL = "https://huggingface.co"

// headTimeout bounds the first request, which carries no file.
const headTimeout = 30 * time.Second

// fetched is a downloaded file in a temporary folder.
type fetched struct {
	dir, path string
	commit    string
	// content is what arrived, and sha256 its hash.
	content []byte
	sha256  string
	// etag is the hub's checksum of the file, where it is one, and size its
	// length, or -1.
	etag string
	size int64
}

// commitForm is a commit's full hash.
var commitForm = regexp.MustCompile(`^[0-9a-f]{40}$`)

// fetch downloads an entry's file with the hub client. The client has three
// traits to work around: it takes no context; it reports a body that broke off
// as complete; and its errors do not tell a status. So head asks first, and
// checkSum checks afterwards.
func fetch(ctx context.Context, e Entry, opts PullOptions) (fetched, error) {
	endpoint := strings.TrimSuffix(opts.Endpoint, "/")
	if endpoint == "" {
		endpoint = hubURL
	}
	if u, err := url.Parse(endpoint); err != nil || u.Host == "" || (u.Scheme != "https" && u.Scheme != "http") {
		return fetched{}, &orbench.InputError{
			File: "HF_ENDPOINT", Problem: "not a URL", Hint: "set it to something like " + hubURL + ", or unset it",
		}
	}
	got, err := head(ctx, endpoint, e, opts.Token)
	if err != nil {
		return fetched{}, err
	}
	if got.dir, err = os.MkdirTemp("", "orbench-pull-*"); err != nil {
		return fetched{}, err
	}
	repo := hub.New(e.Repo).WithType(hub.RepoTypeDataset).WithRevision(got.commit).
		WithEndpoint(endpoint).WithAuth(opts.Token).WithCacheDir(got.dir).WithProgressBar(false)
	repo.Verbosity = 0
	type outcome struct {
		path string
		err  error
	}
	done := make(chan outcome, 1)
	go func() {
		p, err := repo.DownloadFile(e.File)
		done <- outcome{p, err}
	}()
	select {
	case <-ctx.Done():
		// The client cannot be stopped. It ends by itself with the file or the
		// connection, and its temporary folder goes with it.
		go func() {
			<-done
			os.RemoveAll(got.dir)
		}()
		return fetched{}, context.Cause(ctx)
	case o := <-done:
		if got.path = o.path; o.err == nil {
			got.content, o.err = os.ReadFile(got.path)
		}
		if o.err != nil {
			os.RemoveAll(got.dir)
			return fetched{}, fmt.Errorf("download %s from %s: %s", e.File, endpoint, model.Clip(o.err.Error(), opts.Token))
		}
		sum := sha256.Sum256(got.content)
		got.sha256 = hex.EncodeToString(sum[:])
		return got, nil
	}
}

// head asks the hub about a file: whether it may be had, the commit that the
// revision stands for, and the file's checksum and size.
func head(ctx context.Context, endpoint string, e Entry, token string) (fetched, error) {
	ctx, cancel := context.WithTimeoutCause(ctx, headTimeout, errors.New("the hub did not answer in time"))
	defer cancel()
	address := endpoint + "/" + path.Join("datasets", e.Repo, "resolve", e.Revision, e.File)
	req, err := http.NewRequestWithContext(ctx, http.MethodHead, address, nil)
	if err != nil {
		return fetched{}, err
	}
	if token != "" {
		req.Header.Set("Authorization", "Bearer "+token)
	}
	client := &http.Client{CheckRedirect: func(next *http.Request, via []*http.Request) error {
		// The hub describes the file in the answer that redirects to the store
		// of large files, whose own answer says less.
		if next.Response.Header.Get("X-Linked-Etag") != "" || len(via) >= 10 {
			return http.ErrUseLastResponse
		}
		return nil
	}}
	resp, err := client.Do(req)
	if err != nil {
		if ctx.Err() != nil {
			return fetched{}, context.Cause(ctx)
		}
		return fetched{}, fmt.Errorf("%s; check the connection, set HF_ENDPOINT to a mirror, or fetch %s by hand and give its path",
			model.Clip(err.Error(), token), address)
	}
	resp.Body.Close()
	switch s := resp.StatusCode; {
	case s == http.StatusUnauthorized || s == http.StatusForbidden:
		return fetched{}, &orbench.InputError{
			File: address, Problem: fmt.Sprintf("the hub wants a login (HTTP %d)", s),
			Hint: "accept the dataset's terms on its page and set HF_TOKEN",
		}
	case s == http.StatusNotFound:
		return fetched{}, fmt.Errorf("%s is not there (HTTP 404); if it has moved, fetch the file by hand and give its path", address)
	case s >= 400:
		return fetched{}, fmt.Errorf("%s answers HTTP %d; try again later", address, s)
	}
	got := fetched{commit: resp.Header.Get("X-Repo-Commit"), size: resp.ContentLength}
	if commitForm.MatchString(e.Revision) && got.commit == "" {
		got.commit = e.Revision
	}
	switch {
	case !commitForm.MatchString(got.commit):
		return fetched{}, fmt.Errorf("%s does not say which commit it is", address)
	case commitForm.MatchString(e.Revision) && got.commit != e.Revision:
		return fetched{}, fmt.Errorf("%s is commit %s and not the one asked for", address, got.commit)
	}
	got.etag = resp.Header.Get("ETag")
	if linked := resp.Header.Get("X-Linked-Etag"); linked != "" {
		got.etag, got.size = linked, -1
		if n, err := strconv.ParseInt(resp.Header.Get("X-Linked-Size"), 10, 64); err == nil {
			got.size = n
		}
	}
	got.etag = strings.Trim(strings.TrimPrefix(got.etag, "W/"), `"`)
	return got, nil
}

// checkSum compares the file with the hub's description of it. An ETag of 64 hex
// digits is the SHA-256 of a large file, one of 40 the name that git gives a
// small one; others say nothing.
func (f fetched) checkSum() error {
	if f.size >= 0 && f.size != int64(len(f.content)) {
		return fmt.Errorf("%d of %d bytes arrived; try again", len(f.content), f.size)
	}
	want, have := f.etag, ""
	switch len(want) {
	case 2 * sha256.Size:
		have = f.sha256
	case 2 * sha1.Size:
		h := sha1.New()
		fmt.Fprintf(h, "blob %d\x00", len(f.content))
		h.Write(f.content)
		have = hex.EncodeToString(h.Sum(nil))
	default:
		return nil
	}
	if have != want {
		return fmt.Errorf("the file was damaged on its way: its checksum is %s and the hub says %s; try again", have, want)
	}
	return nil
}
