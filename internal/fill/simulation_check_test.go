package fill_test

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/orbench/orbench/internal/fill"
	"github.com/orbench/orbench/internal/store/sqlite"
	"github.com/orbench/orbench/model"
)

// checkBudget holds what the providers had to do so far against the budget, and what each
// process had them do against its part of it.
func (w *world) checkBudget() {
	over := func(who string, b, spent fill.Budget) {
		const rounding = 1e-9
		if w.budget.Requests > 0 && spent.Requests > b.Requests || w.budget.Tokens > 0 && spent.Tokens > b.Tokens || w.budget.USD > 0 && spent.USD > b.USD+rounding {
			w.problem("%s: the budget is %+v, and %+v is spent", who, b, spent)
		}
	}
	var all, taken fill.Budget
	for _, p := range w.processes {
		spent := fill.Budget{Requests: p.sent}
		for _, of := range []*provider{w.targets, w.judges} {
			for _, c := range of.charges {
				if c.of == p {
					add(&spent, fill.Budget{Tokens: c.tokens, USD: float64(c.tokens) / 1e6}, 1)
				}
			}
		}
		leased := fill.Taken(slices.Collect(maps.Values(p.shares)))
		over(p.name, leased, spent)
		add(&taken, leased, 1)
		add(&all, spent, 1)
	}
	over("all", w.budget, all)
	over("what is taken", w.budget, taken)
}

// check holds rows, charges, limits and counts against each other after all is done.
func (w *world) check(t testing.TB) {
	rows := w.checkRows(t)
	for _, of := range []*provider{w.targets, w.judges} {
		w.checkCharges(of, rows)
		w.checkRate(of)
	}
	for _, p := range w.processes {
		w.checkEnd(p)
		w.checkStats(p)
	}
}

// checkRows finds each call answered, or a cause why it is not, and gives which are
// answered.
func (w *world) checkRows(t testing.TB) map[string]bool {
	s, err := sqlite.Open(context.Background(), w.path)
	if err != nil {
		t.Error(err)
		return nil
	}
	defer s.Close()
	rows := map[string]bool{}
	var hashes []model.Hash
	for h := range w.names {
		hashes = append(hashes, h)
	}
	found, err := s.Get(context.Background(), hashes)
	if err != nil {
		t.Error(err)
	}
	failed, err := s.Failures(context.Background(), hashes)
	if err != nil {
		t.Error(err)
	}
	for h, name := range w.names {
		question := "q" + name[1:]
		want := strings.HasPrefix(name, "q") || w.judged && !w.invalid(question) && !w.blocked(question)
		answer, ok := found[h]
		switch {
		case !want && ok:
			w.problem("%s is answered, and nobody wanted it", name)
		case !want:
		case ok && answer.Text != answered(name):
			w.problem("%s is answered by %q", name, answer.Text)
		case ok:
			rows[name] = true
		case !w.invalid(name):
			w.problem("%s has no answer", name)
		case failed[h].Message == "":
			w.problem("%s has no answer, and no cause is noted", name)
		}
	}
	if n, err := s.Count(context.Background()); err != nil || n != len(rows) {
		w.problem("the store has %d rows, %v; want %d", n, err, len(rows))
	}
	return rows
}

// excuse says why the answer that was paid for by a charge may be paid for again, empty
// where nothing does.
func (w *world) excuse(c *charge) string {
	if c.lost {
		return "its answer was lost on the way"
	}
	// An answer is kept soon after it is there.
	const soon = 10 * time.Second
	life := span{c.sent, c.kept}
	switch {
	case c.kept.IsZero() && c.replied.IsZero():
		life.to = c.sent.Add(mostHold)
	case c.kept.IsZero():
		life.to = c.replied.Add(soon)
	}
	for _, f := range c.of.frozen {
		if f.meets(life) {
			return "its process was frozen"
		}
	}
	if at := c.of.killed; !at.IsZero() && life.meets(span{at, at}) {
		return "its process was killed"
	}
	if at := c.of.aborted; !at.IsZero() && life.meets(span{at, at}) {
		return "its process abandoned it"
	}
	for _, o := range w.outages {
		if (o.of < 0 || o.of == c.of.number) && o.meets(life) {
			return "the store failed"
		}
	}
	return ""
}

