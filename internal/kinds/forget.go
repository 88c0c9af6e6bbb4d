package kinds

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"iter"
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

// Forget says what is taken out of a store: what a user said, what was said before a time, or
// with both what the user said before it.
type Forget struct {
	// User is the user's name, as in the column of users or the cluster of a prompt; empty
	// for any.
	User string
	// Before is the zero time for any.
	Before time.Time
}

// Forgotten is what was taken out of a store. Its JSON form is documented in docs/schemas/forgotten.json.
type Forgotten struct {
	// Answers were kept of judged files, Prompts of datasets.
	Answers int `json:"answers"`
	Prompts int `json:"prompts"`
	// Calls are requests with their responses that had the text of one of these.
	Calls       int `json:"calls"`
	Failures    int `json:"failures"`
	Annotations int `json:"annotations"`
	// Undated and Unnamed count what stays since the store does not know when it was said, or
	// by whom.
	Undated int `json:"undated"`
	Unnamed int `json:"unnamed"`
	// Studies names those whose figures are without it from now on, and Files the files that
	// they were made from, which may still have it.
	Studies []string `json:"studies"`
	Files   []string `json:"files"`
	// Commands made the studies, and may have written other files.
	Commands []string `json:"commands"`
}

// said reports whether a kept prompt is to be forgotten. answers is true for those of a judged
// file.
func (f Forget) said(p orbench.Prompt, answers bool, done *Forgotten) (bool, error) {
	user, name, at := p.Cluster, f.User, time.Time{}
	if answers {
		a, err := dataset.AnswerOf(p, 0)
		if err != nil {
			return false, err
		}
		user, name, at = a.User, dataset.UserHash(f.User), a.Time
	}
	switch {
	case f.User != "" && user == "":
		done.Unnamed++
		return false, nil
	case f.User != "" && user != name:
		return false, nil
	case !f.Before.IsZero() && at.IsZero():
		done.Undated++
		return false, nil
	}
	return f.Before.IsZero() || at.Before(f.Before), nil
}

// From takes it out of a store: the kept answers and prompts, the calls with their texts, and
// what failed and what people said of these. A text that others said too, and that stays with
// them, is not looked for. What models made of a text in words of their own stays. The store
// is packed in any case, so that a command that was killed is finished by another.
func (f Forget) From(ctx context.Context, m *store.Store) (done Forgotten, err error) {
	done.Studies, done.Files, done.Commands = []string{}, []string{}, []string{}
	if err := nothingOut(ctx, m); err != nil {
		return done, err
	}
	keys, err := m.Datasets(ctx)
	if err != nil {
		return done, err
	}
	var out store.Forgetting
	lost, abouts := newTexts(), map[store.Key][]byte{}
	for _, key := range keys {
		about, err := f.dataset(ctx, m, key, lost, &done)
		if err != nil {
			return done, err
		}
		if about != nil {
			abouts[key] = about
			out.Datasets = append(out.Datasets, store.Replacement{Old: key, About: about, Prompts: f.left(ctx, m, key)})
		}
	}
	if len(abouts) > 0 {
		if out.Runs, err = without(ctx, m, abouts, &done); err != nil {
			return done, err
		}
		if err := lost.find(ctx, m, &out); err != nil {
			return done, err
		}
		done.Calls, done.Failures, done.Annotations = len(out.Calls), len(out.Failures), len(out.Annotations)
		if err := m.Forget(ctx, out); err != nil {
			return done, err
		}
	}
	return done, m.Vacuum(ctx)
}

// nothingOut is an error while calls are out in a batch: their answers would come back.
func nothingOut(ctx context.Context, m store.Reader) error {
	batches, err := m.Batches(ctx)
	if err != nil {
		return err
	}
	for _, b := range batches {
		if b.Open {
			return &orbench.InputError{Problem: "a batch is out with a provider, and its answers may have what is to be forgotten", Hint: "collect or cancel it with orbench batch"}
		}
	}
	return nil
}

// isAnswers reports whether what a store says of a dataset is about the answers of a judged
// file.
func isAnswers(about []byte) bool {
	var of struct {
		Kept *string `json:"kept_sha256"`
	}
	return json.Unmarshal(about, &of) == nil && of.Kept != nil
}

// dataset notes the texts of a dataset that are lost and those that stay. It returns what the
// store then says of the dataset, nil if it stays as it is.
func (f Forget) dataset(ctx context.Context, m store.Reader, key store.Key, texts *texts, done *Forgotten) ([]byte, error) {
	d, err := m.Dataset(ctx, key)
	if err != nil {
		return nil, err
	}
	if d.Lost > 0 {
		return nil, &orbench.InputError{Problem: fmt.Sprintf("damage to the store lost %d prompts of a dataset", d.Lost), Hint: "bring them back with the same orbench eval, then forget"}
	}
	answers := isAnswers(d.About)
	lost := 0
	for p, err := range m.Prompts(ctx, key) {
		var is bool
		if err == nil {
			is, err = f.said(p, answers, done)
		}
		if err != nil {
			return nil, err
		}
		if is {
			lost++
		}
		texts.add(p, is)
	}
	switch {
	case lost == 0:
		return nil, nil
	case answers:
		done.Answers += lost
		return recorded.Without(d.About, f.left(ctx, m, key))
	}
	done.Prompts += lost
	return study.WithoutPrompts(d.About, f.left(ctx, m, key))
}

