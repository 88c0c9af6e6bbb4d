package kinds

import (
	"bytes"
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"iter"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/orbench/orbench"
	"github.com/orbench/orbench/internal/dataset"
	"github.com/orbench/orbench/internal/reply"
	"github.com/orbench/orbench/internal/store"
	"github.com/orbench/orbench/internal/study"
	"github.com/orbench/orbench/model"
)

// Forget says what is taken out of a store: what a user said in files of recorded answers, or
// what was said before a time. Find counts it. Its JSON form is documented in docs/schemas/forgotten.json.
type Forget struct {
	// User is the user's name, as in the column of users; empty for any.
	User string `json:"-"`
	// Before is the zero time for any.
	Before time.Time `json:"-"`

	// Texts are recorded answers.
	Texts int `json:"texts"`
	// Calls had one of these texts, and Annotations were on one.
	Calls       int `json:"calls"`
	Annotations int `json:"annotations"`
	// Unknown texts stay, since the store does not know by whom, or when, they were said.
	Unknown int `json:"unknown"`

	// goes has hashes of texts and what annotations are about: true for what goes, and false
	// for what stays with somebody. lost are the texts of the answers that go.
	goes map[[sha256.Size]byte]bool
	lost []string
}

// Find looks for it in a store: the answers, the calls with their texts, and what failed and
// what people said of these. A text that others said too, and that stays with them, is not
// looked for. What models made of a text in words of their own stays. do takes out what was
// found. If it is killed, the same can be found and done again.
func (f *Forget) Find(ctx context.Context, m *store.Store) (do func() error, err error) {
	batches, err1 := m.Batches(ctx)
	keys, err2 := m.Datasets(ctx)
	if err := errors.Join(err1, err2); err != nil {
		return nil, err
	}
	if slices.ContainsFunc(batches, func(b store.Batch) bool { return b.Open }) {
		return nil, &orbench.InputError{Problem: "a batch is out with a provider, and its answers may have what is to be forgotten", Hint: "collect or cancel it with orbench batch"}
	}
	f.goes = map[[sha256.Size]byte]bool{}
	// loses is how many answers each dataset loses.
	loses := map[store.Key]int{}
	for _, key := range keys {
		before := f.Texts
		for p, err := range m.Prompts(ctx, key) {
			if err != nil {
				return nil, err
			}
			f.count(p)
		}
		if f.Texts > before {
			loses[key] = f.Texts - before
		}
	}
	calls, annotations, err := f.about(ctx, m)
	f.Calls, f.Annotations = len(calls), len(annotations)
	return func() error {
		for key, n := range loses {
			if err := f.shorten(ctx, m, key, n); err != nil {
				return err
			}
		}
		return m.Forget(ctx, slices.Collect(maps.Keys(loses)), calls, annotations)
	}, err
}

// shorten keeps a dataset without so many answers, and names it in the runs that had the whole
// one.
func (f *Forget) shorten(ctx context.Context, m *store.Store, key store.Key, n int) error {
	kept, err1 := m.Dataset(ctx, key)
	runs, err2 := m.Runs(ctx)
	if err := errors.Join(err1, err2); err != nil {
		return err
	}
	about, was, now, err := study.Without(kept.About, n, f.left(ctx, m, key))
	if err == nil {
		err = m.PutDataset(ctx, about, f.left(ctx, m, key))
	}
	for _, r := range runs {
		at := slices.Index(r.Datasets, key)
		if at < 0 || err != nil {
			continue
		}
		r.Datasets = slices.Clone(r.Datasets)
		r.Datasets[at] = store.KeyOf(about)
		// The file is another one then.
		r.Config = bytes.ReplaceAll(r.Config, []byte(was), []byte(now))
		err = m.SaveRun(ctx, r)
	}
	return err
}

// said reports whether an answer is to be forgotten, and whether that is known.
func (f *Forget) said(a orbench.Recorded) (is, known bool) {
	if f.User != "" {
		return a.User == dataset.UserHash(f.User), a.User != ""
	}
	return a.Time != 0 && time.Unix(a.Time, 0).Before(f.Before), a.Time != 0
}

// left are the prompts of a dataset that stay, with the answers that stay. A prompt goes with
// the last of its answers.
func (f *Forget) left(ctx context.Context, m store.Reader, key store.Key) iter.Seq2[orbench.Prompt, error] {
	return func(yield func(orbench.Prompt, error) bool) {
		for p, err := range m.Prompts(ctx, key) {
			stay := slices.DeleteFunc(slices.Clone(p.Answers), func(a orbench.Recorded) bool { is, _ := f.said(a); return is })
			if len(p.Answers) > 0 && len(stay) == 0 {
				continue
			}
			p.Answers = stay
			if !yield(p, err) {
				return
			}
		}
	}
}

// count notes the texts of a prompt and of its answers. Of an answer, judges see the part after
// the thinking.
func (f *Forget) count(p orbench.Prompt) {
	if len(p.Answers) == 0 {
		f.Unknown++
		f.note(p.Messages, false)
	}
	for _, a := range p.Answers {
		goes, known := f.said(a)
		if goes {
			f.Texts++
		} else if !known {
			f.Unknown++
		}
		f.note(append(slices.Clone(p.Messages), orbench.Message{Role: orbench.Assistant, Content: a.Text}), goes)
	}
}

// note notes the texts of a conversation.
func (f *Forget) note(messages []orbench.Message, goes bool) {
	note := func(hash [sha256.Size]byte) {
		was, known := f.goes[hash]
		f.goes[hash] = goes && (was || !known)
	}
	for i, m := range messages {
		said, _ := reply.Kept(m.Content)
		note(orbench.PromptSubject(messages[:i+1]))
		note(orbench.AnswerSubject(messages[:i], said))
		said = strings.TrimSpace(said)
		note(sha256.Sum256([]byte(said)))
		if goes && said != "" {
			f.lost = append(f.lost, said)
		}
	}
}

// leastWithin is the length from which a text is looked for within lines. A shorter one must
// be whole lines: "ok" is in many words.
const leastWithin = 16

// about lists the calls and annotations that have the lost texts which stay with nobody.
func (f *Forget) about(ctx context.Context, m store.Reader) (calls []model.Hash, annotations [][sha256.Size]byte, err error) {
	var wanted []string
	for _, text := range f.lost {
		if !f.goes[sha256.Sum256([]byte(text))] {
			continue
		}
		if len(text) < leastWithin {
			text = "\n" + text + "\n"
		}
		wanted = append(wanted, text, "")
	}
	without := strings.NewReplacer(wanted...)
	in := func(message orbench.Message) bool {
		text := "\n" + strings.TrimSpace(message.Content) + "\n"
		return without.Replace(text) != text
	}
	for r, err := range m.AllRecords(ctx) {
		var request model.Request
		if err := cmp.Or(err, json.Unmarshal(r.Request, &request)); err != nil {
			return nil, nil, err
		}
		if slices.ContainsFunc(request.Messages, in) {
			calls = append(calls, r.Hash)
		}
	}
	failures, err1 := m.AllFailures(ctx)
	for _, failed := range failures {
		if in(orbench.Message{Content: failed.Message}) {
			calls = append(calls, failed.Hash)
		}
	}
	all, err2 := m.Annotations(ctx)
	for _, a := range all {
		if f.goes[a.Subject] {
			annotations = append(annotations, a.ID())
		}
	}
	return calls, annotations, errors.Join(err1, err2)
}
