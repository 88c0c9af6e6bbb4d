package command

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/orbench/orbench/internal/batch"
	"github.com/orbench/orbench/internal/client"
	"github.com/orbench/orbench/internal/fill"
	"github.com/orbench/orbench/internal/job"
	"github.com/orbench/orbench/internal/price"
	"github.com/orbench/orbench/internal/provenance"
	"github.com/orbench/orbench/internal/queue"
	"github.com/orbench/orbench/internal/settings"
	"github.com/orbench/orbench/internal/store"
	"github.com/orbench/orbench/internal/store/address"
	"github.com/orbench/orbench/internal/study"
	"github.com/orbench/orbench/internal/table"
	"github.com/orbench/orbench/internal/untrusted"
	"github.com/orbench/orbench/internal/weights"
	"github.com/orbench/orbench/model"
)

// Asking are the flags of commands that ask what a study lacks.
type Asking struct {
	// Name is that of the study, empty for one that follows from its settings, and Replace
	// lets it take the place of another of that name.
	Name    string
	Replace bool
	// Store is the address of the store.
	Store string
	Calls Calls
}

// RegisterAsking gives a command the flags, with their defaults.
func (e *Env) RegisterAsking(c *cobra.Command, f *Asking) {
	c.Flags().StringVar(&f.Name, "name", "", "`NAME` of the study in the store (default: made from its settings)")
	c.Flags().BoolVar(&f.Replace, "replace", false, "replace the study of that name if its settings differ")
	e.StoreFlag(c, &f.Store)
	f.Calls.Register(c)
}

// Running is a study that a command asks, with all that asking and showing it takes.
type Running struct {
	Asking
	Study   *study.Study
	Job     *job.Job
	Clients *client.Set
	// Memory is the store where it is open already, nil where it is not.
	Memory *store.Store
	// Printed says how what comes of it is printed.
	Printed Printed
	// Check refuses what the command cannot write, before anything is asked; nil checks
	// nothing.
	Check func() error
	// Precision says how narrow the figures will be; nil says nothing. See job.Planned.
	Precision func() string
	// Differs tells by which settings the study differs from a kept run; nil tells nothing.
	Differs func(ctx context.Context, m store.Reader) (job.Changed, error)
	// Foretell says more of a plan; nil says nothing.
	Foretell func(plans []job.Plan) []string
	// Refused reads replies, by which models are found to answer otherwise than before; nil checks
	// nothing. See package weights.
	Refused weights.Refused
	// Judged gives jobs of other studies that judges of this one judged whose servers run weights.
	Judged func(ctx context.Context, m store.Reader, runs func(model.Ref) (runs, known bool)) ([]*job.Job, error)
	// Unused says which stored replies the study does not count, before others are asked; nil
	// says nothing.
	Unused func(ctx context.Context, m store.Reader) (string, error)
	// Known says how many calls of targets are remembered, by model, of a kept study of which it is
	// known that none is lacking, so that nothing is walked, and counts the replies that it rests on
	// in used, unless that is nil. ok is false where that is not known; nil knows it of nothing.
	Known func(ctx context.Context, m store.Reader, used price.Usage) (calls map[model.Ref]int, ok bool)
	// Show derives what the store has and shows it, and says what is missing, and why nothing could
	// be judged where that is so.
	Show func(ctx context.Context, m store.Reader, f Filled) (missing, unjudged []string, err error)
	// Again says how to see all of a run, after its name and store; empty says nothing. Studies
	// of other kinds are seen again by their name.
	Again func() string
	// Words are what the command lacks to mean the same study later.
	Words []string
}

// Filled is what came of filling.
type Filled struct {
	fill.Stats
	// Stopped is what ended it before all was there, nil for nothing.
	Stopped error
}

// Halted reports whether it was stopped before all was tried, by a budget or an interrupt.
func (f Filled) Halted() bool {
	return errors.Is(f.Stopped, ErrInterrupted) || errors.As(f.Stopped, new(*fill.BudgetError))
}

// orderly reports whether it came to its end, or to one after which results are worth showing.
func (f Filled) orderly() bool {
	return f.Stopped == nil || f.Halted() || errors.As(f.Stopped, new(*fill.GivenUpError)) || errors.Is(f.Stopped, queue.ErrCanceled)
}

// Unfinished reports whether something is lacking.
func (f Filled) Unfinished() bool { return f.Stopped != nil || f.Missing() > 0 }

