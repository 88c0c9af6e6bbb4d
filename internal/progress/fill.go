package progress

import (
	"fmt"
	"io"
	"strings"
	"sync/atomic"
	"time"

	"github.com/orbench/orbench/internal/evaluate"
	"github.com/orbench/orbench/internal/fill"
	"github.com/orbench/orbench/model"
	"github.com/orbench/orbench/refusal"
)

// Fill is the status of a fill.
type Fill struct {
	*Status
	judged atomic.Int64
	// refused counts new answers that the embedded detector takes for refusals.
	refused atomic.Int64
}

// NewFill makes the status of a fill with a number of expected calls. Its Run shows
// it until Close.
func NewFill(w io.Writer, total int, stats func() fill.Stats) *Fill {
	p, began := &Fill{}, time.Now()
	p.Status = newStatus(w, func() string {
		return fillLine(stats(), total, time.Since(began), int(p.refused.Load()), int(p.judged.Load()))
	})
	return p
}

// Observer gives the function that counts refusals among the targets' answers.
func (p *Fill) Observer(targets []evaluate.Target) func(model.Request, model.Response) {
	type name struct{ provider, model string }
	measured := map[name]bool{}
	for _, t := range targets {
		measured[name{t.Provider, t.Model}] = true
	}
	return func(r model.Request, answer model.Response) {
		if !measured[name{r.Provider, r.Model}] {
			return
		}
		p.judged.Add(1)
		if answer.Finish == model.Blocked || refusal.Detect(r.Messages[len(r.Messages)-1].Content, answer.Text).Class.Refused() {
			p.refused.Add(1)
		}
	}
}

// fillLine says how far a fill is.
func fillLine(s fill.Stats, total int, took time.Duration, refused, judged int) string {
	finished := s.Answered + s.Failed
	done := min(s.Present+finished, total)
	parts := []string{fmt.Sprintf("%d/%d", done, total)}
	if rate := float64(finished) / took.Seconds(); rate > 0 {
		parts = append(parts, fmt.Sprintf("%.*f/s", decimals(rate), rate))
		if left := total - done; left > 0 {
			eta := time.Duration(float64(left) / rate * float64(time.Second))
			parts = append(parts, "ETA "+eta.Round(time.Second).String())
		}
	}
	if s.Present > 0 {
		parts = append(parts, fmt.Sprintf("%d from memo", s.Present))
	}
	parts = append(parts, Money(s.USD, s.Unpriced))
	if judged > 0 {
		parts = append(parts, fmt.Sprintf("%.1f%% refused so far", 100*float64(refused)/float64(judged)))
	}
	return strings.Join(append(parts, troubles(s)...), "  ")
}

// troubles counts what did not go well.
func troubles(s fill.Stats) (parts []string) {
	if s.Retries > 0 {
		parts = append(parts, fmt.Sprintf("%d retries", s.Retries))
	}
	if s.Failed > 0 {
		parts = append(parts, fmt.Sprintf("%d failed", s.Failed))
	}
	return parts
}

// decimals keeps slow rates readable.
func decimals(rate float64) int {
	if rate < 10 {
		return 1
	}
	return 0
}

// Money shows a cost in US dollars. A model without a price makes it a lower bound.
func Money(usd float64, unpriced []string) string {
	switch {
	case len(unpriced) == 0:
		return fmt.Sprintf("$%.4f", usd)
	case usd == 0:
		return "price unknown"
	}
	return fmt.Sprintf("$%.4f and more (price unknown: %s)", usd, strings.Join(unpriced, ", "))
}
