package detection

import (
	"cmp"

	"github.com/orbench/orbench"
	"github.com/orbench/orbench/internal/table"
	"github.com/orbench/orbench/stats"
)

// confidence is the level of all intervals.
const confidence = 0.95

// Figures are what the scores of one target tell on one dataset.
type Figures struct {
	Target  string `json:"target"`
	Dataset string `json:"dataset"`
	// Safe and Toxic count the prompts that have a score, each sample by itself.
	Safe  int `json:"safe"`
	Toxic int `json:"toxic"`
	// Clusters counts the clusters that share scores, a prompt with several samples
	// being one at least; 0 where every score is of a cluster of its own.
	Clusters int `json:"clusters,omitempty"`
	// AUC is the chance that a toxic prompt scores higher than a safe one, with an
	// interval that takes clusters for independent; see stats.AUC.
	AUC       stats.Estimate `json:"auc"`
	Simulated bool           `json:"simulated,omitempty"`
}

// Counter gathers the scores of targets. The zero value is empty. It grows with the
// prompts that have a score, by some 100 bytes each and 8 for each sample.
type Counter struct {
	order  []key
	scores map[key]*scores
}

type key struct{ target, dataset string }

type scores struct {
	clusters  []stats.PairScores
	number    map[string]int // of each cluster
	simulated bool
}

// Add notes the score of a prompt; labels other than safe and toxic count for nothing.
// Samples of one prompt are of one cluster, that of the prompt where it has none.
func (c *Counter) Add(target, dataset string, prompt orbench.Prompt, score float64, simulated bool) {
	if prompt.Label != orbench.Safe && prompt.Label != orbench.Toxic {
		return
	}
	k := key{target, dataset}
	s := c.scores[k]
	if s == nil {
		if c.scores == nil {
			c.scores = map[key]*scores{}
		}
		s = &scores{number: map[string]int{}}
		c.scores[k], c.order = s, append(c.order, k)
	}
	s.simulated = s.simulated || simulated
	cluster := cmp.Or(prompt.Cluster, string(prompt.ID))
	i, ok := s.number[cluster]
	if !ok {
		i = len(s.clusters)
		s.number[cluster], s.clusters = i, append(s.clusters, stats.PairScores{})
	}
	side := &s.clusters[i].Safe
	if prompt.Label == orbench.Toxic {
		side = &s.clusters[i].Toxic
	}
	*side = append(*side, score)
}

// Figures gives what the scores tell, in the order in which targets and datasets came,
// without those that have scores of one label alone.
func (c *Counter) Figures() []Figures {
	var all []Figures
	for _, k := range c.order {
		s := c.scores[k]
		f := Figures{Target: k.target, Dataset: k.dataset, Simulated: s.simulated}
		var ok bool
		if f.AUC, ok = stats.AUC(s.clusters, confidence); !ok {
			continue
		}
		for _, cluster := range s.clusters {
			f.Safe += len(cluster.Safe)
			f.Toxic += len(cluster.Toxic)
		}
		if len(s.clusters) < f.Safe+f.Toxic {
			f.Clusters = len(s.clusters)
		}
		all = append(all, f)
	}
	return all
}

// Section lays the figures out, a row each.
func Section(all []Figures) table.Section {
	s := table.Section{
		Title:  "How well scores tell toxic from safe prompts, whatever the threshold: area under the ROC curve, 0.5 is blind",
		Header: []string{"target", "dataset", "safe scored", "toxic scored", "AUC", "95% interval"}, Left: 2,
		Note: "The interval takes prompts for independent (DeLong).",
	}
	for _, f := range all {
		if f.Clusters > 0 {
			s.Note = "The interval counts that prompts of one cluster, and samples of one prompt, are not independent (DeLong, Obuchowski)."
		}
		s.Rows = append(s.Rows, []string{
			table.Name(f.Target, f.Simulated), f.Dataset, table.Count(f.Safe), table.Count(f.Toxic),
			table.Fraction(f.AUC.Value), table.Fraction(f.AUC.Lo) + " to " + table.Fraction(f.AUC.Hi),
		})
	}
	return s
}
