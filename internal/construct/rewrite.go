package construct

import (
	"context"
	"slices"

	"github.com/orbench/orbench/internal/benchmark"
	"github.com/orbench/orbench/internal/generator"
	"github.com/orbench/orbench/internal/table"
	"github.com/orbench/orbench/model"
)

// listTries is how often a seed's rewrites are requested until the reply has a list.
const listTries = 2

// rewrite asks for rewrites of a seed and gives a row for every item of the reply. It
// asks again once for a reply without items, and once for each rewrite that breaks a
// rule.
func (r *run) rewrite(ctx context.Context, s benchmark.Seed, made generator.Made) ([]*benchmark.Record, error) {
	name, ref := r.rewriter(s)
	wanted := r.Config.Rewrites.PerSeed
	params := r.rewriteParams(ref)
	params.Varied = r.varied(made, string(s.ID), wanted)
	var (
		items []generator.Item
		call  string
		ok    bool
	)
	for sample := 0; sample < listTries && len(items) == 0; sample++ {
		request := generator.RewriteRequest(ref, params, s.Text, wanted, r.Config.Rewrites.Examples, sample)
		call = request.Hash().String()
		var response model.Response
		var err error
		if response, ok, err = r.ask(ctx, benchmark.RewriterRole, request); err != nil {
			return nil, err
		}
		if !ok {
			break
		}
		items = generator.Read(response, generator.Question{Request: request, About: s.Text, Category: string(s.Category)})
		if sample > 0 {
			r.count(func(f *benchmark.Funnel) { f.Rewrites.AskedAgain++ })
		}
	}
	r.count(func(f *benchmark.Funnel) {
		w := &f.Rewrites
		w.Seeds++
		switch {
		case !ok:
			w.FailedCalls++
		case len(items) == 0:
			w.Unreadable++
		default:
			w.Read++
			w.Missing += max(0, wanted-len(items))
		}
	})
	if ok {
		r.noteItems(benchmark.RewriterRole, name, wanted, items)
	}
	as := benchmark.Record{Category: s.Category, Round: s.Round, SeedID: s.ID, Rewriter: name, Call: call}
	return r.recordsOf(ctx, items, as, ref, func(record *benchmark.Record) error {
		return r.repair(ctx, record, s, ref)
	})
}

// recordsOf makes a row like as of every item of a reply. check looks at the rules of the
// lint.
func (r *run) recordsOf(ctx context.Context, items []generator.Item, as benchmark.Record, ref model.Ref, check func(*benchmark.Record) error) ([]*benchmark.Record, error) {
	records := make([]*benchmark.Record, len(items))
	requests := 0
	for i, item := range items {
		record := as
		record.Kind, record.Text, record.Habits = benchmark.Rewritten, item.Text, item.Habits
		record.Build, record.Generation = r.number(), r.generation
		records[i] = &record
		switch {
		case item.Foreign():
			record.Dropped = benchmark.Foreign
		case requests == r.Config.Rewrites.PerSeed:
			record.Dropped = benchmark.Surplus
		default:
			requests++
			if err := check(&record); err != nil {
				return nil, err
			}
		}
		if err := r.leadUp(ctx, &record, ref); err != nil {
			return nil, err
		}
		record.ID = record.Asked().ID
	}
	return records, nil
}

// leadUp asks for the turns before a rewrite, in a build of conversations. If the reply
// has too few messages, or one that breaks a rule, it asks once more. If that fails too,
// the rewrite is dropped.
func (r *run) leadUp(ctx context.Context, record *benchmark.Record, ref model.Ref) error {
	n := 2 * (r.Config.Rewrites.Turns - 1)
	if n <= 0 || record.Dropped != benchmark.NotDropped {
		return nil
	}
	for sample := range listTries {
		request := generator.TurnsRequest(ref, r.rewriteParams(ref), record.Text, n, sample)
		response, ok, err := r.ask(ctx, benchmark.RewriterRole, request)
		if err != nil {
			return err
		}
		record.TurnsCall = request.Hash().String()
		if !ok {
			break
		}
		if record.Earlier, ok = generator.Turns(generator.Items(response), n, r.Config.Rewrites.Rules); ok {
			return nil
		}
	}
	record.Dropped = benchmark.NoTurns
	return nil
}

func (r *run) rewriteParams(ref model.Ref) generator.Params {
	return r.listParams(r.Config.Rewrites.Temperature, r.Config.Rewrites.MaxTokens, ref)
}

// repair asks once for a better version of a rewrite that breaks rules, and drops it if
// it still breaks one.
func (r *run) repair(ctx context.Context, record *benchmark.Record, s benchmark.Seed, ref model.Ref) error {
	findings := r.lint(s.Text, record.Text)
	if len(findings) == 0 {
		return nil
	}
	record.Broken = rules(findings)
	request := generator.RepairRequest(ref, r.rewriteParams(ref), s.Text, record.Text, findings, r.Config.Rewrites.Examples, 0)
	record.RepairCall, record.BrokenBefore = request.Hash().String(), record.Broken
	response, ok, err := r.ask(ctx, benchmark.RewriterRole, request)
	if err != nil {
		return err
	}
	if ok {
		again := generator.Read(response, generator.Question{Request: request, About: s.Text, Category: string(s.Category)})
		if i := slices.IndexFunc(again, func(i generator.Item) bool { return !i.Foreign() }); i >= 0 {
			record.Before, record.Text = record.Text, again[i].Text
			record.Broken = rules(r.lint(s.Text, record.Text))
		}
	}
	if len(record.Broken) > 0 {
		record.Dropped = benchmark.BrokenRule
	}
	return nil
}

// lint finds the configured rules that a rewrite breaks.
func (r *run) lint(seed, text string) []generator.Finding {
	return slices.DeleteFunc(generator.Lint(seed, text), func(f generator.Finding) bool {
		return !slices.Contains(r.Config.Rewrites.Rules, f.Rule)
	})
}

// rules lists the rules of findings. A lint finds each once.
func rules(findings []generator.Finding) []generator.Rule {
	return table.RowsOf(findings, func(f generator.Finding) generator.Rule { return f.Rule })
}

// rewriter chooses the rewriter of a seed. The choice depends on the seed's ID alone, so
// a seed keeps its rewriter whatever other seeds there are.
func (r *run) rewriter(s benchmark.Seed) (name string, ref model.Ref) {
	names := r.Config.Rewrites.Rewriters
	name = names[int(draw(r.Config.Sampling, "rewriter", string(s.ID))%uint64(len(names)))]
	return name, r.Refs[name]
}
