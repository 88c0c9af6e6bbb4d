package construct

import (
	"github.com/orbench/orbench"
	"github.com/orbench/orbench/dataset"
	"github.com/orbench/orbench/moderate"
	"github.com/orbench/orbench/similar"
	"github.com/orbench/orbench/stats"
)

// Quality is how good the benchmark is, as far as a program can tell.
type Quality struct {
	// Diversity is that of each set, overall under the empty category.
	Diversity map[SetName]map[orbench.Category]similar.Diversity `json:"diversity"`
	Agreement moderate.Agreement                                 `json:"agreement"`
	Residual  Residual                                           `json:"residual_toxicity"`
}

// Residual is the share of toxic prompts to expect in the full set, if the
// ensemble errs as the published one did: on 100 prompts that people had
// labelled, it passed 4 of 25 toxic ones and 72 of 75 safe ones (Cui et al.,
// table 1). With the share of prompts that were voted toxic before any second
// chance as prevalence p, it is
//
//	p·4/25 / (p·4/25 + (1-p)·72/75)
//
// and the interval is what the Wilson interval of 4/25 makes of it. An audit of
// this very benchmark replaces the borrowed error; see orbench audit.
type Residual struct {
	Prevalence float64 `json:"prevalence"`
	Share      float64 `json:"share"`
	Low        float64 `json:"low"`
	High       float64 `json:"high"`
}

// quality measures a benchmark.
func quality(b *Benchmark) Quality {
	q := Quality{
		Diversity: map[SetName]map[orbench.Category]similar.Diversity{},
		Agreement: b.Agreement, Residual: residual(b.Funnel.Moderation),
	}
	for _, name := range SetNames {
		texts := map[orbench.Category][]string{}
		for _, p := range b.Sets[name] {
			texts[""] = append(texts[""], p.Text())
			texts[p.Category] = append(texts[p.Category], p.Text())
		}
		q.Diversity[name] = map[orbench.Category]similar.Diversity{}
		for c, of := range texts {
			q.Diversity[name][c] = similar.DiversityOf(of, dataset.NearThreshold, uint64(b.Config.Sampling))
		}
	}
	return q
}

func residual(m ModerationFunnel) Residual {
	var r Residual
	decided := m.Voted[orbench.Safe] + m.Voted[orbench.Toxic]
	if decided == 0 {
		return r
	}
	r.Prevalence = float64(m.Voted[orbench.Toxic]) / float64(decided)
	share := func(passed float64) float64 {
		toxic, safe := r.Prevalence*passed, (1-r.Prevalence)*72/75
		if toxic+safe == 0 {
			return 0
		}
		return toxic / (toxic + safe)
	}
	low, high := stats.Wilson(4, 25, 0.95)
	r.Share, r.Low, r.High = share(4.0/25), share(low), share(high)
	return r
}