// Run makes the calls that a study lacks and shows the results, also if it was stopped.
// The caller has checked all input.
func (e *Env) Run(ctx context.Context, r Running) (err error) {
	r.Job.Name = r.Study.Name
	prices, err := r.Calls.Prices(r.Job.Refs())
	if err == nil && r.Check != nil {
		err = r.Check()
	}
	if err != nil {
		return err
	}
	if r.Calls.DryRun {
		return e.dryRun(ctx, r, prices)
	}
	memory := r.Memory
	if memory == nil {
		if memory, err = e.OpenStore(ctx, r.Store, r.Calls.ByWorkers); err != nil {
			return err
		}
		defer func() { err = errors.Join(err, memory.Close()) }()
	}
	if err := e.checkName(ctx, memory, r.Study, r.Replace); err != nil {
		return err
	}
	before, err := memory.Run(ctx, r.Study.Name)
	if err != nil && !errors.Is(err, store.ErrNoRun) {
		return err
	}
	if r.Unused != nil && !bytes.Equal(before.Config, r.Study.Config) {
		line, err := r.Unused(ctx, memory)
		if err != nil {
			return err
		}
		if line != "" {
			e.Infof("%s", line)
		}
	}
	if err := r.noteReused(ctx, memory, prices); err != nil {
		return err
	}
	kept, err := e.Keep(ctx, memory, r.Study, prices.Of(r.Job.Refs()))
	if err != nil {
		return err
	}
	var known map[model.Ref]int
	whole := false
	if r.Known != nil {
		known, whole = r.Known(ctx, memory, nil)
	}
	manager := &batch.Manager{Store: memory, Job: r.Job, Study: r.Study, Clients: r.Clients, Prices: prices, Now: time.Now}
	if err := e.forecast(ctx, manager, r.Calls); err != nil {
		return err
	}
	if !whole {
		// Before the first call, whose time it would take.
		err := e.sayUnlisted(ctx, r, memory)
		if err == nil {
			err = e.check(ctx, r, manager)
		}
		if errors.Is(err, ErrOtherWeights) && before.Name != "" {
			err = errors.Join(err, r.Study.Restore(ctx, memory, before))
		}
		if err != nil {
			return err
		}
	}
	if r.Calls.byServices() {
		if err := e.fillByBatch(ctx, manager, r.Calls); err != nil {
			return err
		}
	}
	if r.Calls.byFiles() {
		if more, err := e.fillByFiles(ctx, manager, r.Calls); err != nil || !more {
			return err
		}
	}
	var filled Filled
	if whole {
		for _, n := range known {
			filled.Present += n
		}
	} else if filled, err = e.fillMissing(ctx, r, manager); err != nil {
		return err
	}
	if err := e.Paid(ctx, memory, r.Study, filled.Stats); err != nil {
		return errors.Join(filled.Stopped, err)
	}
	if !filled.orderly() {
		return filled.Stopped
	}
	missing, unjudged, err := r.Show(context.WithoutCancel(ctx), memory, filled)
	if err != nil {
		return errors.Join(filled.Stopped, err)
	}
	if filled.Found() > 0 || filled.Failed == 0 {
		e.sayKept(r, kept)
	}
	if err := e.finish(r, filled, missing); err != nil || len(unjudged) == 0 {
		return err
	}
	e.Infos(unjudged)
	return ErrFailures
}

// noteReused notes what the store has of a study that begins now, which its budget does not
// count.
func (r Running) noteReused(ctx context.Context, memory store.Reader, prices price.Table) error {
	if !r.Calls.Bounded() || r.Job.Judging() {
		return nil
	}
	if _, err := r.Study.Resume(ctx, memory); err != nil || len(r.Study.History.Commands) > 0 {
		return err
	}
	used, err := r.Job.Used(ctx, memory)
	if err != nil {
		return err
	}
	reused := &provenance.Reused{}
	for _, of := range used {
		reused.Replies += of.Replies
		reused.Tokens += of.Tokens.Input + of.Tokens.Output
	}
	if usd, unpriced := prices.Total(used); len(unpriced) == 0 {
		reused.USD = usd
	}
	r.Study.History.Reused = reused
	return nil
}

// fillMissing fills what the study lacks.
func (e *Env) fillMissing(ctx context.Context, r Running, d *batch.Manager) (f Filled, err error) {
	account, spent, err := d.Account(ctx, r.Calls.Budget(), r.Calls.batch != "")
	if err != nil {
		return f, err
	}
	if len(d.Limited) > 0 && r.Calls.ByWorkers {
		f.Limited = d.Limited
		return f, nil // workers are not told of what came of a batch
	}
	f.Stats, f.Stopped = e.fill(ctx, r, d, account, spent)
	return f, nil
}

// Keep keeps a study as the command begins to ask for it, which goes by some prices. kept is
// false where the store cannot be written to.
func (e *Env) Keep(ctx context.Context, memory *store.Store, s *study.Study, prices []price.Price) (kept bool, err error) {
	err = s.Start(ctx, memory, e.Command(), prices)
	if errors.Is(err, store.ErrReadOnly) {
		return false, nil
	}
	return err == nil, err
}

