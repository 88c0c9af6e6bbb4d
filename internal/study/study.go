package study

import (
	"bytes"
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/orbench/orbench"
	"github.com/orbench/orbench/internal/fill"
	"github.com/orbench/orbench/internal/price"
	"github.com/orbench/orbench/internal/provenance"
	"github.com/orbench/orbench/internal/settings"
	"github.com/orbench/orbench/internal/store"
	"github.com/orbench/orbench/internal/table"
)

// Kind is what a study asks.
type Kind string

// The kinds. A study of the kind Eval is called a run; its settings do not name the kind.
const (
	Eval     Kind = "eval"
	Moderate Kind = "moderate"
	Build    Kind = "build"
)

// The kinds that are gone. Stores keep such studies, and lists name them.
const (
	Judge    Kind = "judge"
	Contrast Kind = "contrast"
	Export   Kind = "export"
	Triggers Kind = "triggers"
)

// Gone names the last program that shows studies of the kind, empty for a kind that is not
// gone.
func (k Kind) Gone() string {
	switch k {
	case Judge:
		return "the orbench of commit a98e2c69"
	case Contrast, Export, Triggers:
		return provenance.LastToShow
	}
	return ""
}

// Study says which models are asked, in which roles, and about which prompts. One that was
// found in a store has no other functions.
type Study struct {
	Name string
	Kind Kind
	// Config is the JSON of the settings, with the kind as "kind".
	Config []byte
	// Keys are those of the datasets that it asks; see store.Run.
	Keys []store.Key
	// History says how it was made.
	History provenance.History
	// Saved is when it was last started.
	Saved time.Time
	// shares are those that the history has taken in.
	shares []store.Share

	// Keep has a store keep the prompts that it asks, and gives their keys; nil keeps none.
	Keep func(context.Context, store.Keeper) ([]store.Key, error)
	// Adopt takes from a kept study of its name what the settings leave open; it may be
	// nil.
	Adopt func(kept *Study) error
	// Redefines lists what it would remove from or change in a kept study of its name; one that
	// was found redefines nothing.
	Redefines func(ctx context.Context, kept *Study) []string
	// Leaves says which part of a kept study it does not show, although it changes nothing;
	// nil if it shows all.
	Leaves func(kept *Study) string
}

// New makes a study of a kind from its settings. If name is empty, the name is made from
// identity, so that the same settings give the same study.
func New(kind Kind, name string, config, identity any) (*Study, error) {
	s := &Study{Name: name, Kind: kind}
	var err error
	if s.Config, err = json.Marshal(config); err != nil {
		return nil, err
	}
	if name == "" {
		s.Name, err = NameOf(kind, identity)
	}
	s.Redefines = func(_ context.Context, kept *Study) []string { return Differences(s.Config, kept.Config) }
	return s, err
}

// NameOf makes a name from what identifies a study.
func NameOf(kind Kind, identity any) (string, error) {
	b, err := json.Marshal(identity)
	if err != nil {
		return "", err
	}
	sum := sha256.Sum256(b)
	prefix := string(kind)
	if kind == Eval {
		prefix = "run"
	}
	return prefix + "-" + hex.EncodeToString(sum[:4]), nil
}

// Settings reads the settings of a study that a store keeps.
func (s *Study) Settings(into any) error {
	if err := json.Unmarshal(s.Config, into); err != nil {
		return fmt.Errorf("the configuration of study %s is damaged: %w", s.Name, err)
	}
	return nil
}

// Noun is what a study of the kind is called.
func (k Kind) Noun() string {
	if k == Eval {
		return "run"
	}
	return "study"
}

// Of is a study as a store has it.
func Of(r store.Run) (*Study, error) {
	s := &Study{Name: r.Name, Config: r.Config, Keys: r.Datasets, Saved: r.Saved}
	s.Redefines = func(context.Context, *Study) []string { return nil }
	var of struct {
		Kind Kind `json:"kind"`
	}
	if err := json.Unmarshal(r.Config, &of); err != nil {
		return s, fmt.Errorf("the configuration of run %s is damaged: %w", r.Name, err)
	}
	s.Kind = cmp.Or(of.Kind, Eval)
	if len(r.Made) > 0 {
		if err := json.Unmarshal(r.Made, &s.History); err != nil {
			return s, fmt.Errorf("how run %s was made is damaged: %w", r.Name, err)
		}
	}
	return s, nil
}

// List gives the studies of a store of some kinds, of all without any, the one saved last
// first.
func List(ctx context.Context, m store.Reader, kinds ...Kind) (all []*Study, err error) {
	runs, err := m.Runs(ctx)
	if err != nil {
		return nil, err
	}
	for _, r := range runs {
		s, err := Of(r)
		if err != nil {
			return nil, err
		}
		if len(kinds) == 0 || slices.Contains(kinds, s.Kind) {
			all = append(all, s)
		}
	}
	return all, nil
}

