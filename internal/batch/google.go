package batch

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"iter"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/orbench/orbench/internal/dialect/wire"
)

// content is Google's service for Gemini.
type content struct {
	api
	// root is the API with its version, and host the same without.
	root, host, version string
	// inline is the size from which calls go as a file, in bytes.
	inline int64
}

// inline is below what a creation may have in it, 20 MB; more goes as a file.
const inline = 19_000_000

// NewGoogle speaks to Gemini's Batch API (https://ai.google.dev/gemini-api/docs/batch-api):
// calls under 20 MB in the creation itself, else in a file of 2 GB at most; a target of 24
// hours, and an end after 48, of which nothing is left. It names no limit of calls; 100,000
// keep one batch from holding everything.
func NewGoogle(a wire.ClientConfig) Service {
	s := content{api: newAPI(a, "X-Goog-Api-Key", a.Key), version: "v1beta", inline: inline}
	s.host = strings.TrimRight(a.BaseURL, "/")
	for _, version := range []string{"v1beta", "v1"} {
		if host, ok := strings.CutSuffix(s.host, "/"+version); ok {
			s.host, s.version = host, version
		}
	}
	s.root = s.host + "/" + s.version
	return s
}

func (s content) Limits() Limits { return Limits{100_000, 2_000_000_000} }

// Line is a line of a file of calls.
func (s content) Line(id string, body []byte) []byte {
	return lineOf(`{"key":`, id, `,"request":`, body)
}

// keyed is a line of a file, of calls or of results.
type keyed struct {
	Key      string          `json:"key"`
	Request  json.RawMessage `json:"request,omitempty"`
	Response json.RawMessage `json:"response,omitempty"`
	Error    json.RawMessage `json:"error,omitempty"`
	Metadata struct {
		Key string `json:"key"`
	} `json:"metadata,omitzero"`
}

// Upload sends what is too much for a creation as a file, in the two steps of a resumable
// upload (https://ai.google.dev/api/files).
func (s content) Upload(ctx context.Context, j Job, lines io.Reader, size int64) (string, error) {
	if size < s.inline {
		return "", nil
	}
	begin := post(s.host+"/upload/"+s.version+"/files", map[string]any{"file": map[string]string{"display_name": s.name(j)}})
	begin.header = http.Header{
		"X-Goog-Upload-Protocol": {"resumable"}, "X-Goog-Upload-Command": {"start"},
		"X-Goog-Upload-Header-Content-Length": {strconv.FormatInt(size, 10)}, "X-Goog-Upload-Header-Content-Type": {"application/jsonl"},
	}
	resp, err := s.open(ctx, begin)
	if err != nil {
		return "", err
	}
	resp.Body.Close()
	to, err := url.Parse(resp.Header.Get("X-Goog-Upload-Url"))
	if here, _ := url.Parse(s.host); err != nil || here == nil || to.Host != here.Host {
		return "", s.failure(errors.New("the reply to an upload names no address on the same host"))
	}
	var done struct {
		File struct {
			Name string `json:"name"`
		} `json:"file"`
	}
	err = s.do(ctx, call{
		method: http.MethodPost, url: to.String(), contentType: "application/jsonl", body: lines, size: size,
		header: http.Header{"X-Goog-Upload-Offset": {"0"}, "X-Goog-Upload-Command": {"upload, finalize"}},
	}, &done)
	if err == nil && done.File.Name == "" {
		err = s.failure(errors.New("the reply to an upload names no file"))
	}
	return done.File.Name, err
}

// name is our own name of a batch.
func (s content) name(j Job) string { return "orbench-" + j.ID[:min(len(j.ID), 40)] }

func (s content) Create(ctx context.Context, j Job, lines io.Reader, _ int64) (Remote, error) {
	name := j.Model
	if name == "" || strings.ContainsAny(name, "?&#%") || strings.Contains(name, "..") {
		return Remote{}, s.failure(&url.Error{Op: "parse", URL: name, Err: errors.New("this is not the name of a model")})
	}
	if !strings.HasPrefix(name, "models/") && !strings.HasPrefix(name, "tunedModels/") {
		name = "models/" + name
	}
	input := map[string]any{"file_name": j.File}
	if j.File == "" {
		requests, err := inlined(lines)
		if err != nil {
			return Remote{}, err
		}
		input = map[string]any{"requests": map[string]any{"requests": requests}}
	}
	about := map[string]any{"batch": map[string]any{"display_name": s.name(j), "input_config": input}}
	return batchOf[operation](ctx, s.api, post(s.root+"/"+name+":batchGenerateContent", about))
}

// inlined is lines of calls in the form that a creation has them.
func inlined(lines io.Reader) ([]any, error) {
	var all []any
	for d := json.NewDecoder(lines); ; {
		var l keyed
		err := d.Decode(&l)
		if errors.Is(err, io.EOF) {
			return all, nil
		}
		if err != nil {
			return nil, err
		}
		all = append(all, map[string]any{"request": l.Request, "metadata": map[string]string{"key": l.Key}})
	}
}

// operation is a batch as the service tells of it.
type operation struct {
	Name     string `json:"name"`
	Metadata struct {
		Name    string `json:"displayName"`
		State   string `json:"state"`
		Created any    `json:"createTime"`
		Stats   struct {
			Answered string `json:"successfulRequestCount"`
			Failed   string `json:"failedRequestCount"`
		} `json:"batchStats"`
	} `json:"metadata"`
	Error struct {
		Message string `json:"message"`
	} `json:"error"`
	Response struct {
		File    string `json:"responsesFile"`
		Inlined struct {
			List []json.RawMessage `json:"inlinedResponses"`
		} `json:"inlinedResponses"`
	} `json:"response"`
}

