package command

import (
	"cmp"
	"fmt"
	"hash/maphash"
	"strings"
	"sync"
	"time"

	"github.com/orbench/orbench"
	"github.com/orbench/orbench/internal/evaluate"
	"github.com/orbench/orbench/internal/fill"
	"github.com/orbench/orbench/internal/table"
	"github.com/orbench/orbench/internal/untrusted"
	"github.com/orbench/orbench/model"
	"github.com/orbench/orbench/refusal"
)

// fillProgress shows the progress of a fill.
type fillProgress struct {
	*statusLine
	mu sync.Mutex
	// others, safe and toxic count the targets' new answers by the label of the prompt.
	others, safe, toxic tally
	// labels maps the hash of a prompt's text, under seed, to where answers to it count:
	// among the others where it has none.
	labels map[uint64]*tally
	seed   maphash.Seed
}

// tally counts judged answers, and those among them that the embedded detector calls
// refusals. name says to which prompts, and is empty for prompts of other labels.
type tally struct {
	name            string
	refused, judged int
}

// newFillProgress makes the status line of a fill that expects total calls. Its Run
// shows it until Close.
func (e *Env) newFillProgress(total int, stats func() fill.Stats) *fillProgress {
	p := &fillProgress{safe: tally{name: "safe "}, toxic: tally{name: "toxic "}, labels: map[uint64]*tally{}, seed: maphash.MakeSeed()}
	began := time.Now()
	p.statusLine = e.newStatus(func() []part {
		p.mu.Lock()
		seen := []tally{p.safe, p.toxic, p.others}
		p.mu.Unlock()
		return fillLine(stats(), total, time.Since(began), seen)
	}, func() (int, int) { return done(stats(), total), total })
	return p
}

// Label sets the label of a prompt.
func (p *fillProgress) Label(text string, label orbench.Label) {
	key := maphash.String(p.seed, text)
	p.mu.Lock()
	defer p.mu.Unlock()
	switch label {
	case orbench.Safe:
		p.labels[key] = &p.safe
	case orbench.Toxic:
		p.labels[key] = &p.toxic
	default:
		delete(p.labels, key)
	}
}

// Observer returns the function that counts refusals among the targets'
// answers.
func (p *fillProgress) Observer(targets []evaluate.Target) func(model.Request, model.Response) {
	type name struct{ provider, model string }
	measured := map[name]bool{}
	for _, t := range targets {
		measured[name{t.Provider, t.Model}] = true
	}
	return func(r model.Request, answer model.Response) {
		if !measured[name{r.Provider, r.Model}] {
			return
		}
		text := r.Messages[len(r.Messages)-1].Content
		refused := answer.Finish == model.Blocked || refusal.Detect(text, answer.Text).Class.Refused()
		key := maphash.String(p.seed, text)
		p.mu.Lock()
		defer p.mu.Unlock()
		of := cmp.Or(p.labels[key], &p.others)
		of.judged++
		if refused {
			of.refused++
		}
	}
}

// done counts the calls of a fill that need nothing more.
func done(s fill.Stats, total int) int { return min(s.Found()+s.Failed, total) }

// fillLine says how far a fill is.
func fillLine(s fill.Stats, total int, took time.Duration, seen []tally) []part {
	finished := s.Answered + s.Failed + s.Elsewhere
	done := done(s, total)
	parts := []part{{0, fmt.Sprintf("%d of %d", done, total)}}
	if rate := float64(finished) / took.Seconds(); rate > 0 {
		parts = append(parts, part{5, fmt.Sprintf("%.*f/s", decimals(rate), rate)}, part{6, took.Round(time.Second).String()})
		if left := total - done; left > 0 {
			eta := time.Duration(float64(left) / rate * float64(time.Second))
			parts = append(parts, part{2, eta.Round(time.Second).String() + " left"})
		}
	}
	if s.Present > 0 {
		parts = append(parts, part{6, fmt.Sprintf("%d already answered", s.Present)})
	}
	parts = append(parts, part{4, Spent(s)})
	var refused []string
	for _, t := range seen {
		if t.judged > 0 {
			if t.name == "" && len(refused) > 0 {
				t.name = "others "
			}
			refused = append(refused, fmt.Sprintf("%s%.1f%%", t.name, 100*float64(t.refused)/float64(t.judged)))
		}
	}
	if len(refused) > 0 {
		parts = append(parts, part{3, "refused so far: " + strings.Join(refused, ", ")})
	}
	return append(parts, troubles(s)...)
}

// troubles counts what went wrong.
func troubles(s fill.Stats) (parts []part) {
	if s.Waiting > 0 {
		parts = append(parts, part{2, fmt.Sprintf("%d being asked by another process", s.Waiting)})
	}
	for _, h := range s.Held {
		text := "rate limited by " + h.Model.String()
		if h.For >= time.Second {
			text += " for " + h.For.Truncate(time.Second).String()
		}
		parts = append(parts, part{1, text + ", next try in " + h.In.Round(time.Second).String()})
	}
	if s.Retries > 0 {
		parts = append(parts, part{7, because(fmt.Sprintf("%d retries", s.Retries), s.Retried)})
	}
	if s.Rejected > 0 {
		parts = append(parts, part{7, fmt.Sprintf("%d rejected", s.Rejected)})
	}
	if s.Failed > 0 {
		why := ""
		if len(s.Reasons) > 0 {
			why = s.Reasons[0].Text
		}
		parts = append(parts, part{1, because(fmt.Sprintf("%d failed", s.Failed), why)})
	}
	return parts
}

// because formats a count with a few words of why, if that is known.
func because(count, why string) string {
	if why == "" {
		return count
	}
	return count + ": " + untrusted.Excerpt(why, mostReason)
}

// mostReason is how many columns of the line may say why calls failed.
const mostReason = 40

// decimals returns enough decimals to keep a slow rate readable.
func decimals(rate float64) int {
	if rate < 10 {
		return 1
	}
	return 0
}

// Spent says what the calls have cost so far in US dollars, and what failed
// calls may have cost besides. If a model has no price, the first is a lower
// bound.
func Spent(s fill.Stats) string {
	cost, failed := fmt.Sprintf("$%.4f", s.USD), &s.FailedUSD
	switch {
	case len(s.Unpriced) == 0:
	case s.USD == 0:
		cost, failed = "price unknown", nil
	default:
		cost, failed = fmt.Sprintf("%s and more (price unknown: %s)", cost, strings.Join(s.Unpriced, ", ")), nil
	}
	return cost + table.FailedCost(s.Charged, 0, failed)
}
