package weights

import (
	"bytes"
	"context"
	"slices"
	"sync"

	"github.com/orbench/orbench/internal/client"
	"github.com/orbench/orbench/internal/job"
	"github.com/orbench/orbench/internal/store"
	"github.com/orbench/orbench/model"
)

// Reused is what a study has of the replies of one model in one role already.
type Reused struct {
	model.Ref
	Role job.Role
	// N counts the replies, and Said those among them by what the server said of itself when
	// they were made, the empty text where that was not kept.
	N    int
	Said map[client.Description]int
	// stored are some of them, those of the least hashes.
	stored []stored
	// lacks is true where calls of the model are to be made.
	lacks bool
}

// stored is a remembered call.
type stored struct {
	job.Call
	response model.Response
}

const (
	// mostStored is how many replies of a model are looked at for a check, and mostSaid how
	// many descriptions are told apart: a server may send any fingerprints.
	mostStored, mostSaid = 400, 1000
	// mostFingerprints is from how many on a fingerprint is that of a call, and tells nothing.
	mostFingerprints = 3
)

// Find looks through what a job has already, for models that may change, and gives those of
// which it has some replies and lacks others. m may be nil for an empty store. Simulated replies
// are left out: their models have no weights.
func Find(ctx context.Context, j *job.Job, m store.Reader, changes func(job.Asked) bool) ([]*Reused, error) {
	change := map[job.Asked]bool{}
	for _, asked := range j.Models {
		if asked.Fixed = false; changes(asked) {
			change[asked] = true
		}
	}
	if m == nil || len(change) == 0 {
		return nil, nil
	}
	var all []*Reused
	// Replies are met before the item is there that has their requests, on several goroutines.
	var lock sync.Mutex
	met := map[model.Hash]model.Response{}
	scope := job.Scope{Extent: job.SoFar, Remembered: true, Met: func(_ string, h model.Hash, ref model.Ref, response model.Response) {
		changing := change[job.Asked{Ref: ref, Role: job.Target}] || change[job.Asked{Ref: ref, Role: job.Judge}]
		if changing && !response.Simulated() && !response.ByOther(ref) {
			lock.Lock()
			defer lock.Unlock()
			met[h] = response
		}
	}}
	lacking := false
	for item, err := range j.Items(ctx, m, scope) {
		if err != nil {
			return nil, err
		}
		for _, call := range item.Calls {
			lacking = lacking || !call.Remembered
			if !change[job.Asked{Ref: job.RefOf(call.Request), Role: call.Role}] {
				continue
			}
			if call.Hash == (model.Hash{}) {
				call.Hash = call.Request.Hash()
			}
			lock.Lock()
			response, ok := met[call.Hash]
			delete(met, call.Hash)
			lock.Unlock()
			of := func(r *Reused) bool { return r.Ref == job.RefOf(call.Request) && r.Role == call.Role }
			i := slices.IndexFunc(all, of)
			if i < 0 {
				i, all = len(all), append(all, &Reused{Ref: job.RefOf(call.Request), Role: call.Role, Said: map[client.Description]int{}})
			}
			if ok {
				all[i].add(stored{call, response})
			}
			all[i].lacks = all[i].lacks || !call.Remembered
		}
	}
	// A judge lacks the verdicts on answers that are lacking.
	return slices.DeleteFunc(all, func(r *Reused) bool { return r.N == 0 || !r.lacks && !(lacking && r.Role.Judges()) }), nil
}

// add counts a reply.
func (r *Reused) add(s stored) {
	r.N++
	said := client.Description(s.response.Server)
	if _, known := r.Said[said]; known || len(r.Said) < mostSaid {
		r.Said[said]++
	}
	at, _ := slices.BinarySearchFunc(r.stored, s, func(a, b stored) int { return bytes.Compare(a.Hash[:], b.Hash[:]) })
	if at < mostStored {
		r.stored = slices.Insert(r.stored, at, s)[:min(len(r.stored)+1, mostStored)]
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
// now.
func (r *Reused) Known(now client.Description) bool {
	for said := range r.Said {
		if said.Value(client.Digest) == "" {
			return false
		}
	}
	return now.Value(client.Digest) != ""
}
