package weights

import (
	"context"
	"slices"
	"strings"
	"sync"

	"github.com/orbench/orbench/internal/client"
	"github.com/orbench/orbench/internal/job"
	"github.com/orbench/orbench/internal/store"
	"github.com/orbench/orbench/model"
	"github.com/orbench/orbench/refusal"
)

// Reused is what a study has of the replies of one model already.
type Reused struct {
	model.Ref
	// Target is true of a model under measurement.
	Target bool
	// N counts the replies, and Said those among them by what the server said of itself when
	// they were made, the empty text where that was not kept.
	N    int
	Said map[client.Description]int
	// stored are replies that can be asked for again, those that tell most first.
	stored []stored
}

// stored is a remembered call.
type stored struct {
	request  model.Request
	response model.Response
}

const (
	// mostStored is how many replies of a model are looked at for a check, and mostSaid how
	// many descriptions are told apart: a server may send any fingerprints.
	mostStored, mostSaid = 400, 1000
	// mostFingerprints is from how many on a fingerprint is that of a call, and tells nothing.
	mostFingerprints = 3
	// leastBytes of an answer have more than Tokens tokens, in most languages.
	leastBytes = 400
)

// Find looks through what a job has already, for models that own picks. m may be nil for an
// empty store. Simulated replies are left out: their models have no weights.
func Find(ctx context.Context, j *job.Job, m store.Reader, own func(model.Ref) bool) ([]*Reused, error) {
	if m == nil || !slices.ContainsFunc(j.Refs(), own) {
		return nil, nil
	}
	var all []*Reused
	of := func(ref model.Ref, target bool) *Reused {
		i := slices.IndexFunc(all, func(r *Reused) bool { return r.Ref == ref && r.Target == target })
		if i < 0 {
			i = len(all)
			all = append(all, &Reused{Ref: ref, Target: target, Said: map[client.Description]int{}})
		}
		return all[i]
	}
	// Replies are met before the item is there that has their requests, on several goroutines.
	var lock sync.Mutex
	met := map[model.Hash]model.Response{}
	scope := job.Scope{Extent: job.SoFar, Remembered: true, Met: func(_ string, h model.Hash, ref model.Ref, response model.Response) {
		if !own(ref) || response.Simulated() || response.ByOther(ref) {
			return
		}
		lock.Lock()
		defer lock.Unlock()
		met[h] = response
	}}
	for item, err := range j.Items(ctx, m, scope) {
		if err != nil {
			return nil, err
		}
		for _, call := range item.Calls {
			if call.Hash == (model.Hash{}) {
				call.Hash = call.Request.Hash()
			}
			lock.Lock()
			response, ok := met[call.Hash]
			delete(met, call.Hash)
			lock.Unlock()
			if ok {
				of(job.RefOf(call.Request), call.Role == job.Target).add(call.Request, response)
			}
		}
	}
	return all, nil
}

// add counts a reply.
func (r *Reused) add(request model.Request, response model.Response) {
	r.N++
	said := client.Description(response.Server)
	if _, known := r.Said[said]; known || len(r.Said) < mostSaid {
		r.Said[said]++
	}
	if r.Target && len(r.stored) < mostStored && response.Finish != model.Blocked && len(response.Thinking)+len(response.Text) >= leastBytes {
		if n := request.Params.MaxTokens; n == 0 || n >= Tokens {
			r.stored = append(r.stored, stored{request, response})
		}
	}
}

// Differs says in what the server describes itself otherwise now than when some of the replies
// were made, and of how many. It is empty where nothing differs.
func (r *Reused) Differs(now client.Description) (change string, n int) {
	fingerprints := map[string]bool{}
	for said := range r.Said {
		fingerprints[said.Value(client.Fingerprint)] = true
	}
	if len(fingerprints) > mostFingerprints {
		now = now.Without(client.Fingerprint)
	}
	most := 0
	for said, of := range r.Said {
		if d := said.Difference(now); d != "" {
			n += of
			if of > most || of == most && d < change {
				change, most = d, of
			}
		}
	}
	return change, n
}

// Known reports whether what a server says of itself tells its weights by a digest, then and
// now; now is empty where it was not asked yet.
func (r *Reused) Known(now client.Description) bool {
	for said := range r.Said {
		if said.Value(client.Digest) == "" {
			return false
		}
	}
	return now == "" || now.Value(client.Digest) != ""
}

// questions picks the replies that tell most: long ones that are no refusals, of different
// beginnings.
func (r *Reused) questions() []stored {
	var picked []stored
	taken := map[model.Hash]bool{}
	for _, length := range []int{16, 64, leastBytes} {
		begun := map[string]bool{}
		for _, s := range picked {
			begun[beginning(s.response, length)] = true
		}
		for _, s := range r.stored {
			start := beginning(s.response, length)
			if len(picked) == Prompts || begun[start] || taken[s.request.Hash()] {
				continue
			}
			begun[start], taken[s.request.Hash()] = true, true
			if last := s.request.Messages[len(s.request.Messages)-1].Content; refusal.Detect(last, s.response.Text).Class.Refused() {
				continue
			}
			picked = append(picked, s)
		}
	}
	return picked
}

// beginning is how what a model wrote begins, its thinking first.
func beginning(r model.Response, length int) string {
	text := whole(r)
	return text[:min(len(text), length)]
}

// whole is all that a model wrote, its thinking first.
func whole(r model.Response) string { return strings.TrimSpace(r.Thinking + "\n" + r.Text) }
