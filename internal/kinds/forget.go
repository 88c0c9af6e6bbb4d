package kinds

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/orbench/orbench"
	"github.com/orbench/orbench/internal/dataset"
	"github.com/orbench/orbench/internal/recorded"
	"github.com/orbench/orbench/internal/reply"
	"github.com/orbench/orbench/internal/store"
	"github.com/orbench/orbench/internal/study"
	"github.com/orbench/orbench/model"
)

// Forget says what is taken out of a store: what a user said, or what was said before a time.
type Forget struct {
	// User is the user's name, as in the column of users or the cluster of a prompt; empty
	// for any.
	User string
	// Before is the zero time for any.
	Before time.Time
}

// Forgotten counts what is taken out of a store. Its JSON form is documented in docs/schemas/forgotten.json.
type Forgotten struct {
	// Texts are answers of judged files and prompts of datasets.
	Texts int `json:"texts"`
	// Calls had one of these texts, and Annotations were on one.
	Calls       int `json:"calls"`
	Annotations int `json:"annotations"`
	// Unknown texts stay, since the store does not know by whom, or when, they were said.
	Unknown int `json:"unknown"`
}

// Find looks for it in a store, and gives what the store is to take out: the kept answers and
// prompts, the calls with their texts, and what failed and what people said of these. A text
// that others said too, and that stays with them, is not looked for. What models made of a
// text in words of their own stays.
func (f Forget) Find(ctx context.Context, m store.Reader) (out store.Forgetting, found Forgotten, err error) {
	batches, err1 := m.Batches(ctx)
	keys, err2 := m.Datasets(ctx)
	runs, err3 := m.Runs(ctx)
	if err := errors.Join(err1, err2, err3); err != nil {
		return out, found, err
	}
	if slices.ContainsFunc(batches, func(b store.Batch) bool { return b.Open }) {
		return out, found, &orbench.InputError{Problem: "a batch is out with a provider, and its answers may have what is to be forgotten", Hint: "collect or cancel it with orbench batch"}
	}
	texts := texts{goes: map[[sha256.Size]byte]bool{}}
	out.Datasets = map[store.Key]store.Replacement{}
	for _, key := range keys {
		r, err := f.dataset(ctx, m, key, &texts, &found)
		if err != nil {
			return out, found, err
		}
		if r.About != nil {
			out.Datasets[key] = r
		}
	}
	for _, r := range runs {
		changed, err := without(&r, out.Datasets)
		if err != nil {
			return out, found, err
		}
		if changed {
			out.Runs = append(out.Runs, r)
		}
	}
	err = texts.find(ctx, m, &out)
	found.Calls, found.Annotations = len(out.Calls), len(out.Annotations)
	return out, found, err
}

// said reports whether a kept prompt is to be forgotten, and whether that is known. answers is
// true for those of a judged file.
func (f Forget) said(p orbench.Prompt, answers bool) (is, known bool) {
	user, name, at := p.Cluster, f.User, time.Time{}
	if answers {
		a, _ := dataset.AnswerOf(p, 0) // one that cannot be read has no user and no time
		user, name, at = a.User, dataset.UserHash(f.User), a.Time
	}
	if f.User != "" {
		return user == name, user != ""
	}
	return !at.IsZero() && at.Before(f.Before), !at.IsZero()
}