func (o operation) remote() Remote {
	_, state, ok := strings.Cut(o.Metadata.State, "_STATE_") // BATCH_ or JOB_
	if !ok {
		state = o.Metadata.State
	}
	r := Remote{ID: o.Name, Word: strings.ToLower(state), Created: moment(o.Metadata.Created)}
	r.Ended = slices.Contains([]string{"succeeded", "failed", "cancelled", "expired"}, r.Word)
	if !r.Created.IsZero() {
		r.Expires = r.Created.Add(48 * time.Hour)
	}
	// Numbers of 64 bits are texts in Google's JSON.
	r.Answered, _ = strconv.Atoi(o.Metadata.Stats.Answered)
	r.Failed, _ = strconv.Atoi(o.Metadata.Stats.Failed)
	if o.Response.File != "" {
		r.Files = []string{o.Response.File}
	}
	if r.Word == "failed" && r.Files == nil && o.Response.Inlined.List == nil {
		r.Refused = cmp.Or(o.Error.Message, "it gives no reason")
		r.Again = isQuota(r.Refused)
	}
	return r
}

// address is that of a batch, whose name starts with batches/.
func (s content) address(id string) (string, error) {
	if !strings.HasPrefix(id, "batches/") || strings.ContainsAny(id, "?#%") || strings.Contains(id, "..") {
		return "", s.failure(fmt.Errorf("%q is not the name of a batch", id))
	}
	return s.root + "/" + id, nil
}

// operation asks for a batch, which may have results in it.
func (s content) operation(ctx context.Context, id string) (o operation, err error) {
	at, err := s.address(id)
	if err != nil {
		return o, err
	}
	resp, err := s.open(ctx, get(at))
	if err != nil {
		return o, err
	}
	defer resp.Body.Close()
	if err := json.NewDecoder(resp.Body).Decode(&o); err != nil {
		return o, s.failure(fmt.Errorf("reading the reply: %w", err))
	}
	return o, nil
}

func (s content) Get(ctx context.Context, id string) (Remote, error) {
	o, err := s.operation(ctx, id)
	if err != nil {
		return Remote{}, err
	}
	return s.batch(o)
}

func (s content) Cancel(ctx context.Context, id string) error {
	at, err := s.address(id)
	if err != nil {
		return err
	}
	return s.cancel(ctx, at+":cancel")
}

// Find looks for a batch of our name.
func (s content) Find(ctx context.Context, j Job) (Remote, bool, error) {
	query := url.Values{"pageSize": {"100"}}
	for range mostPages {
		var page struct {
			Operations []operation `json:"operations"`
			Next       string      `json:"nextPageToken"`
		}
		if err := s.do(ctx, get(s.root+"/batches?"+query.Encode()), &page); err != nil {
			return Remote{}, false, err
		}
		for _, o := range page.Operations {
			if o.Metadata.Name == s.name(j) && !j.Known(o.Name) {
				r, err := s.batch(o)
				return r, err == nil, err
			}
		}
		if page.Next == "" {
			break
		}
		query.Set("pageToken", page.Next)
	}
	return Remote{}, false, nil
}

// Results are in the batch itself or in a file.
func (s content) Results(ctx context.Context, r Remote) iter.Seq2[Result, error] {
	if len(r.Files) > 0 {
		return s.results(ctx, s.host+"/download/"+s.version+"/"+r.Files[0]+":download?alt=media", readKeyed)
	}
	return func(yield func(Result, error) bool) {
		o, err := s.operation(ctx, r.ID)
		if err != nil {
			yield(Result{}, err)
			return
		}
		for i, one := range o.Response.Inlined.List {
			result, ok, err := readKeyed(one)
			if err != nil {
				err = &LineError{i + 1, err}
			}
			if (ok || err != nil) && !yield(result, err) {
				return
			}
		}
	}
}

// readKeyed reads a result, of a file or of a batch.
func readKeyed(line []byte) (r Result, ok bool, err error) {
	var l keyed
	if err := json.Unmarshal(line, &l); err != nil || l.Key == "" && l.Metadata.Key == "" {
		return r, false, errors.New("it is not the result of a call, but " + short(line))
	}
	r.ID = cmp.Or(l.Key, l.Metadata.Key)
	switch fault := given(l.Error); {
	case given(l.Response) != nil:
		r.Status, r.Body = http.StatusOK, l.Response
	case fault != nil:
		r.Status = statusOfCode(fault)
		r.Body, err = json.Marshal(map[string]json.RawMessage{"error": fault})
	default:
		return r, false, errors.New("it has neither a response nor an error")
	}
	return r, true, err
}

// statusesOfCodes are the HTTP statuses of google.rpc.Status
// (https://cloud.google.com/apis/design/errors); 3, 9 and 11 are a wrong argument,
// precondition or range.
var statusesOfCodes = map[int]int{3: 400, 9: 400, 11: 400, 4: 504, 5: 404, 7: 403, 8: 429, 14: 503, 16: 401}

// statusOfCode is the HTTP status of a fault, 500 where that is not known.
func statusOfCode(fault json.RawMessage) int {
	var f struct {
		Code int `json:"code"`
	}
	_ = json.Unmarshal(fault, &f)
	if f.Code >= 400 && f.Code < 600 {
		return f.Code
	}
	return cmp.Or(statusesOfCodes[f.Code], 500)
}