// checkCharges finds an excuse for each charge after which the call was paid for again, or
// that came to nothing.
func (w *world) checkCharges(of *provider, rows map[string]bool) {
	byCall := map[string][]*charge{}
	for _, c := range of.charges {
		byCall[c.call] = append(byCall[c.call], c)
	}
	for call, charges := range byCall {
		if rows[call] {
			charges = charges[:len(charges)-1]
		}
		for _, c := range charges {
			cause := w.excuse(c)
			w.again[cause]++
			if cause == "" {
				w.problem("%s was paid for by %s at %v, and again later or for nothing", call, c.of.name, c.sent.Sub(w.began))
			}
		}
	}
}

// checkRate holds the times of requests against the limit that was set for all, which each
// process may exceed by a lease that it took before.
func (w *world) checkRate(of *provider) {
	if w.perMinute == 0 {
		return
	}
	lease := max(1, w.perMinute/60)
	most := w.perMinute + lease*(1+w.limiters[of.name])
	for i := range of.arrivals {
		if i >= most && of.arrivals[i].Sub(of.arrivals[i-most]) < time.Minute {
			w.problem("%s had more than %d requests in a minute before %v, with a limit of %d", of.name, most, of.arrivals[i].Sub(w.began), w.perMinute)
			return
		}
	}
}

// checkEnd finds a reason for how a process ended.
func (w *world) checkEnd(p *process) {
	hadFault := func(kinds ...kind) bool {
		return slices.ContainsFunc(w.faults, func(f fault) bool { return slices.Contains(kinds, f.kind) })
	}
	var overBudget *fill.BudgetError
	var gaveUp *fill.GivenUpError
	err := p.err
	switch {
	case err == nil:
	case errors.Is(err, errKilled) && !p.killed.IsZero():
	case errors.Is(err, errInterrupted) && hadFault(interrupted, aborted):
	case errors.Is(err, errStore) && hadFault(cutOff, restarted, diskFull):
	case errors.As(err, &overBudget) && w.budget != (fill.Budget{}):
	case errors.As(err, &gaveUp) && hadFault(outage):
	default:
		w.problem("%s ended without a cause: %v", p.name, err)
	}
}

// checkStats holds what a process counted against what was seen of it.
func (w *world) checkStats(p *process) {
	if !p.killed.IsZero() {
		return
	}
	var s fill.Stats
	for _, f := range p.lives {
		one := f.Stats()
		s.Requests += one.Requests
		s.Answered += one.Answered
		s.Failed += one.Failed
		s.Retries += one.Retries
		s.Rejected += one.Rejected
		s.Present += one.Present
		s.Elsewhere += one.Elsewhere
		s.Waiting += one.Waiting
		s.USD += one.USD
		s.FailedUSD += one.FailedUSD
	}
	say := func(what string) {
		w.problem("%s counts %s: %+v; %d requests reached providers, %d answers were kept", p.name, what, s, p.sent, p.told)
	}
	if s.Requests != p.sent {
		say("requests")
	}
	if s.Answered != p.told {
		say("answers")
	}
	if s.Waiting != 0 {
		say("calls that it waits for")
	}
	var paid, lost float64
	open := 0
	for _, of := range []*provider{w.targets, w.judges} {
		for _, c := range of.charges {
			switch {
			case c.of != p:
			case c.replied.IsZero():
				lost += float64(c.tokens) / 1e6
			default:
				paid += float64(c.tokens) / 1e6
			}
		}
	}
	if diff := s.USD - paid; diff > 1e-9 || diff < -1e-9 || s.FailedUSD < lost-1e-9 {
		say(fmt.Sprintf("costs, of $%g and at least $%g", paid, lost))
	}
	// What neither came to an end nor is tried again was under way when the process, or its
	// store, stopped.
	open = s.Requests - s.Answered - s.Retries - s.Rejected - s.Failed
	stopped := !p.aborted.IsZero() || p.failed
	if open < 0 || open > 0 && !stopped {
		say(fmt.Sprintf("%d attempts that came to nothing", open))
	}
	if p.number < len(w.works) && w.works[p.number] == fills && p.err == nil && !w.judged {
		if others := w.calls - s.Present - s.Answered - s.Failed; others != 0 {
			say(fmt.Sprintf("%d of %d calls in no way", others, w.calls))
		}
	}
}
