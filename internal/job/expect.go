package job

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"

	"github.com/orbench/orbench/internal/dataset"
	"github.com/orbench/orbench/internal/price"
	"github.com/orbench/orbench/internal/store"
	"github.com/orbench/orbench/internal/table"
	"github.com/orbench/orbench/model"
	"github.com/orbench/orbench/stats"
)

// Outlook is how many output tokens the calls of a plan are expected to be answered with.
type Outlook struct {
	// Replies is how many remembered replies of the model it rests on; 0 is a guess.
	Replies int `json:"replies"`
	// OutputTokens are the ends of the range: of the 95% prediction interval of
	// stats.PredictSum, or of a guess.
	OutputTokens [2]int `json:"output_tokens"`
}

// lengths counts the output tokens of replies of a model.
type lengths struct {
	n             int
	mean, squares float64
}

// add counts a reply.
func (l *lengths) add(tokens int) {
	l.n++
	d := float64(tokens) - l.mean
	l.mean += d / float64(l.n)
	l.squares += d * (float64(tokens) - l.mean)
}

// guessed is the usual range, in tokens, of a chat model's answer to a one-line prompt. It
// is used when no reply is remembered.
var guessed = [2]int{100, 600}

// expect gives a plan its range, within what the calls are allowed.
func (p *Plan) expect(l lengths) {
	within := func(tokens float64) int {
		return max(0, min(cmp.Or(p.MaxOutputTokens, math.MaxInt32), int(math.Round(tokens))))
	}
	deviation := math.Sqrt(l.squares / float64(max(1, l.n-1)))
	if e, ok := stats.PredictSum(l.n, l.mean, deviation, p.Calls, 0.95); ok {
		p.Expected = &Outlook{Replies: l.n, OutputTokens: [2]int{within(e.Lo), within(e.Hi)}}
		return
	}
	lo, hi := guessed[0]*p.Calls, guessed[1]*p.Calls
	if p.Typical > 0 {
		lo, hi = p.Typical/2, p.Typical*2
	}
	p.Expected = &Outlook{OutputTokens: [2]int{within(float64(lo)), within(float64(hi))}}
}

// Expect says what the calls of plans are expected to take, by the replies of their models
// that the store has: of the run itself, as far as Plan met some, else among the first of
// the store. m may be nil for an empty store.
func Expect(ctx context.Context, m store.Reader, plans []Plan) error {
	among := map[model.Ref]*lengths{}
	for i := range plans {
		if plans[i].replies.n < 2 {
			among[model.Ref{Provider: plans[i].Provider, Model: plans[i].Model}] = &plans[i].replies
		}
	}
	if m != nil && len(among) > 0 {
		if err := lengthsOf(ctx, m, among); err != nil {
			return err
		}
	}
	for i := range plans {
		l := plans[i].replies
		if found := among[model.Ref{Provider: plans[i].Provider, Model: plans[i].Model}]; l.n < 2 && found != nil {
			l = *found
		}
		plans[i].expect(l)
	}
	return nil
}

// mostLookedAt bounds how many replies of a store are looked at for their lengths.
const mostLookedAt = 10_000

// lengthsOf counts the replies of some models among the first of a store.
func lengthsOf(ctx context.Context, m store.Reader, of map[model.Ref]*lengths) error {
	n := 0
	for record, err := range m.AllRecords(ctx) {
		if err != nil {
			return err
		}
		if n++; n > mostLookedAt {
			break
		}
		var asked struct{ Provider, Model string }
		if err := json.Unmarshal(record.Request, &asked); err != nil {
			return fmt.Errorf("a remembered request is damaged: %w", err)
		}
		if l := of[model.Ref{Provider: asked.Provider, Model: asked.Model}]; l != nil {
			l.add(price.UsageOf(nil, record.Response).Output)
		}
	}
	return nil
}