// checkName refuses a study that would silently take the place of another of its name.
func (e *Env) checkName(ctx context.Context, memory store.Reader, s *study.Study, replace bool) error {
	if replace {
		return nil
	}
	note, err := s.CheckName(ctx, memory)
	if err == nil && note != "" {
		e.Infof("%s", settings.Rename(note, e.FlagOf))
	}
	return err
}

// Account opens the account of a stored study, whose job is j, and tells the user how much of
// the budget in the flags earlier commands spent.
func (e *Env) Account(ctx context.Context, memory *store.Store, s *study.Study, j *job.Job, prices price.Table, f Calls) (*fill.Account, error) {
	d := &batch.Manager{Store: memory, Job: j, Study: s, Prices: prices}
	if err := e.saySpent(ctx, d, f); err != nil {
		return nil, err
	}
	a, _, err := d.Account(ctx, f.Budget(), false)
	return a, err
}

// saySpent says what was spent of a budget before.
func (e *Env) saySpent(ctx context.Context, d *batch.Manager, f Calls) error {
	if !f.Bounded() || e.Quiet {
		return nil
	}
	s, err := batch.Spent(ctx, d.Store, d.Study, d.Job, d.Prices)
	if line := s.Line(f.Budget()); err == nil && line != "" {
		e.Infof("%s", settings.Rename(line, e.FlagOf))
	}
	return err
}

// plannedPrompts is about how many prompts an estimate before a start is drawn from.
const plannedPrompts = 300

// forecast says what was spent of a budget before, and what the rest is expected to take, by
// a sample of the prompts.
func (e *Env) forecast(ctx context.Context, d *batch.Manager, f Calls) error {
	if !f.Bounded() || e.Quiet {
		return nil
	}
	if err := e.saySpent(ctx, d, f); err != nil {
		return err
	}
	plans, err := d.Job.SampledPlan(ctx, d.Store, plannedPrompts)
	if err != nil {
		return err
	}
	more := ""
	if d.Job.Rounds != nil {
		more = "; fewer if the rates are known earlier"
	}
	return e.SayExpected(ctx, d.Store, plans, d.Prices, more)
}

// SayExpected says what plans are expected to take at the prices, with more behind it.
func (e *Env) SayExpected(ctx context.Context, memory store.Reader, plans []job.Plan, prices price.Table, more string) error {
	if err := job.Expect(ctx, memory, plans); err != nil {
		return err
	}
	e.Infof("%s%s", job.ExpectedLine(plans, prices.Price), more)
	return nil
}

// Paid keeps that the command paid for calls, where it did, and what failed attempts may have cost.
func (e *Env) Paid(ctx context.Context, memory *store.Store, s *study.Study, stats fill.Stats) error {
	if stats.Requests == 0 {
		return nil
	}
	c := e.Command()
	return s.Paid(context.WithoutCancel(ctx), memory, c, c.Date)
}

// sayKept says where a study is kept, and how to see it again.
func (e *Env) sayKept(r Running, kept bool) {
	noun, again := r.Study.Kind.Noun(), ""
	if r.Again != nil {
		again = r.Again()
	}
	if r.Study.Kind != study.Eval && !e.Quiet {
		again = fmt.Sprintf("to see it again:\n  orbench report %s", untrusted.Shell(r.Study.Name))
	}
	switch {
	case !kept:
		e.Infof("%s cannot be written to, so %s %s stays there as it was", address.Shown(r.Store), noun, r.Study.Name)
	case again != "":
		e.Infof("%s %s is kept in %s; %s", noun, r.Study.Name, address.Shown(r.Store), again)
	}
}

// SayLimited says which providers limited the account, in their words unless these were
// said, and where they say why.
func (e *Env) SayLimited(c *client.Set, limited map[string]string, said string) {
	for _, name := range slices.Sorted(maps.Keys(limited)) {
		words := ": " + limited[name]
		if strings.Contains(said, limited[name]) {
			words = ""
		}
		p, _ := c.Providers.Lookup(name) // one that is gone from the table has no page
		e.Infof("%s limited the account, and is sent nothing more%s\n  see %s\nDo not run this again before that is settled: more calls can make it worse.\nThe prompts that have answers are not a random sample.",
			name, words, cmp.Or(p.LimitsDoc, p.Doc, "its page"))
	}
}

