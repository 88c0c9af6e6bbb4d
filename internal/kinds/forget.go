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
	"strconv"
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
	runs, err3 := m.Runs(ctx)
	if err := errors.Join(err1, err2, err3); err != nil {
		return nil, err
	}
	if slices.ContainsFunc(batches, func(b store.Batch) bool { return b.Open }) {
		return nil, &orbench.InputError{Problem: "a batch is out with a provider, and its answers may have what is to be forgotten", Hint: "collect or cancel it with orbench batch"}
	}
	f.goes = map[[sha256.Size]byte]bool{}
	// without is what the store says of datasets without what goes, by the keys that they have
	// now.
	type dataset struct {
		about    []byte
		was, now string
	}
	without := map[store.Key]dataset{}
	for _, key := range keys {
		before := f.Texts
		for p, err := range m.Prompts(ctx, key) {
			if err != nil {
				return nil, err
			}
			f.count(p)
		}
		if f.Texts == before {
			continue
		}
		kept, err := m.Dataset(ctx, key)
		var d dataset
		if err == nil {
			d.about, d.was, d.now, err = study.Without(kept.About, f.Texts-before, f.left(ctx, m, key))
		}
		if err != nil {
			return nil, err
		}
		without[key] = d
	}
	calls, annotations, err := f.about(ctx, m)
	f.Calls, f.Annotations = len(calls), len(annotations)
	return func() error {
		for key, d := range without {
			if err := m.PutDataset(ctx, d.about, f.left(ctx, m, key)); err != nil {
				return err
			}
			for i := range runs {
				r := &runs[i]
				at := slices.Index(r.Datasets, key)
				if at < 0 {
					continue
				}
				r.Datasets = slices.Clone(r.Datasets)
				r.Datasets[at] = store.KeyOf(d.about)
				// The file is another one then.
				r.Config = bytes.ReplaceAll(r.Config, []byte(d.was), []byte(d.now))
				if err := m.SaveRun(ctx, *r); err != nil {
					return err
				}
			}
		}
		return m.Forget(ctx, slices.Collect(maps.Keys(without)), calls, annotations)
	}, err
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
			all := judged(p).Answers
			stay := slices.DeleteFunc(slices.Clone(all), func(a orbench.Recorded) bool { is, _ := f.said(a); return is })
			if len(all) > 0 && len(stay) == 0 {
				continue
			}
			if len(p.Answers) > 0 {
				p.Answers = stay
			}
			if !yield(p, err) {
				return
			}
		}
	}
}

// count notes the texts of a prompt and of its answers. Of an answer, judges see the part after
// the thinking.
func (f *Forget) count(p orbench.Prompt) {
	p = judged(p)
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

// judged is a prompt with its answers. Those of a study of the kind judge end the conversation
// of the prompt, and its cluster says by whom and when, such as "12 user 0f3a at 1577934245".
func judged(p orbench.Prompt) orbench.Prompt {
	last := len(p.Messages) - 1
	if len(p.Answers) > 0 || last < 0 || p.Messages[last].Role != orbench.Assistant {
		return p
	}
	a := orbench.Recorded{Text: p.Messages[last].Content}
	words := strings.Fields(p.Cluster)
	for i := 1; i+1 < len(words); i += 2 {
		switch words[i] {
		case "user":
			a.User = words[i+1]
		case "at":
			a.Time, _ = strconv.ParseInt(words[i+1], 10, 64)
		}
	}
	if a.User != "" || a.Time != 0 {
		p.Messages, p.Answers = p.Messages[:last], []orbench.Recorded{a}
	}
	return p
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
