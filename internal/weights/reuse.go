package weights

import (
	"bytes"
	"context"
	"slices"

	"github.com/orbench/orbench/internal/client"
	"github.com/orbench/orbench/internal/job"
	"github.com/orbench/orbench/internal/store"
	"github.com/orbench/orbench/model"
)

// Reused is what a study has of the replies of one model in one role already.
type Reused struct {
	job.Asked
	// N counts the calls with a reply.
	N int
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
	// mostStored is how many replies of a model are looked at.
	mostStored = 400
	// mostFingerprints is from how many on a fingerprint is that of a call, and tells nothing.
	mostFingerprints = 3
)

// Find looks through what a job has already, for models that may change, and gives those of
// which it has some replies and lacks others. m may be nil for an empty store. Simulated replies
// are left out: their models have no weights.
func Find(ctx context.Context, j *job.Job, m store.Reader, changes func(job.Asked) bool) (all []*Reused, err error) {
	for _, asked := range j.Models {
		if asked.Fixed = false; changes(asked) {
			all = append(all, &Reused{Asked: asked})
		}
	}
	if m == nil || len(all) == 0 {
		return nil, nil
	}
	lacking := false
	for item, err := range j.Items(ctx, m, job.Scope{Extent: job.SoFar, Remembered: true}) {
		if err != nil {
			return nil, err
		}
		for _, call := range item.Calls {
			lacking = lacking || !call.Remembered
			of := job.Asked{Ref: job.RefOf(call.Request), Role: call.Role}
			if i := slices.IndexFunc(all, func(r *Reused) bool { return r.Asked == of }); i >= 0 {
				all[i].add(call)
			}
		}
	}
	for _, r := range all {
		if err := r.read(ctx, m); err != nil {
			return nil, err
		}
	}
	// A judge lacks the verdicts on answers that are lacking.
	return slices.DeleteFunc(all, func(r *Reused) bool { return len(r.stored) == 0 || !r.lacks && !(lacking && r.Role.Judges()) }), nil
}

// add counts a call.
func (r *Reused) add(call job.Call) {
	if !call.Remembered {
		r.lacks = true
		return
	}
	r.N++
	if call.Hash == (model.Hash{}) {
		call.Hash = call.Request.Hash()
	}
	at, there := slices.BinarySearchFunc(r.stored, call.Hash, func(s stored, h model.Hash) int { return bytes.Compare(s.Hash[:], h[:]) })
	if at < mostStored && !there {
		r.stored = slices.Insert(r.stored, at, stored{Call: call})[:min(len(r.stored)+1, mostStored)]
	}
}

// read reads the replies to the calls that are looked at.
func (r *Reused) read(ctx context.Context, m store.Reader) error {
	var hashes []model.Hash
	for _, s := range r.stored {
		hashes = append(hashes, s.Hash)
	}
	replies, err := m.Get(ctx, hashes)
	r.stored = slices.DeleteFunc(r.stored, func(s stored) bool {
		response, ok := replies[s.Hash]
		return !ok || response.Simulated() || response.ByOther(r.Ref)
	})
	for i, s := range r.stored {
		r.stored[i].response = replies[s.Hash]
	}
	return err
}

// Differs says in what the server describes itself otherwise now than when some of the replies
// were made, and of how many of those that are looked at. It is empty where nothing differs.
func (r *Reused) Differs(now client.Description) (change string, n, of int) {
	fingerprints := map[string]bool{}
	for _, s := range r.stored {
		fingerprints[client.Description(s.response.Server).Value(client.Fingerprint)] = true
	}
	if len(fingerprints) > mostFingerprints {
		now = now.Without(client.Fingerprint)
	}
	for _, s := range r.stored {
		if d := client.Description(s.response.Server).Difference(now); d != "" {
			change, n = d, n+1
		}
	}
	return change, n, len(r.stored)
}

// Known reports whether what a server says of itself tells its weights by a digest, then and
// now.
func (r *Reused) Known(now client.Description) bool {
	return now.Value(client.Digest) != "" && !slices.ContainsFunc(r.stored, func(s stored) bool {
		return client.Description(s.response.Server).Value(client.Digest) == ""
	})
}
