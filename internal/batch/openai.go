package batch

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"iter"
	"mime/multipart"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/orbench/orbench/internal/dialect/wire"
)

// jobs is a service that takes a file of calls and gives files of results: OpenAI's,
// Together's or Mistral's, which differ in names.
type jobs struct {
	api
	// path is that of batches, and upload that of files.
	path, upload string
	purpose      string
	limits       Limits
	// job is the body that starts a batch.
	job func(Job) any
}

// metadataKey is the name under which a batch keeps our own ID.
const metadataKey = "orbench_batch"

// NewOpenAI speaks to OpenAI's service (https://developers.openai.com/api/docs/guides/batch):
// 50,000 calls or 200 MB in a batch, and 24 hours. What is finished when a batch expires or
// is canceled is in its output file, and billed.
func NewOpenAI(a wire.ClientConfig) Service {
	return jobs{newAPI(a, "Authorization", "Bearer "+a.Key), "/batches", "/files", "batch", Limits{50_000, 200_000_000}, func(j Job) any {
		return map[string]any{
			"input_file_id": j.File, "endpoint": chatURL, "completion_window": "24h",
			"metadata": map[string]string{metadataKey: j.ID},
		}
	}}
}

// NewTogether speaks to Together's (https://docs.together.ai/docs/batch-inference): 50,000
// calls or 100 MB, and 24 hours at best effort. Files go to a path of their own, with their
// name (https://docs.together.ai/reference/upload-file). It keeps no name of ours, so that a
// batch is known by its file.
func NewTogether(a wire.ClientConfig) Service {
	return jobs{newAPI(a, "Authorization", "Bearer "+a.Key), "/batches", "/files/upload", "batch-api", Limits{50_000, 100_000_000}, func(j Job) any {
		return map[string]any{"input_file_id": j.File, "endpoint": chatURL, "completion_window": "24h"}
	}}
}

// NewMistral speaks to Mistral's (https://docs.mistral.ai/capabilities/batch): a million
// calls, in files of 512 MB, and as many hours as are asked for.
func NewMistral(a wire.ClientConfig) Service {
	return jobs{newAPI(a, "Authorization", "Bearer "+a.Key), "/batch/jobs", "/files", "batch", Limits{1_000_000, 512_000_000}, func(j Job) any {
		return map[string]any{
			"input_files": []string{j.File}, "endpoint": chatURL, "model": j.Model, "timeout_hours": 24,
			"metadata": map[string]string{metadataKey: j.ID},
		}
	}}
}

func (s jobs) Limits() Limits { return s.limits }

func (s jobs) Line(id string, body []byte) []byte { return Line(id, body) }

// address is that of a path below the account's root.
func (s jobs) address(path string) string { return strings.TrimRight(s.BaseURL, "/") + path }

// Upload sends the lines as a form with a file.
func (s jobs) Upload(ctx context.Context, j Job, lines io.Reader, size int64) (string, error) {
	var form bytes.Buffer
	w := multipart.NewWriter(&form)
	name := "orbench-" + j.ID + ".jsonl"
	for _, field := range [][2]string{{"purpose", s.purpose}, {"file_name", name}} {
		if field[0] == "file_name" && s.upload == "/files" {
			continue // Together's alone
		}
		if err := w.WriteField(field[0], field[1]); err != nil {
			return "", err
		}
	}
	if _, err := w.CreateFormFile("file", name); err != nil {
		return "", err
	}
	head := bytes.Clone(form.Bytes())
	form.Reset()
	if err := w.Close(); err != nil {
		return "", err
	}
	var file struct {
		ID string `json:"id"`
	}
	err := s.do(ctx, call{
		method: http.MethodPost, url: s.address(s.upload), contentType: w.FormDataContentType(),
		body: io.MultiReader(bytes.NewReader(head), lines, bytes.NewReader(form.Bytes())), size: int64(len(head)) + size + int64(form.Len()),
	}, &file)
	if err == nil && file.ID == "" {
		err = s.failure(errors.New("the reply to an upload names no file"))
	}
	return file.ID, err
}

func (s jobs) Create(ctx context.Context, j Job, _ io.Reader, _ int64) (Remote, error) {
	return batchOf[jobReply](ctx, s.api, post(s.address(s.path), s.job(j)))
}

func (s jobs) Get(ctx context.Context, id string) (Remote, error) {
	return batchOf[jobReply](ctx, s.api, get(s.address(s.path+"/"+url.PathEscape(id))))
}

func (s jobs) Cancel(ctx context.Context, id string) error {
	return s.cancel(ctx, s.address(s.path+"/"+url.PathEscape(id)+"/cancel"))
}

// mostPages is how many pages of a list are looked through.
const mostPages = 100

