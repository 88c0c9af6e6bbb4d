package contrast

import (
	"github.com/orbench/orbench"
	"github.com/orbench/orbench/dataset"
	"github.com/orbench/orbench/generator"
	"github.com/orbench/orbench/internal/moderation"
	"github.com/orbench/orbench/model/sim"
	"github.com/orbench/orbench/moderate"
	"github.com/orbench/orbench/stats"
)

// Result counts the outcomes of a contrast set. Its JSON form is that of --format json
// and of manifest.json.
type Result struct {
	Dataset string `json:"dataset"`
	SHA256  string `json:"sha256"`
	Limit   int    `json:"limit,omitempty"`
	dataset.Reading
	// Sources counts the prompts that were reworded. Each is the number of wordings
	// wanted for each value of each prompt.
	Sources    int           `json:"sources"`
	Each       int           `json:"wordings_of_each_value"`
	Generator  string        `json:"generator"`
	Policy     string        `json:"policy"`
	Moderators []string      `json:"moderators"`
	Rule       moderate.Rule `json:"rule"`
	Simulated  bool          `json:"simulated"`
	// Values are in the order of the axes.
	Values []Value `json:"values"`
	// Prompts counts the prompts of the set: the sources and the wordings kept.
	Prompts int `json:"prompts"`
}

// Value counts the wordings with one value on an axis.
// Sources = Read + Unreadable + Failed, and
// Items = Kept + Surplus + BrokenRule + Duplicates + Unvoted.
type Value struct {
	Axis  generator.Axis `json:"axis"`
	Value string         `json:"value"`
	// Sources counts the prompts. Failed counts those with a missing reply. Of the
	// others, Unreadable counts those whose replies had no list.
	Sources    int `json:"sources"`
	Read       int `json:"read"`
	Unreadable int `json:"unreadable"`
	Failed     int `json:"failed"`
	// Items counts the wordings in all replies. The other fields count their outcomes;
	// see Dropped.
	Items      int `json:"items"`
	Surplus    int `json:"surplus"`
	BrokenRule int `json:"broken_rule"`
	Duplicates int `json:"duplicates"`
	Unvoted    int `json:"unvoted"`
	Kept       int `json:"kept"`
	// Missing is the shortfall of wordings from the wanted number.
	Missing int `json:"lacking"`
	// Labels counts the kept wordings by the moderators' label.
	Labels map[orbench.Label]int `json:"labels" csv:"label"`
	// VotedToxic is the share of kept wordings that are voted toxic. If a prompt has
	// several, the interval is clustered by prompt.
	VotedToxic stats.Rate `json:"voted_toxic"`
	// AsMeant is the share whose vote agrees with the intended label. A borderline
	// wording agrees if the votes are not unanimous. It is nil on axes where moderators
	// alone decide the label.
	AsMeant *stats.Rate `json:"as_meant"`

	meant orbench.Label
	// toxic and right have a cluster for each source.
	toxic, right []stats.Cluster
}

// Lost names the first value whose counts do not add up, or "".
func (r *Result) Lost() string {
	for _, v := range r.Values {
		labeled := 0
		for _, n := range v.Labels {
			labeled += n
		}
		if v.Sources != v.Read+v.Unreadable+v.Failed || v.Items != v.Kept+v.Surplus+v.BrokenRule+v.Duplicates+v.Unvoted || labeled != v.Kept || v.Sources != r.Sources {
			return string(v.Axis) + " " + v.Value
		}
	}
	return ""
}

// Missing counts the prompts and wordings that lack a reply.
func (r *Result) Missing() int {
	n := 0
	for _, v := range r.Values {
		n += v.Failed + v.Unvoted
	}
	return n
}

// tally counts while the set is derived.
type tally struct{ Result }

func newTally(r *Run) *tally {
	t := &tally{Result{
		Dataset: r.Dataset.Name, SHA256: r.Dataset.SHA256, Limit: r.Limit, Reading: r.Dataset.Reading, Each: r.Each,
		Generator: r.Name, Policy: r.Policy.Name, Rule: r.Rule, Simulated: r.Generator.Provider == sim.Provider,
	}}
	for _, m := range r.Moderators {
		t.Moderators = append(t.Moderators, m.Name)
		t.Simulated = t.Simulated || m.Ref.Provider == sim.Provider
	}
	for _, w := range r.Wordings {
		t.Values = append(t.Values, Value{Axis: w.Axis, Value: w.Value, Labels: map[orbench.Label]int{}, meant: w.Label})
	}
	return t
}

// add counts a prompt and its wordings.
func (t *tally) add(s Source) {
	t.Sources++
	t.Prompts++
	kept, toxic, right := make([]int, len(t.Values)), make([]int, len(t.Values)), make([]int, len(t.Values))
	for _, row := range s.Rows {
		v := &t.Values[row.wording]
		v.Items++
		switch row.Dropped {
		case Surplus:
			v.Surplus++
		case BrokenRule:
			v.BrokenRule++
		case Duplicate:
			v.Duplicates++
		case Unvoted:
			v.Unvoted++
		default:
			v.Kept++
			t.Prompts++
			v.Labels[row.Label]++
			kept[row.wording]++
			if row.Label == orbench.Toxic {
				toxic[row.wording]++
			}
			if row.is(v.meant) {
				right[row.wording]++
			}
		}
	}
	for i := range t.Values {
		v := &t.Values[i]
		v.Sources++
		switch {
		case s.calls[i].failed:
			v.Failed++
		case s.calls[i].read:
			v.Read++
		default:
			v.Unreadable++
		}
		v.Missing += t.Each - kept[i]
		if kept[i] > 0 {
			v.toxic = append(v.toxic, stats.Cluster{Sum: toxic[i], N: kept[i]})
			v.right = append(v.right, stats.Cluster{Sum: right[i], N: kept[i]})
		}
	}
}

// is reports whether the votes on a kept row agree with its intended label.
func (row Wording) is(meant orbench.Label) bool {
	if meant != orbench.Controversial {
		return row.Label == meant
	}
	return moderation.Split(row.Votes)
}

// result completes the counts with their shares.
func (t *tally) result() *Result {
	for i := range t.Values {
		v := &t.Values[i]
		v.VotedToxic = t.rate(v.toxic)
		if v.meant != "" {
			r := t.rate(v.right)
			v.AsMeant = &r
		}
	}
	return &t.Result
}

// rate is the share over clusters. Its interval is clustered if clusters have more than
// one wording.
func (t *tally) rate(clusters []stats.Cluster) stats.Rate {
	k, n := 0, 0
	for _, c := range clusters {
		k, n = k+c.Sum, n+c.N
	}
	r := stats.RateOf(k, n)
	if t.Each > 1 {
		if e, ok := stats.WilsonClustered(clusters, 0.95); ok {
			r.CI95Clustered = e.Ends()
		}
	}
	return r
}
