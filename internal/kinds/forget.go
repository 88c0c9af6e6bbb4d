package kinds

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/orbench/orbench"
	"github.com/orbench/orbench/internal/dataset"
	"github.com/orbench/orbench/internal/recorded"
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

// Forgotten is what is taken out of a store. Its JSON form is documented in docs/schemas/forgotten.json.
type Forgotten struct {
	// Answers were kept of judged files, Prompts of datasets.
	Answers int `json:"answers"`
	Prompts int `json:"prompts"`
	// Calls are requests with their responses that had the text of one of these.
	Calls       int `json:"calls"`
	Failures    int `json:"failures"`
	Annotations int `json:"annotations"`
	// Unknown counts what stays since the store does not know by whom, or when, it was said.
	Unknown int `json:"unknown"`
	// Studies names those whose figures are without it from then on.
	Studies []string `json:"studies"`
	// Commands made the studies. They name the files that these were made from, which may
	// still have it, and may have written other files.
	Commands []string `json:"commands"`
}

// Find looks for it in a store, and gives what the store is to take out: the kept answers and
// prompts, the calls with their texts, and what failed and what people said of these. A text
// that others said too, and that stays with them, is not looked for. What models made of a
// text in words of their own stays.
func (f Forget) Find(ctx context.Context, m store.Reader) (out store.Forgetting, found Forgotten, err error) {
	found.Studies, found.Commands = []string{}, []string{}
	batches, err := m.Batches(ctx)
	if err != nil {
		return out, found, err
	}
	if slices.ContainsFunc(batches, func(b store.Batch) bool { return b.Open }) {
		return out, found, &orbench.InputError{Problem: "a batch is out with a provider, and its answers may have what is to be forgotten", Hint: "collect or cancel it with orbench batch"}
	}
	keys, err := m.Datasets(ctx)
	if err != nil {
		return out, found, err
	}
	texts, abouts := texts{left: map[[sha256.Size]byte]bool{}, subjects: map[orbench.Subject]bool{}}, map[store.Key][]byte{}
	for _, key := range keys {
		change, err := f.dataset(ctx, m, key, &texts, &found)
		if err != nil {
			return out, found, err
		}
		if change.About != nil {
			abouts[key] = change.About
			out.Datasets = append(out.Datasets, change)
		}
	}
	if len(abouts) > 0 {
		if out.Runs, err = without(ctx, m, abouts, &found); err == nil {
			err = texts.find(ctx, m, &out)
		}
	}
	found.Calls, found.Failures, found.Annotations = len(out.Calls), len(out.Failures), len(out.Annotations)
	return out, found, err
}

// said reports whether a kept prompt is to be forgotten, and whether that is known. answers is
// true for those of a judged file.
func (f Forget) said(p orbench.Prompt, answers bool) (is, known bool, err error) {
	user, name, at := p.Cluster, f.User, time.Time{}
	if answers {
		a, err := dataset.AnswerOf(p, 0)
		if err != nil {
			return false, false, err
		}
		user, name, at = a.User, dataset.UserHash(f.User), a.Time
	}
	if f.User != "" {
		return user == name, user != "", nil
	}
	return !at.IsZero() && at.Before(f.Before), !at.IsZero(), nil
}

// dataset notes the texts of a dataset that are lost and those that stay. It returns what
// comes in its place, nothing if it stays as it is.
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
	at, lost := 0, map[int]bool{}
	for p, err := range m.Prompts(ctx, key) {
		if err != nil {
			return r, err
		}
		is, known, err := f.said(p, answers)
		if err != nil {
			return r, err
		}
		if is {
			lost[at] = true
		}
		if !known {
			found.Unknown++
		}
		texts.add(p, is)
		at++
	}
	if len(lost) == 0 {
		return r, nil
	}
	r.Old, r.Prompts = key, func(yield func(orbench.Prompt, error) bool) {
		at := 0
		for p, err := range m.Prompts(ctx, key) {
			if !lost[at] && !yield(p, err) {
				return
			}
			at++
		}
	}
	if answers {
		found.Answers += len(lost)
		r.About, err = recorded.Without(d.About, r.Prompts)
	} else {
		found.Prompts += len(lost)
		r.About, err = study.WithoutPrompts(d.About, r.Prompts)
	}
	return r, err
}