// left streams the prompts of a dataset that stay.
func (f Forget) left(ctx context.Context, m store.Reader, key store.Key) iter.Seq2[orbench.Prompt, error] {
	return func(yield func(orbench.Prompt, error) bool) {
		d, err := m.Dataset(ctx, key)
		if err != nil {
			yield(orbench.Prompt{}, err)
			return
		}
		answers := isAnswers(d.About)
		for p, err := range m.Prompts(ctx, key) {
			lost := false
			if err == nil {
				lost, err = f.said(p, answers, &Forgotten{})
			}
			if !lost && !yield(p, err) || err != nil {
				return
			}
		}
	}
}

// without returns the studies of datasets that lose prompts as they are from then on.
func without(ctx context.Context, m store.Reader, abouts map[store.Key][]byte, done *Forgotten) (changed []store.Run, err error) {
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
		done.Studies = append(done.Studies, r.Name)
		for _, file := range filesOf(r.Config) {
			if !slices.Contains(done.Files, file) {
				done.Files = append(done.Files, file)
			}
		}
		for _, c := range of.History.Commands {
			if !slices.Contains(done.Commands, c.Line) {
				done.Commands = append(done.Commands, c.Line)
			}
		}
	}
	return changed, nil
}

// filesOf lists the files that the settings of a study name.
func filesOf(config []byte) (files []string) {
	var of struct {
		Responses string          `json:"responses"`
		Datasets  []study.Dataset `json:"datasets"`
	}
	if json.Unmarshal(config, &of) != nil {
		return nil // of another kind
	}
	if of.Responses != "" {
		files = append(files, of.Responses)
	}
	for _, d := range of.Datasets {
		if !dataset.IsName(d.Ref) {
			files = append(files, d.Ref)
		}
	}
	return files
}

// texts are those that are looked for in calls.
type texts struct {
	// left has the hashes of texts that stay with somebody.
	left map[[16]byte]bool
	// lost are the messages that go. subjects is true for what annotations of them are about,
	// and false for what stays with somebody.
	lost     []string
	subjects map[orbench.Subject]bool
	// byStart has the longer texts by their first bytes, and short the others.
	byStart map[string][]string
	short   map[string]bool
}

// startBytes is the length from which a text is looked for within messages. A shorter one
// must be a whole message or line: "ok" is in many words.
const startBytes = 16

func newTexts() *texts {
	return &texts{left: map[[16]byte]bool{}, subjects: map[orbench.Subject]bool{}, byStart: map[string][]string{}, short: map[string]bool{}}
}

func hashOf(text string) [16]byte {
	sum := sha256.Sum256([]byte(text))
	return [16]byte(sum[:])
}

// add notes the texts of a prompt that is lost or stays. Of an answer, judges see the part
// after the thinking.
func (t *texts) add(p orbench.Prompt, lost bool) {
	for _, m := range p.Messages {
		said, _ := model.CutThinking(m.Content)
		for _, text := range []string{strings.TrimSpace(m.Content), strings.TrimSpace(said)} {
			if lost {
				t.lost = append(t.lost, text)
			} else {
				t.left[hashOf(text)] = true
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
	for _, text := range t.lost {
		switch {
		case text == "" || t.left[hashOf(text)]:
		case len(text) < startBytes:
			t.short[text] = true
		default:
			t.byStart[text[:startBytes]] = append(t.byStart[text[:startBytes]], text)
		}
	}
	for r, err := range m.AllRecords(ctx) {
		if err != nil {
			return err
		}
		var request model.Request
		if err := json.Unmarshal(r.Request, &request); err != nil {
			return fmt.Errorf("read a call: %w", err)
		}
		if slices.ContainsFunc(request.Messages, func(one orbench.Message) bool { return t.in(one.Content) }) {
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
		if t.in(failed.Message) {
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

// in reports whether a message has one of the texts.
func (t *texts) in(message string) bool {
	if t.short[strings.TrimSpace(message)] {
		return true
	}
	for line := range strings.Lines(message) {
		if t.short[strings.TrimSpace(line)] {
			return true
		}
	}
	for i := 0; i+startBytes <= len(message); i++ {
		for _, text := range t.byStart[message[i:i+startBytes]] {
			if strings.HasPrefix(message[i:], text) {
				return true
			}
		}
	}
	return false
}