// Find finds a study by its name, of the given kinds, or of any kind if none is given. The
// empty name means the study saved last, or the run saved last if there is a run. The error
// is an *orbench.InputError where the store has none.
func Find(ctx context.Context, m store.Reader, name string, kinds ...Kind) (*Study, error) {
	if name == "" {
		return newest(ctx, m, kinds)
	}
	r, err := m.Run(ctx, name)
	if errors.Is(err, store.ErrNoRun) {
		return nil, none(ctx, m, name, kinds)
	}
	if err != nil {
		return nil, err
	}
	s, err := Of(r)
	if err == nil {
		err = s.takeIn(ctx, m)
	}
	if err == nil && len(kinds) > 0 && !slices.Contains(kinds, s.Kind) {
		hint := "show it with orbench report, or name a run"
		if s.Kind == Build {
			hint += "; orbench export takes the folder of a benchmark"
		}
		return nil, &orbench.InputError{Problem: fmt.Sprintf("holds %q, but it is not a run; orbench %s made it", name, s.Kind), Hint: hint}
	}
	return s, err
}

// newest is the study of some kinds that was saved last, or the run saved last if there is
// a run.
func newest(ctx context.Context, m store.Reader, kinds []Kind) (*Study, error) {
	// Most often it is the newest of all, and then the others need not be read.
	r, err := m.Run(ctx, "")
	if errors.Is(err, store.ErrNoRun) {
		return nil, none(ctx, m, "", kinds)
	}
	if err != nil {
		return nil, err
	}
	s, err := Of(r)
	if err != nil || s.Kind == Eval && (len(kinds) == 0 || slices.Contains(kinds, Eval)) {
		return s, errors.Join(err, s.takeIn(ctx, m))
	}
	all, err := List(ctx, m, kinds...)
	if err != nil {
		return nil, err
	}
	if len(all) == 0 {
		return nil, none(ctx, m, "", kinds)
	}
	s = all[max(0, slices.IndexFunc(all, func(s *Study) bool { return s.Kind == Eval }))]
	return s, s.takeIn(ctx, m)
}

// none is the error for a study that the store does not hold.
func none(ctx context.Context, m store.Reader, name string, kinds []Kind) error {
	const shown = 10
	all, err := List(ctx, m, kinds...)
	if err != nil {
		return err
	}
	if len(all) == 0 {
		return &orbench.InputError{Problem: "holds no run", Hint: "make one with orbench eval, or name another store with `store`"}
	}
	known := table.RowsOf(all, func(s *Study) string { return s.Name })
	hint := "it holds " + strings.Join(known[:min(shown, len(known))], ", ")
	if len(known) > shown {
		hint += ", …"
	}
	if near := settings.Nearest(name, known); near != "" {
		hint = fmt.Sprintf("did you mean %q? %s", near, hint)
	} else if strings.Contains(name, ",") {
		hint = "separate several names by spaces; " + hint
	}
	return &orbench.InputError{Problem: fmt.Sprintf("holds no run named %q", name), Hint: hint}
}

// Stored is the study as a store keeps it.
func (s *Study) Stored() (store.Run, error) {
	made, err := json.Marshal(s.History)
	return store.Run{Name: s.Name, Config: s.Config, Datasets: s.Keys, Made: made, Saved: s.Saved}, err
}

// Save keeps the study as it was started at a time, with the prompts that it asks,
// replacing the one of its name.
func (s *Study) Save(ctx context.Context, m store.Keeper, started time.Time) (err error) {
	s.Saved = started
	if s.Keys, err = s.Keep(ctx, m); err != nil {
		return err
	}
	return s.put(ctx, m)
}

// put keeps the study without its prompts, which are kept.
func (s *Study) put(ctx context.Context, m store.Keeper) error {
	kept, err := s.Stored()
	if err != nil {
		return err
	}
	return m.SaveRun(ctx, kept)
}

// Start keeps the study when a command begins to ask for it, with the prices that the
// command uses. The history of a kept study of its name continues, unless it is redefined.
// A command that does not change the study enters the history when it pays for a call; see
// Paid.
func (s *Study) Start(ctx context.Context, m *store.Store, c provenance.Command, prices []price.Price) error {
	kept, err := s.Resume(ctx, m)
	if err != nil {
		return err
	}
	if len(s.History.Commands) == 0 || kept == nil || !bytes.Equal(kept.Config, s.Config) {
		s.History.Start(c)
	}
	s.History.Prices = nil
	if len(prices) > 0 {
		if s.History.Prices, err = json.Marshal(prices); err != nil {
			return err
		}
	}
	return s.Save(ctx, m, time.Now().UTC())
}

// Restore keeps the study as the store had it before a command that was refused, with the history
// of now.
func (s *Study) Restore(ctx context.Context, m store.Keeper, was store.Run) error {
	s.Config, s.Keys, s.Saved = was.Config, was.Datasets, was.Saved
	return s.put(ctx, m)
}

