package identity

import (
	"context"
	"encoding/binary"
	"iter"
	"math/bits"
	"slices"

	"github.com/orbench/orbench"
	"github.com/orbench/orbench/internal/job"
	"github.com/orbench/orbench/internal/store"
	"github.com/orbench/orbench/model"
	"github.com/orbench/orbench/similar"
)

// wanted is a call of the run. There are millions of them, so it holds no text and no
// pointer, and the garbage collector need not scan it.
type wanted struct {
	hash model.Hash
	// place is that of its record in the store, from 1; 0 until that record is met.
	place int64
	// next is the number, in finder.calls, of another call about the same message that is
	// remembered or missing as this one is. near is the number, in finder.near, of the
	// nearest call. Both are from 1, and 0 for none.
	next, near    int32
	prompt, group uint32
	parts
	remembered bool
}

// nearest is the remembered call that is nearest to another.
type nearest struct {
	hash model.Hash
	gap  float64
	parts
}

// message is what calls are about.
type message struct {
	text string
	// lacking and remembered are the numbers of the last missing and the last remembered
	// call about it.
	lacking, remembered int32
}

// finder looks for the nearest remembered calls.
type finder struct {
	values
	// calls are in blocks, so that adding some copies none.
	calls [][]wanted
	near  []nearest
	// byHash is a hash table by linear probing: the number of each call is in the first
	// free place from that of its hash. It is made when all calls are known.
	byHash []int32
	// messages are those of the run by their number.
	messages map[uint32]*message
	// groups are those of whose, by its number.
	groups  []Group
	whose   numbered[[2]string]
	prompts numbered[prompt]
	// failures are the last errors of calls that were sent and got no answer.
	failures map[model.Hash]string
}

// prompt is one of a dataset.
type prompt struct {
	dataset string
	id      orbench.PromptID
}

func newFinder() *finder {
	return &finder{
		values: values{long: map[digest]uint32{}}, messages: map[uint32]*message{}, groups: []Group{}, failures: map[model.Hash]string{},
	}
}

// want adds a call of the run.
func (f *finder) want(call *job.Call) {
	t, kind := textsOf(&call.Request)
	w := wanted{hash: call.Hash, remembered: call.Remembered, parts: f.number(&t, kind, true)}
	about, ok := f.messages[w.message]
	if !ok {
		about = &message{text: t[messageText]}
		f.messages[w.message] = about
	}
	list := &about.lacking
	if w.remembered {
		list = &about.remembered
	}
	if n := len(f.calls); n == 0 || len(f.calls[n-1]) == blockCalls {
		f.calls = append(f.calls, make([]wanted, 0, blockCalls))
	}
	last := &f.calls[len(f.calls)-1]
	w.next, *list = *list, int32((len(f.calls)-1)*blockCalls+len(*last)+1)
	var fresh bool
	if w.group, fresh = f.whose.number([2]string{call.Target, call.Judge}); fresh {
		f.groups = append(f.groups, Group{Target: call.Target, Judge: call.Judge})
	}
	w.prompt, _ = f.prompts.number(prompt{call.Dataset, call.Prompt})
	*last = append(*last, w)
}

// blockCalls is how many calls a block has.
const blockCalls = 4096

// call is the call of a number, nil for 0.
func (f *finder) call(number int32) *wanted {
	if number == 0 {
		return nil
	}
	return &f.calls[(number-1)/blockCalls][(number-1)%blockCalls]
}

// all lists the calls with their numbers, in the order of the walk.
func (f *finder) all() iter.Seq2[int32, *wanted] {
	return func(yield func(int32, *wanted) bool) {
		for b, block := range f.calls {
			for i := range block {
				if !yield(int32(b*blockCalls+i+1), &block[i]) {
					return
				}
			}
		}
	}
}

// about lists the calls that start with one of a number.
func (f *finder) about(number int32) iter.Seq[*wanted] {
	return func(yield func(*wanted) bool) {
		for w := f.call(number); w != nil && yield(w); w = f.call(w.next) {
		}
	}
}

// slot is the place of a call in byHash, or the free one where it would be.
func (f *finder) slot(h model.Hash) *int32 {
	for i := binary.BigEndian.Uint64(h[:]); ; i++ {
		at := &f.byHash[i%uint64(len(f.byHash))]
		if w := f.call(*at); w == nil || w.hash == h {
			return at
		}
	}
}

// failed finds which calls were sent and failed.
func (f *finder) failed(ctx context.Context, m store.Reader) error {
	for _, block := range f.calls {
		var lacking []model.Hash
		for i := range block {
			if !block[i].remembered {
				lacking = append(lacking, block[i].hash)
			}
		}
		if len(lacking) == 0 {
			continue
		}
		found, err := m.Failures(ctx, lacking)
		if err != nil {
			return err
		}
		for hash, failure := range found {
			f.failures[hash] = failure.Message
		}
	}
	return nil
}

// look finds the nearest of the records for each call, in a pass over the records, and in
// a second where some calls have none and some records are about other messages.
func (f *finder) look(records iter.Seq2[store.Record, error]) error {
	f.byHash = make([]int32, 1<<bits.Len(uint(2*blockCalls*len(f.calls))))
	for number, w := range f.all() {
		*f.slot(w.hash) = number
	}
	others, err := f.sameText(records)
	if err != nil || !others {
		return err
	}
	return f.likeText(records)
}

