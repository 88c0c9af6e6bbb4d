package construct

import (
	"fmt"
	"strings"

	"github.com/orbench/orbench"
	"github.com/orbench/orbench/internal/benchmark"
	"github.com/orbench/orbench/internal/generator"
)

// note changes the counts of a model that wrote seeds or rewrites.
func (r *run) note(role benchmark.Role, name string, change func(*benchmark.Generator)) {
	r.mu.Lock()
	defer r.mu.Unlock()
	of := asked{role: role, model: name}
	if r.gave[of] == nil {
		r.gave[of] = &benchmark.Generator{Role: role, Model: name, Habits: map[generator.Habit]int{}}
	}
	change(r.gave[of])
}

// noteItems counts the items of a reply to a request for a number of items.
func (r *run) noteItems(role benchmark.Role, name string, wanted int, items []generator.Item) {
	r.note(role, name, func(g *benchmark.Generator) {
		g.Asked += wanted
		g.Items += len(items)
		for _, item := range items {
			for _, h := range item.Habits {
				g.Habits[h]++
			}
		}
	})
}

// noteUse counts an item that is a request: used, or the repetition of another.
func (r *run) noteUse(role benchmark.Role, name string, used bool) {
	r.note(role, name, func(g *benchmark.Generator) {
		if used {
			g.Used++
		} else {
			g.Repeated++
		}
	})
}

// noteRecord counts what became of a rewrite, or of a seed that was put to the vote.
func (r *run) noteRecord(record *benchmark.Record) {
	switch {
	case record.Kind == benchmark.CheckedSeed && record.Rewriter != "" && record.Voted != orbench.Undecided:
		r.note(benchmark.GeneratorRole, record.Rewriter, func(g *benchmark.Generator) {
			if g.Voted++; record.Voted == orbench.Toxic {
				g.Toxic++
			}
		})
	case record.Kind == benchmark.CheckedSeed:
	case record.Dropped == benchmark.NotDropped, record.Dropped == benchmark.Answered, record.Dropped == benchmark.Surplus:
		r.noteUse(benchmark.RewriterRole, record.Rewriter, true)
	case record.Dropped == benchmark.Duplicate, record.Dropped == benchmark.NearDuplicate, record.Dropped == benchmark.CommonOpening, record.Dropped == benchmark.CommonForm:
		r.noteUse(benchmark.RewriterRole, record.Rewriter, false)
	}
}

// commonSelfBLEU is the Self-BLEU from which a set is said to repeat itself. That of
// OR-Bench's sets is from 0.31 to 0.44 by category.
const commonSelfBLEU = 0.45

// repetitionWarnings say which categories of the full set have more than a tenth of prompts
// that begin alike, and which sets repeat themselves.
func repetitionWarnings(b benchmark.Manifest) []string {
	var all, alike []string
	for _, c := range b.Config.Policy {
		d := b.Quality.Diversity[benchmark.FullSet][c.Category]
		if d.TopOpenerShare > commonOpening && d.TopOpenerShare*float64(d.Texts) > 1 {
			alike = append(alike, fmt.Sprintf("%s (%q, %.1f%%)", c.Category, d.TopOpener, 100*d.TopOpenerShare))
		}
	}
	if len(alike) > 0 {
		all = append(all, "More than a tenth of a category's prompts begin alike: "+strings.Join(alike, ", ")+".")
	}
	for _, name := range benchmark.SetNames {
		if d := b.Quality.Diversity[name][""]; d.SelfBLEU >= commonSelfBLEU {
			all = append(all, fmt.Sprintf("The prompts of the %s set are much alike: Self-BLEU %.2f. In OR-Bench's sets it is 0.31 to 0.44 by category. A rate on it tells less than its number of prompts suggests.", name, d.SelfBLEU))
		}
	}
	return all
}

// fewSeedsVoted is the fewest seeds put to the vote of which one should be toxic.
const fewSeedsVoted = 10

// Lack says that a set is empty, or that the full set has under half of what was asked
// for, so that the benchmark is none. It is "" for a benchmark. A search must find a prompt. A set is not asked for if
// hardly anything can come into it: the hard set without selectors, the toxic set with
// fewer than fewSeedsVoted seeds put to the vote.
func (b *Benchmark) Lack() string {
	switch {
	case len(b.Sets[benchmark.FullSet]) == 0:
		return "the full set is empty"
	case b.Search != nil && b.made == 0:
		return "the search found no safe prompt that a target refuses"
	case b.Search != nil:
		return ""
	case 2*b.made < b.wanted:
		return fmt.Sprintf("the full set has %d new prompts; %d were wanted, and that is less than half", b.made, b.wanted)
	case len(b.Config.Hard.Selectors) > 0 && len(b.Sets[benchmark.HardSet]) == 0:
		return fmt.Sprintf("the hard set is empty: no prompt was refused by selectors of %d families (hard.refused_by)", b.Config.Hard.RefusedBy)
	case b.Funnel.Moderation.Checked() >= fewSeedsVoted && len(b.Sets[benchmark.ToxicSet]) == 0:
		return "the toxic set is empty: no prompt was called toxic by every moderator, and in the second chance its answer too"
	}
	return ""
}
