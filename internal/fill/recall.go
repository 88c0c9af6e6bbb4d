package fill

import (
	"context"
	"maps"
	"slices"

	"github.com/orbench/orbench/internal/store"
	"github.com/orbench/orbench/model"
)

// Recall does steps with the replies that the store holds, which are looked up for
// all steps together. It returns what each step still lacks, nothing for those that
// are done. Every reply that a step has it hands to met, perhaps more than once, with the
// number of the step; nil for nobody. m may be nil for an empty store.
func Recall(ctx context.Context, m store.Reader, steps []model.Step, met func(step int, h model.Hash, r model.Request, response model.Response)) ([][]model.Request, error) {
	lacking := make([][]model.Request, len(steps))
	wanted := make([][]model.Hash, len(steps))
	known := map[model.Hash]model.Response{}
	absent := map[model.Hash]bool{}
	step := 0 // that is being done
	look := func(r model.Request) (model.Response, bool) {
		if len(known) == 0 {
			return model.Response{}, false
		}
		h := r.Hash()
		response, ok := known[h]
		if ok && met != nil {
			met(step, h, r, response)
		}
		return response, ok
	}
	open := make([]int, len(steps))
	for i := range open {
		open[i] = i
	}
	for {
		var hashes []model.Hash
		for _, i := range open {
			step = i
			lacking[i], wanted[i] = steps[i](look), wanted[i][:0]
			for _, r := range lacking[i] {
				h := r.Hash()
				wanted[i] = append(wanted[i], h)
				if !absent[h] {
					hashes = append(hashes, h)
				}
			}
		}
		if m == nil || len(hashes) == 0 {
			break
		}
		found, err := m.Get(ctx, hashes)
		if err != nil {
			return nil, err
		}
		for _, h := range hashes {
			if _, ok := found[h]; !ok {
				absent[h] = true
			}
		}
		if len(known) == 0 {
			known = found
		} else {
			maps.Copy(known, found)
		}
		// A reply can show that another is needed, so steps go on with what was found.
		open = slices.DeleteFunc(open, func(i int) bool {
			return !slices.ContainsFunc(wanted[i], func(h model.Hash) bool { _, ok := found[h]; return ok })
		})
	}
	return lacking, nil
}

// Failures gives the last error noted for what each step lacks, as Recall returned
// it; the zero one for none.
func Failures(ctx context.Context, m store.Reader, lacking [][]model.Request) ([]store.Failure, error) {
	last := make([]store.Failure, len(lacking))
	var hashes []model.Hash
	for _, requests := range lacking {
		for _, r := range requests {
			hashes = append(hashes, r.Hash())
		}
	}
	if len(hashes) == 0 {
		return last, nil
	}
	failures, err := m.Failures(ctx, hashes)
	if err != nil {
		return nil, err
	}
	for i, requests := range lacking {
		for range requests {
			if f, ok := failures[hashes[0]]; ok {
				last[i] = f
			}
			hashes = hashes[1:]
		}
	}
	return last, nil
}
