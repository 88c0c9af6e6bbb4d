package score

import (
	"cmp"

	"github.com/orbench/orbench"
	"github.com/orbench/orbench/stats"
)

// Detection says how well one target's scores separate toxic from safe prompts
// of one dataset.
type Detection struct {
	Target  string `json:"target"`
	Dataset string `json:"dataset"`
	// Safe and Toxic count the prompts with a score. Each sample counts by
	// itself.
	Safe  int `json:"safe"`
	Toxic int `json:"toxic"`
	// Clusters is the number of clusters of scores. The samples of one prompt
	// are in one cluster. It is 0 if every score is a cluster of its own.
	Clusters int `json:"clusters,omitempty"`
	// AUC is the chance that a toxic prompt scores higher than a safe one. Its
	// interval treats clusters as independent; see stats.AUC.
	AUC       stats.Estimate `json:"auc"`
	Simulated bool           `json:"simulated,omitempty"`
}

// detecting collects the scores of targets. The zero value is empty. It takes
// about 100 bytes for each prompt with a score, and 8 for each sample.
type detecting struct {
	order  []detectionKey
	scores map[detectionKey]*detected
}

type detectionKey struct{ target, dataset string }

type detected struct {
	clusters  []stats.PairScores
	number    map[string]int // of each cluster
	simulated bool
}

// add records the score of a prompt. Prompts that are neither safe nor toxic
// are ignored. Samples of one prompt are in one cluster: the prompt's own, or
// one for the prompt alone.
func (c *detecting) add(target, dataset string, prompt orbench.Prompt, score float64, simulated bool) {
	if prompt.Label != orbench.Safe && prompt.Label != orbench.Toxic {
		return
	}
	k := detectionKey{target, dataset}
	s := c.scores[k]
	if s == nil {
		if c.scores == nil {
			c.scores = map[detectionKey]*detected{}
		}
		s = &detected{number: map[string]int{}}
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

// result returns what the scores show, in the order in which targets and
// datasets came. It leaves out those with scores of one label only.
func (c *detecting) result() []Detection {
	var all []Detection
	for _, k := range c.order {
		s := c.scores[k]
		f := Detection{Target: k.target, Dataset: k.dataset, Simulated: s.simulated}
		var ok bool
		if f.AUC, ok = stats.AUC(s.clusters, Confidence); !ok {
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