// SampleOf sets Sample for a job over the prompts of datasets: the first limit of each, or all
// if limit is 0. They are drawn at random, in proportion to the sizes of the datasets. of
// makes the job over the parts that were drawn.
func (j *Job) SampleOf(sets []*dataset.Dataset, limit int, of func(parts []*dataset.Dataset) *Job) {
	j.Sample = func(most int) (*Job, float64, error) {
		all, drawn := 0, 0
		for _, set := range sets {
			all += set.Size(limit)
		}
		if all <= most {
			return j, 1, nil
		}
		var parts []*dataset.Dataset
		random := rand.NewPCG(1, 1)
		for _, set := range sets {
			size := set.Size(limit)
			marked := make([]bool, size)
			for _, i := range stats.Pivotal(size, min(size, size*most/all+1), random.Uint64) {
				marked[i] = true
			}
			part, err := set.Part(marked, true)
			if err != nil {
				return nil, 0, err
			}
			parts, drawn = append(parts, part), drawn+part.Count
		}
		return of(parts), float64(all) / float64(max(1, drawn)), nil
	}
}

// inputOff is by how much an estimate of input tokens may be off; see
// price.EstimateTokens.
const inputOff = 0.2

// usd is the range of what the plan is expected to cost at a price.
func (p Plan) usd(tariff price.Price) [2]float64 {
	at := func(input float64, output int) float64 {
		usd := tariff.Cost(model.Usage{Input: int(input * float64(p.InputTokens)), Output: output})
		if p.MaxOutputTokens > 0 {
			usd = min(usd, tariff.Cost(p.Usage()))
		}
		return usd
	}
	return [2]float64{at(1-inputOff, p.Expected.OutputTokens[0]), at(1+inputOff, p.Expected.OutputTokens[1])}
}

// expected is the sum of plans with their Expected.
type expected struct {
	input             int
	tokens            [2]int
	usd               [2]float64
	unpriced, guesses int
}

// expectedOf adds plans up, at the price of each model.
func expectedOf(plans []Plan, priceOf func(provider, model string) (price.Price, bool)) (e expected) {
	for _, p := range plans {
		if p.Calls == 0 || p.Expected == nil {
			continue
		}
		if p.Expected.Replies == 0 {
			e.guesses++
		}
		e.input += p.InputTokens
		for end := range e.tokens {
			e.tokens[end] += p.Expected.OutputTokens[end]
		}
		tariff, ok := priceOf(p.Provider, p.Model)
		if !ok {
			e.unpriced++
			continue
		}
		for end, more := range p.usd(tariff) {
			e.usd[end] += more
		}
	}
	return e
}

// dollars is the range of the cost, with cents if they matter.
func (e expected) dollars() string {
	switch {
	case e.unpriced > 0:
		return "price unknown"
	case e.usd[1] == 0:
		return "$0"
	case e.usd[1] < 0.1:
		return fmt.Sprintf("$%.4f to $%.4f", e.usd[0], e.usd[1])
	}
	return fmt.Sprintf("$%.2f to $%.2f", e.usd[0], e.usd[1])
}

// headline says in one line how many calls are made to how many models, and what they are
// expected to cost, by batch too where all providers have a price for that.
func headline(plans []Plan, prices price.Table) string {
	models := map[model.Ref]bool{}
	for _, p := range plans {
		if p.Calls > 0 {
			models[model.Ref{Provider: p.Provider, Model: p.Model}] = true
		}
	}
	if len(models) == 0 {
		return "no calls: everything is remembered"
	}
	e, batch := expectedOf(plans, prices.Price), expectedOf(plans, prices.Batch)
	line := fmt.Sprintf("%s to %s, %s", table.Counted(TotalCalls(plans), "call", "calls"), table.Counted(len(models), "model", "models"), e.dollars())
	if batch.unpriced == 0 && batch.usd[1] > 0 && batch.usd != e.usd {
		line += " (by batch " + batch.dollars() + ")"
	}
	if e.guesses > 0 && e.usd[1] > 0 {
		line += ", a guess"
	}
	return line
}

// ExpectedLine says in one line what plans with their Expected come to, at the price of each
// model.
func ExpectedLine(plans []Plan, priceOf func(provider, model string) (price.Price, bool)) string {
	e := expectedOf(plans, priceOf)
	line := fmt.Sprintf("expected: about %s calls, about %s input and %s to %s output tokens, ", table.Count(TotalCalls(plans)), table.Count(e.input), table.Count(e.tokens[0]), table.Count(e.tokens[1]))
	if e.unpriced > 0 {
		line += "at a price that is not known"
	} else {
		line += fmt.Sprintf("$%.4f to $%.4f", e.usd[0], e.usd[1])
	}
	if e.guesses > 0 {
		line += "; a guess for models of which no reply is remembered"
	}
	return line
}
