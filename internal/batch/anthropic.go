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
	"strings"
	"time"

	"github.com/orbench/orbench/internal/dialect/wire"
)

// messages is Anthropic's service.
type messages struct{ api }

// NewAnthropic speaks to Anthropic's Message Batches
// (https://platform.claude.com/docs/en/build-with-claude/batch-processing): 100,000 calls
// or 256 MB, and 24 hours. Calls that failed, expired or were canceled are not billed. A
// batch keeps no name of ours, so that one whose creation was not confirmed is known by its
// time, its number of calls and, once it has ended, by their IDs.
func NewAnthropic(a wire.ClientConfig) Service {
	s := messages{newAPI(a, "X-Api-Key", a.Key)}
	s.header.Set("Anthropic-Version", "2023-06-01")
	return s
}

func (s messages) Limits() Limits { return Limits{100_000, 256_000_000 - 1000} }

// Line is an element of the list of requests.
func (s messages) Line(id string, body []byte) []byte {
	return lineOf(`{"custom_id":`, id, `,"params":`, body)
}

// address is that of a path below the batches.
func (s messages) address(path string) string {
	return strings.TrimSuffix(strings.TrimRight(s.BaseURL, "/"), "/v1") + "/v1/messages/batches" + path
}

// Upload does nothing: Create sends the calls.
func (s messages) Upload(context.Context, Job, io.Reader, int64) (string, error) { return "", nil }

func (s messages) Create(ctx context.Context, _ Job, lines io.Reader, size int64) (Remote, error) {
	const before, after = `{"requests":[`, `]}`
	body := io.MultiReader(strings.NewReader(before), &list{lines: lines, left: size}, strings.NewReader(after))
	return batchOf[messageBatch](ctx, s.api, call{
		method: http.MethodPost, url: s.address(""), contentType: "application/json", body: body, size: int64(len(before)) + size + int64(len(after)),
	})
}

// list turns lines of JSON into the elements of a list: the break between two becomes a
// comma, and the last one a space. Within JSON no line breaks.
type list struct {
	lines io.Reader
	left  int64
}

func (l *list) Read(p []byte) (int, error) {
	n, err := l.lines.Read(p)
	for i := range p[:n] {
		l.left--
		if p[i] != '\n' {
			continue
		}
		if p[i] = ','; l.left == 0 {
			p[i] = ' '
		}
	}
	return n, err
}

// messageBatch is a batch as the service tells of it.
type messageBatch struct {
	ID      string `json:"id"`
	Status  string `json:"processing_status"`
	Created any    `json:"created_at"`
	Expires any    `json:"expires_at"`
	Counts  struct {
		Processing int `json:"processing"`
		Succeeded  int `json:"succeeded"`
		Errored    int `json:"errored"`
		Canceled   int `json:"canceled"`
		Expired    int `json:"expired"`
	} `json:"request_counts"`
}

func (b messageBatch) remote() Remote {
	if b.Status == "" {
		return Remote{}
	}
	c := b.Counts
	return Remote{
		ID: b.ID, Word: b.Status, Ended: b.Status == "ended", Created: moment(b.Created), Expires: moment(b.Expires),
		Answered: c.Succeeded, Failed: c.Errored + c.Canceled + c.Expired, Files: []string{b.ID},
	}
}

func (s messages) Get(ctx context.Context, id string) (Remote, error) {
	return batchOf[messageBatch](ctx, s.api, get(s.address("/"+url.PathEscape(id))))
}

func (s messages) Cancel(ctx context.Context, id string) error {
	return s.cancel(ctx, s.address("/"+url.PathEscape(id)+"/cancel"))
}

// Find looks for a batch of about our time with as many calls that is not another one of
// ours, and of one that has ended looks whether a call is ours. That of one which has not
// is seen when it is collected.
func (s messages) Find(ctx context.Context, j Job) (Remote, bool, error) {
	query := url.Values{"limit": {"100"}}
	for range mostPages {
		var page struct {
			Data []messageBatch `json:"data"`
			More bool           `json:"has_more"`
			Last string         `json:"last_id"`
		}
		if err := s.do(ctx, get(s.address("?"+query.Encode())), &page); err != nil {
			return Remote{}, false, err
		}
		for _, b := range page.Data {
			// Clocks differ by some minutes.
			if moment(b.Created).Before(j.Tried.Add(-10 * time.Minute)) {
				return Remote{}, false, nil
			}
			r, err := s.batch(b)
			if err != nil {
				return r, false, err
			}
			if r.Answered+r.Failed+b.Counts.Processing != j.Calls || j.Known(b.ID) {
				continue
			}
			if !r.Ended {
				return r, true, nil
			}
			for result, err := range s.Results(ctx, r) {
				if err != nil || j.Has(result.ID) {
					return r, err == nil, err
				}
				break // the first is enough
			}
		}
		if !page.More {
			break
		}
		query.Set("after_id", page.Last)
	}
	return Remote{}, false, nil
}

// Results reads the file of results, which streams.
func (s messages) Results(ctx context.Context, r Remote) iter.Seq2[Result, error] {
	return s.results(ctx, s.address("/"+url.PathEscape(r.ID)+"/results"), readMessage)
}

// readMessage reads a line of results.
func readMessage(line []byte) (r Result, ok bool, err error) {
	var l struct {
		ID     string `json:"custom_id"`
		Result struct {
			Type    string          `json:"type"`
			Message json.RawMessage `json:"message"`
			Error   json.RawMessage `json:"error"`
		} `json:"result"`
	}
	if err := json.Unmarshal(line, &l); err != nil || l.ID == "" {
		return r, false, errors.New("it is not the result of a call, but " + short(line))
	}
	r.ID = l.ID
	switch {
	case l.Result.Type == "succeeded" && l.Result.Message != nil:
		r.Status, r.Body = http.StatusOK, l.Result.Message
	case l.Result.Type == "errored":
		r.Status, r.Body = statusOf(l.Result.Error), l.Result.Error
	case l.Result.Type == "canceled", l.Result.Type == "expired":
		r.Unmade = l.Result.Type
	default:
		return r, false, fmt.Errorf("its result is of the unknown type %q", l.Result.Type)
	}
	return r, true, nil
}

// statuses are those with which a live call would have failed, by the type of the fault
// (https://platform.claude.com/docs/en/api/errors).
var statuses = map[string]int{
	"invalid_request_error": 400, "authentication_error": 401, "billing_error": 402, "permission_error": 403,
	"not_found_error": 404, "request_too_large": 413, "rate_limit_error": 429, "overloaded_error": 529,
}

// statusOf is the status with which a live call would have failed, 500 where that is not
// known.
func statusOf(fault json.RawMessage) int {
	var f struct {
		Error struct {
			Type string `json:"type"`
		} `json:"error"`
	}
	_ = json.Unmarshal(fault, &f)
	return cmp.Or(statuses[f.Error.Type], 500)
}