// dataset notes the texts of a dataset that go and those that stay. It returns what comes in
// its place, nothing if it stays as it is.
func (f Forget) dataset(ctx context.Context, m store.Reader, key store.Key, texts *texts, found *Forgotten) (r store.Replacement, err error) {
	d, err := m.Dataset(ctx, key)
	if err != nil {
		return r, err
	}
	if d.Lost > 0 {
		return r, &orbench.InputError{Problem: fmt.Sprintf("damage to the store lost %d prompts of a dataset", d.Lost), Hint: "bring them back with the same orbench eval, then forget"}
	}
	// What a store says of the answers of a judged file has their hash.
	var of struct {
		Kept *string `json:"kept_sha256"`
	}
	answers := json.Unmarshal(d.About, &of) == nil && of.Kept != nil
	before := found.Texts
	for p, err := range m.Prompts(ctx, key) {
		if err != nil {
			return r, err
		}
		is, known := f.said(p, answers)
		if is {
			found.Texts++
		}
		if !known {
			found.Unknown++
		}
		texts.add(p, is)
	}
	if found.Texts == before {
		return r, nil
	}
	r.Prompts = func(yield func(orbench.Prompt, error) bool) {
		for p, err := range m.Prompts(ctx, key) {
			if is, _ := f.said(p, answers); !is && !yield(p, err) {
				return
			}
		}
	}
	fewer := study.WithoutPrompts
	if answers {
		fewer = recorded.Without
	}
	r.About, err = fewer(d.About, r.Prompts)
	return r, err
}

// without makes a study one of the datasets that have fewer prompts. It reports whether it is
// of one.
func without(r *store.Run, datasets map[store.Key]store.Replacement) (changed bool, err error) {
	of, err := study.Of(*r)
	for i, key := range r.Datasets {
		d, ok := datasets[key]
		if !ok || err != nil {
			continue
		}
		changed, r.Datasets[i] = true, store.KeyOf(d.About)
		if of.Kind == study.Judge {
			r.Config, err = recorded.Judging(r.Config, d.About)
		}
	}
	return changed, err
}

// texts are those of a store.
type texts struct {
	// goes has hashes of texts and what annotations are about: true for what goes, and false
	// for what stays with somebody.
	goes map[[sha256.Size]byte]bool
	lost []string
}

func (t *texts) note(hash [sha256.Size]byte, goes bool) {
	if was, known := t.goes[hash]; !known || was {
		t.goes[hash] = goes
	}
}

// leastWithin is the length from which a text is looked for within lines. A shorter one must
// be whole lines: "ok" is in many words.
const leastWithin = 16

// add notes the texts of a prompt that is lost or stays. Of an answer, judges see the part
// after the thinking.
func (t *texts) add(p orbench.Prompt, lost bool) {
	for _, m := range p.Messages {
		said, _ := reply.Kept(m.Content)
		for _, text := range []string{strings.TrimSpace(m.Content), strings.TrimSpace(said)} {
			t.note(sha256.Sum256([]byte(text)), lost)
			if lost && text != "" {
				t.lost = append(t.lost, text)
			}
		}
	}
	t.note(orbench.PromptSubject(p.Messages), lost)
	if n := len(p.Messages) - 1; n >= 0 && p.Messages[n].Role == orbench.Assistant {
		said, _ := reply.Kept(p.Messages[n].Content)
		t.note(orbench.PromptSubject(p.Messages[:n]), lost)
		t.note(orbench.AnswerSubject(p.Messages[:n], said), lost)
	}
}

// find lists the calls and annotations that have the lost texts which stay with nobody.
func (t *texts) find(ctx context.Context, m store.Reader, out *store.Forgetting) error {
	var wanted []string
	for _, text := range t.lost {
		if !t.goes[sha256.Sum256([]byte(text))] {
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
			return fmt.Errorf("read a call: %w", err)
		}
		if slices.ContainsFunc(request.Messages, in) {
			out.Calls = append(out.Calls, r.Hash)
			t.note(orbench.PromptSubject(request.Messages), true)
			t.note(orbench.AnswerSubject(request.Messages, r.Response.Text), true)
		}
	}
	failures, err1 := m.AllFailures(ctx)
	for _, failed := range failures {
		if in(orbench.Message{Content: failed.Message}) {
			out.Calls = append(out.Calls, failed.Hash)
		}
	}
	annotations, err2 := m.Annotations(ctx)
	for _, a := range annotations {
		if t.goes[a.Subject] {
			out.Annotations = append(out.Annotations, a.ID())
		}
	}
	return errors.Join(err1, err2)
}
