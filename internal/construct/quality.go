package construct

import (
	"github.com/orbench/orbench"
	"github.com/orbench/orbench/benchmark"
	"github.com/orbench/orbench/dataset"
	"github.com/orbench/orbench/similar"
	"github.com/orbench/orbench/stats"
)

// quality measures a benchmark.
func quality(b *Benchmark) benchmark.Quality {
	q := benchmark.Quality{
		Diversity: map[benchmark.SetName]map[orbench.Category]similar.Diversity{},
		Agreement: b.Agreement, Residual: residual(b.Funnel.Moderation),
	}
	for _, name := range benchmark.SetNames {
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

// residual supposes that the ensemble errs as the published one did; see
// benchmark.Residual.
func residual(m benchmark.ModerationFunnel) benchmark.Residual {
	var r benchmark.Residual
	decided := m.Voted[orbench.Safe] + m.Voted[orbench.Toxic]
	if decided == 0 {
		return r
	}
	r.Prevalence = float64(m.Voted[orbench.Toxic]) / float64(decided)
	e, _ := stats.Residual(4, 25, 72, 75, r.Prevalence, 0.95)
	r.Share, r.Low, r.High = e.Value, e.Lo, e.Hi
	return r
}