// finish says what is missing and how to go on, by the command and the words that it
// lacks, and turns what ended the fill into the command's error.
func (e *Env) finish(r Running, s Filled, missing []string) error {
	limited, halted := len(s.Limited) > 0, s.Halted()
	if s.Found() > 0 || s.Failed == 0 {
		e.Infos(missing)
	}
	said := ""
	if s.Stopped != nil && !halted {
		said = e.errorText(s.Stopped, gaveUpWide)
		e.Infof("orbench: %s", said)
	}
	e.SayLimited(r.Clients, s.Limited, said)
	switch {
	case halted && limited:
		return s.Stopped
	case halted:
		what := "everything paid for is saved; the same command goes on from here"
		if errors.As(s.Stopped, new(*fill.BudgetError)) {
			what += ", with a larger budget, which counts the whole " + r.Study.Kind.Noun()
		}
		e.Infof("%s:\n  %s", what, e.CommandLine(r.Words...))
		return s.Stopped
	case limited:
		return ErrFailures
	case s.Unfinished():
	case len(missing) == 0 || r.Job.Judging():
		return nil
	default:
		e.Infof("orbench: %s no longer has answers that were stored in it. Does another program change the file? Continue with another --store", address.Shown(r.Store))
		return ErrFailures
	}
	if s.Stopped == nil && s.Failed == 0 {
		return ErrFailures // what waits for a batch has been told
	}
	e.sayFailures(r, s.Stats, said)
	if i := slices.IndexFunc(s.Reasons, func(o fill.Reason) bool { return o.Kind == model.OtherWeights }); i >= 0 {
		return OtherWeights(job.Asked{Ref: s.Reasons[i].Of}, s.Reasons[i].Of.String()+" was exchanged while it was asked, and those answers do not count")
	}
	return ErrFailures
}

// dryRun prints what asking a study would send.
func (e *Env) dryRun(ctx context.Context, r Running, prices price.Table) error {
	var least []job.Plan
	var spent *study.Spent
	var changed job.Changed
	var lines []string
	reading := e.newStatus(func() []part { return []part{{0, "reading what is stored"}} }, nil)
	reading.first = time.Second
	if !e.Quiet {
		go reading.Run()
	}
	plans, err := e.Plans(ctx, r.Store, func(ctx context.Context, memory store.Reader) (all []job.Plan, err error) {
		// Replies of judges are counted otherwise by who knows of a study.
		known, used, whole := map[model.Ref]int(nil), price.Usage{}, false
		if memory != nil {
			err = e.checkName(ctx, memory, r.Study, r.Replace)
			if err == nil && r.Differs != nil {
				changed, err = r.Differs(ctx, memory)
			}
			if err == nil && r.Unused != nil {
				line := ""
				if line, err = r.Unused(ctx, memory); line != "" {
					lines = append(lines, line)
				}
			}
			if err == nil && r.Calls.Bounded() {
				if err = r.noteReused(ctx, memory, prices); err == nil {
					spent = &study.Spent{}
					*spent, err = batch.Spent(ctx, memory, r.Study, r.Job, prices)
				}
			}
			if err == nil && r.Known != nil && !r.Job.Further {
				if r.Study.Keys, err = r.Study.Keep(ctx, nil); err == nil {
					known, whole = r.Known(ctx, memory, used)
				}
			}
		}
		if err == nil && r.Job.Rounds != nil && !r.Job.Judging() {
			least, err = r.Job.Plan(ctx, memory, job.AtLeast, nil)
		}
		switch {
		case err != nil:
		case whole:
			all = r.Job.PlanWhole(known, used)
		default:
			all, err = r.Job.Plan(ctx, memory, job.AtMost, changed)
		}
		if err != nil {
			return nil, err
		}
		checks, err := r.planCheck(ctx, memory, all)
		return append(all, checks...), err
	})
	if !e.Quiet {
		reading.Close()
	}
	if err != nil {
		return err
	}
	if least != nil && job.TotalCalls(least) == 0 {
		// It has ended.
		plans = least
	}
	shown := job.Planned{Plans: plans, Least: least, Prices: prices, Changed: changed, Asked: r.Clients.Recipients()}
	if r.Precision != nil && job.TotalCalls(plans) > 0 {
		shown.Precision = r.Precision()
	}
	if spent != nil {
		shown.Spent = spent
		if line := spent.Line(r.Calls.Budget()); line != "" {
			lines = append(lines, settings.Rename(line, e.FlagOf))
		}
	}
	if err := shown.Print(e.Stdout, r.Printed.Format, e.Screen(r.Printed.Full)); err != nil || r.Printed.Format == "json" {
		return err
	}
	if r.Calls.byServices() {
		live := func(p job.Plan) bool { return job.Role(p.Role).Judges() && !r.Job.Judging() }
		lines = append(lines, "by batch, "+job.ExpectedLine(slices.DeleteFunc(slices.Clone(plans), live), prices.Batch))
	}
	if r.Foretell != nil {
		lines = append(lines, r.Foretell(plans)...)
	}
	var d table.Document
	for _, line := range lines {
		d.Add(table.Line(line))
	}
	return d.Text(e.Stdout, e.Screen(r.Printed.Full))
}