// consider makes a record the nearest of a call if it is; of equally near records the later
// wins. like is how similar their messages are if they are not the same.
func (f *finder) consider(w *wanted, h model.Hash, p parts, like float64) {
	if f.rests.all[p.rest].kind != f.rests.all[w.rest].kind {
		return
	}
	gap := f.compare(w.parts, p).weight() - like
	switch {
	case w.near == 0:
		f.near = append(f.near, nearest{h, gap, p})
		w.near = int32(len(f.near))
	case gap <= f.near[w.near-1].gap:
		f.near[w.near-1] = nearest{h, gap, p}
	}
}

// sameText compares the calls with the records about the same message. others is true if
// there are records about messages that the run does not ask about.
func (f *finder) sameText(records iter.Seq2[store.Record, error]) (others bool, err error) {
	place := int64(0)
	for r, err := range records {
		if err != nil {
			return false, err
		}
		place++
		own := f.call(*f.slot(r.Hash))
		var p parts
		if own != nil {
			own.place, p = place, own.parts
		} else if _, p, err = f.parse(r.Request); err != nil {
			return false, err
		}
		about := f.messages[p.message]
		if about == nil {
			others = true
			continue
		}
		for w := range f.about(about.lacking) {
			f.consider(w, r.Hash, p, 0)
		}
		if own != nil {
			continue
		}
		// A remembered call is compared with the responses that other runs had left before
		// it.
		for w := range f.about(about.remembered) {
			if w.place == 0 {
				f.consider(w, r.Hash, p, 0)
			}
		}
	}
	return others, nil
}

// alike is the least similarity of two texts of which one may be an edit of the other: that
// of a question of eight words and the same with a middle word changed.
const alike = 0.25

// likeText compares the calls for which sameText found none with records about similar
// texts that the run does not ask itself.
func (f *finder) likeText(records iter.Seq2[store.Record, error]) error {
	index := similar.NewIndex(alike)
	var messages []*message
	added := map[uint32]bool{}
	for _, w := range f.all() {
		if w.near == 0 && !added[w.message] {
			added[w.message] = true
			messages = append(messages, f.messages[w.message])
			index.Keep(f.messages[w.message].text)
		}
	}
	if len(messages) == 0 {
		return nil
	}
	type match struct {
		*message
		like float64
	}
	known := map[digest]match{}
	place := int64(0)
	for r, err := range records {
		if err != nil {
			return err
		}
		place++
		if *f.slot(r.Hash) != 0 {
			continue
		}
		t, p, err := f.parse(r.Request)
		if err != nil {
			return err
		}
		if f.messages[p.message] != nil {
			continue
		}
		hash := digestOf(t[messageText])
		found, ok := known[hash]
		if !ok {
			if n, like, ok := index.Nearest(t[messageText]); ok {
				found = match{messages[n], like}
			}
			known[hash] = found
		}
		if found.message == nil {
			continue
		}
		for _, first := range []int32{found.lacking, found.remembered} {
			for w := range f.about(first) {
				if w.near != 0 && f.near[w.near-1].message == w.message || w.remembered && w.place < place {
					continue
				}
				f.consider(w, r.Hash, p, found.like)
			}
		}
	}
	return nil
}

// read finds the texts of calls and of their nearest ones by hash, for those that differ in
// long texts. A call of the run that is not remembered is found by walking the calls again.
func (f *finder) read(ctx context.Context, m store.Reader, calls iter.Seq2[job.Call, error], of ...[]*wanted) (map[model.Hash]texts, error) {
	said, lacking := map[model.Hash]texts{}, map[model.Hash]bool{}
	var hashes []model.Hash
	for _, w := range slices.Concat(of...) {
		if !f.differs(w).long() {
			continue
		}
		hashes = append(hashes, f.near[w.near-1].hash)
		if w.remembered {
			hashes = append(hashes, w.hash)
		} else {
			lacking[w.hash] = true
		}
	}
	if len(hashes) == 0 {
		return said, nil
	}
	records, err := m.Records(ctx, hashes)
	if err != nil {
		return nil, err
	}
	for _, r := range records {
		if said[r.Hash], _, err = f.parse(r.Request); err != nil {
			return nil, err
		}
	}
	if len(lacking) == 0 {
		return said, nil
	}
	for call, err := range calls {
		if err != nil {
			return nil, err
		}
		if !lacking[call.Hash] {
			continue
		}
		said[call.Hash], _ = textsOf(&call.Request)
		if delete(lacking, call.Hash); len(lacking) == 0 {
			break
		}
	}
	return said, nil
}

// differs says in which parts a call differs from the nearest.
func (f *finder) differs(w *wanted) set {
	if w.near == 0 {
		return 0
	}
	return f.compare(w.parts, f.near[w.near-1].parts)
}

// explained is the call as it is shown, with its values and those of the nearest.
func (f *finder) explained(w *wanted, said map[model.Hash]texts) Call {
	g, p := &f.groups[w.group], &f.prompts.all[w.prompt]
	differs := f.differs(w)
	c := Call{
		Hash: w.hash.String(), Dataset: p.dataset, Prompt: p.id, Target: g.Target, Judge: g.Judge,
		Model: f.text(w.parts, modelName), Remembered: w.remembered, Failure: f.failures[w.hash], Differs: differs.list(),
	}
	if w.near == 0 {
		return c
	}
	near := &f.near[w.near-1]
	c.Nearest = near.hash.String()
	for i := range c.Differs {
		d := &c.Differs[i]
		if d.long {
			was, is := around(said[near.hash][d.at], said[w.hash][d.at])
			d.Was, d.Is = []string{was}, []string{is}
		} else {
			d.join(f.text(near.parts, d.at), f.text(w.parts, d.at))
		}
	}
	return c
}