// Resume continues the history of the kept study of its name, unless it redefines that
// study. It gives the kept study, nil where there is none.
func (s *Study) Resume(ctx context.Context, m store.Reader) (*Study, error) {
	kept, err := s.kept(ctx, m)
	if err == nil && kept != nil && kept.Kind == s.Kind && len(s.Redefines(ctx, kept)) == 0 {
		s.History = kept.History
	}
	if kept != nil {
		s.shares = kept.shares
	}
	return kept, err
}

// kept is the study of its name that a store has, nil for none.
func (s *Study) kept(ctx context.Context, m store.Reader) (*Study, error) {
	r, err := m.Run(ctx, s.Name)
	if errors.Is(err, store.ErrNoRun) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	of, err := Of(r)
	if err == nil {
		err = of.takeIn(ctx, m)
	}
	return of, err
}

// Paid keeps that the command paid for calls, the last of them at a time, and what attempts
// without a reply may have cost.
func (s *Study) Paid(ctx context.Context, m *store.Store, c provenance.Command, at time.Time) error {
	kept, err := s.kept(ctx, m)
	if err != nil {
		return err
	}
	if kept == nil {
		return fmt.Errorf("%s: %w", s.Name, store.ErrNoRun)
	}
	for _, f := range kept.History.Failed {
		s.History.Fail(f)
	}
	s.History.Start(c)
	s.History.LastPaid = at
	return s.put(ctx, m)
}

// account names the account of the study; judging is true for that of commands that ask judges
// alone.
func (s *Study) account(judging bool) string {
	if judging {
		return s.Name + "\njudging"
	}
	return s.Name
}

// Account opens the account of the study for a command that has started it. saysBefore is
// true where the command goes on to say what was spent before.
func (s *Study) Account(ctx context.Context, m *store.Store, judging, saysBefore bool) (*fill.Account, error) {
	a := fill.NewAccount(m, s.account(judging), time.Now().UTC(), judging)
	return a, a.Open(ctx, s.shares, saysBefore)
}

// Shares lists who has spent on the study since somebody last began to alone, those who ask
// judges alone last.
func (s *Study) Shares(ctx context.Context, m store.Reader) ([]store.Share, error) {
	all, err := m.Shares(ctx, s.account(false))
	if err != nil {
		return nil, err
	}
	judging, err := m.Shares(ctx, s.account(true))
	return append(all, judging...), err
}

// takeIn takes into the history what attempts without a reply may have cost those who have a share
// of what is spent on the study, and all that those held who were killed.
func (s *Study) takeIn(ctx context.Context, m store.Reader) error {
	shares, err := s.Shares(ctx, m)
	for _, share := range shares {
		if f := failedOf(share); f.Attempts+f.Free > 0 {
			s.History.Fail(f)
		}
	}
	s.shares = append(s.shares, shares...)
	return err
}

// failedOf is what attempts without a reply may have cost of a share.
func failedOf(s store.Share) provenance.Failed {
	f := provenance.Failed{Began: s.Began, Attempts: s.Charged, Tokens: s.Failed.Tokens, Free: max(0, s.Failed.Requests-s.Charged), Judging: s.Judging}
	usd := s.Failed.USD
	if !s.Live {
		f.CutOff = s.Held.Requests
		f.Attempts, f.Tokens, usd = f.Attempts+f.CutOff, f.Tokens+s.Held.Tokens, usd+s.Held.USD
	}
	if f.Attempts > 0 && !s.Unpriced {
		f.USD = &usd
	}
	return f
}

// CheckName compares the study with the one that the store keeps by its name. A study may
// continue, and grow as its kind allows. If it would remove something or change what was
// asked, the error is an *orbench.InputError that says what. note says what it leaves out
// without changing anything, empty for nothing.
func (s *Study) CheckName(ctx context.Context, m store.Reader) (note string, err error) {
	kept, err := s.kept(ctx, m)
	if err != nil || kept == nil {
		return "", err
	}
	changes := []string{fmt.Sprintf("it is one of orbench %s", kept.Kind)}
	if kept.Kind == s.Kind {
		if s.Adopt != nil {
			if err := s.Adopt(kept); err != nil {
				return "", err
			}
		}
		changes = s.Redefines(ctx, kept)
	}
	if len(changes) > 0 {
		const most = 6
		if n := len(changes) - most; n > 0 {
			changes = append(changes[:most], fmt.Sprintf("and %d more", n))
		}
		return "", &orbench.InputError{
			Setting: "name", Problem: fmt.Sprintf("the store holds another %s named %s: %s", kept.Kind.Noun(), s.Name, strings.Join(changes, "; ")),
			Hint: "keep both by another `name`, or replace that " + kept.Kind.Noun() + " with `replace`; no answer is lost either way",
		}
	}
	if s.Leaves != nil {
		note = s.Leaves(kept)
	}
	return note, nil
}