// without returns the studies of datasets that lose prompts as they are from then on.
func without(ctx context.Context, m store.Reader, abouts map[store.Key][]byte, found *Forgotten) (changed []store.Run, err error) {
	runs, err := m.Runs(ctx)
	if err != nil {
		return nil, err
	}
	for _, r := range runs {
		of, err := study.Of(r)
		if err != nil {
			return nil, err
		}
		concerned := false
		for i, key := range r.Datasets {
			about := abouts[key]
			if about == nil {
				continue
			}
			concerned, r.Datasets[i] = true, store.KeyOf(about)
			if of.Kind == study.Judge {
				if r.Config, err = recorded.Judging(r.Config, about); err != nil {
					return nil, err
				}
			}
		}
		if !concerned {
			continue
		}
		changed = append(changed, r)
		found.Studies = append(found.Studies, r.Name)
		for _, c := range of.History.Commands {
			found.Commands = append(found.Commands, c.Line)
		}
	}
	slices.Sort(found.Commands)
	found.Commands = slices.Compact(found.Commands)
	return changed, nil
}

// texts are those that are looked for in calls.
type texts struct {
	// left has the hashes of texts that stay with somebody.
	left map[[sha256.Size]byte]bool
	// lost are the messages that go. subjects is true for what annotations of them are about,
	// and false for what stays with somebody.
	lost     []string
	subjects map[orbench.Subject]bool
}

// leastWithin is the length from which a text is looked for within lines. A shorter one must
// be whole lines: "ok" is in many words.
const leastWithin = 16

// add notes the texts of a prompt that is lost or stays. Of an answer, judges see the part
// after the thinking.
func (t *texts) add(p orbench.Prompt, lost bool) {
	for _, m := range p.Messages {
		said, _ := model.CutThinking(m.Content)
		for _, text := range []string{strings.TrimSpace(m.Content), strings.TrimSpace(said)} {
			if lost {
				t.lost = append(t.lost, text)
			} else {
				t.left[sha256.Sum256([]byte(text))] = true
			}
		}
	}
	t.about(orbench.PromptSubject(p.Messages), lost)
	if n := len(p.Messages) - 1; n >= 0 && p.Messages[n].Role == orbench.Assistant {
		said, _ := model.CutThinking(p.Messages[n].Content)
		t.about(orbench.PromptSubject(p.Messages[:n]), lost)
		t.about(orbench.AnswerSubject(p.Messages[:n], said), lost)
	}
}

// about notes a subject of annotations that is lost or stays.
func (t *texts) about(s orbench.Subject, lost bool) {
	if was, known := t.subjects[s]; !known || was {
		t.subjects[s] = lost
	}
}

// find lists the calls, failures and annotations that have the lost texts which stay with
// nobody.
func (t *texts) find(ctx context.Context, m store.Reader, out *store.Forgetting) error {
	var wanted []string
	for _, text := range t.lost {
		if text == "" || t.left[sha256.Sum256([]byte(text))] {
			continue
		}
		if len(text) < leastWithin {
			text = "\n" + text + "\n"
		}
		wanted = append(wanted, text, "")
	}
	without := strings.NewReplacer(wanted...)
	in := func(message string) bool {
		message = "\n" + strings.TrimSpace(message) + "\n"
		return without.Replace(message) != message
	}
	for r, err := range m.AllRecords(ctx) {
		if err != nil {
			return err
		}
		var request model.Request
		if err := json.Unmarshal(r.Request, &request); err != nil {
			return fmt.Errorf("read a call: %w", err)
		}
		if slices.ContainsFunc(request.Messages, func(one orbench.Message) bool { return in(one.Content) }) {
			out.Calls = append(out.Calls, r.Hash)
			t.about(orbench.PromptSubject(request.Messages), true)
			t.about(orbench.AnswerSubject(request.Messages, r.Response.Text), true)
		}
	}
	failures, err := m.AllFailures(ctx)
	if err != nil {
		return err
	}
	for _, failed := range failures {
		if in(failed.Message) {
			out.Failures = append(out.Failures, failed.Hash)
		}
	}
	annotations, err := m.Annotations(ctx)
	for _, a := range annotations {
		if t.subjects[a.Subject] {
			out.Annotations = append(out.Annotations, a.ID())
		}
	}
	return err
}