// Find looks through the list of batches, the newest first, for one with our file or our
// name.
func (s jobs) Find(ctx context.Context, j Job) (Remote, bool, error) {
	last := ""
	for page := range mostPages {
		query := url.Values{"limit": {"100"}}
		if s.path == "/batch/jobs" { // Mistral's
			query = url.Values{"page_size": {"100"}, "page": {fmt.Sprint(page)}}
		} else if last != "" {
			query.Set("after", last)
		}
		var raw json.RawMessage
		if err := s.do(ctx, get(s.address(s.path+"?"+query.Encode())), &raw); err != nil {
			return Remote{}, false, err
		}
		var list struct {
			Data []jobReply `json:"data"`
			More bool       `json:"has_more"`
		}
		if json.Unmarshal(raw, &list.Data) != nil { // Together's is a list alone
			if err := json.Unmarshal(raw, &list); err != nil {
				return Remote{}, false, s.failure(fmt.Errorf("reading the list of batches: %w", err))
			}
		}
		older := false
		for _, b := range list.Data {
			if j.File != "" && (b.InputFile == j.File || slices.Contains(b.InputFiles, j.File)) || b.Metadata[metadataKey] == j.ID {
				r, err := s.batch(b)
				return r, err == nil, err
			}
			made := moment(b.Created)
			older = older || !made.IsZero() && made.Before(j.Tried.Add(-time.Hour))
			last = b.ID
		}
		if older || len(list.Data) == 0 || !list.More && len(list.Data) < 100 {
			break
		}
	}
	return Remote{}, false, nil
}

// jobReply is a batch as the services tell of it: OpenAI's
// (https://developers.openai.com/api/docs/api-reference/batch/object), Together's and
// Mistral's, whose fields have other names.
type jobReply struct {
	ID         string         `json:"id"`
	Status     string         `json:"status"`
	InputFile  string         `json:"input_file_id"`
	InputFiles []string       `json:"input_files"`
	Output     string         `json:"output_file_id"`
	Errors     string         `json:"error_file_id"`
	OutputFile string         `json:"output_file"`
	ErrorFile  string         `json:"error_file"`
	Created    any            `json:"created_at"`
	Expires    any            `json:"expires_at"`
	Deadline   any            `json:"job_deadline"`
	Metadata   map[string]any `json:"metadata"`
	Counts     struct {
		Completed int `json:"completed"`
		Failed    int `json:"failed"`
	} `json:"request_counts"`
	Succeeded int             `json:"succeeded_requests"`
	Failed    int             `json:"failed_requests"`
	Faults    json.RawMessage `json:"errors"`
	Fault     string          `json:"error"`
	// Job is the batch itself in Together's reply to its creation.
	Job *jobReply `json:"job"`
}

// ended are the words for a batch of which nothing more becomes, in lower case.
var ended = []string{"completed", "failed", "expired", "cancelled", "canceled", "success", "timeout_exceeded"}

func (b jobReply) remote() Remote {
	if b.Job != nil {
		return b.Job.remote()
	}
	if b.Status == "" {
		return Remote{}
	}
	word := strings.ToLower(b.Status)
	r := Remote{
		ID: b.ID, Word: word, Ended: slices.Contains(ended, word), Created: moment(b.Created), Expires: cmp.Or(moment(b.Expires), moment(b.Deadline)),
		Answered: b.Counts.Completed + b.Succeeded, Failed: b.Counts.Failed + b.Failed,
	}
	if r.Expires.IsZero() && !r.Created.IsZero() {
		r.Expires = r.Created.Add(24 * time.Hour)
	}
	for _, file := range []string{b.Output, b.Errors, b.OutputFile, b.ErrorFile} {
		if file != "" {
			r.Files = append(r.Files, file)
		}
	}
	if word == "failed" && len(r.Files) == 0 {
		r.Refused = b.refusal()
		r.Again = isQuota(string(b.Faults) + b.Fault)
	}
	return r
}

// refusal is what a batch that failed says of itself.
func (b jobReply) refusal() string {
	var list struct {
		Data []json.RawMessage `json:"data"`
	}
	if json.Unmarshal(b.Faults, &list) != nil {
		_ = json.Unmarshal(b.Faults, &list.Data) // Mistral's is a list
	}
	switch {
	case len(list.Data) > 0:
		return said(list.Data[0])
	case b.Fault != "":
		return b.Fault
	}
	return "it gives no reason"
}

func (s jobs) Results(ctx context.Context, r Remote) iter.Seq2[Result, error] {
	return func(yield func(Result, error) bool) {
		for _, file := range r.Files {
			for r, err := range s.results(ctx, s.address("/files/"+url.PathEscape(file)+"/content"), readResult) {
				_, line := errors.AsType[*LineError](err)
				if !yield(r, err) || err != nil && !line {
					return
				}
			}
		}
	}
}
