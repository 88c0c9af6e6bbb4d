package moderation

import (
	"slices"

	"github.com/orbench/orbench"
	"github.com/orbench/orbench/dataset"
	"github.com/orbench/orbench/model/sim"
	"github.com/orbench/orbench/moderate"
	"github.com/orbench/orbench/stats"
)

// Own is the name under which the labels that the dataset itself has stand beside
// those of policies.
const Own = "(the dataset)"

// Result is what an ensemble makes of a dataset under each policy.
type Result struct {
	Dataset string `json:"dataset"`
	SHA256  string `json:"sha256"`
	// Limit is the most prompts that were put to the vote, 0 for all of the dataset.
	Limit int `json:"limit,omitempty"`
	dataset.Reading
	// Prompts counts those on which every vote was asked for and answered; all
	// figures are of these.
	Prompts int `json:"prompts"`
	// LeftOut counts the others: a vote is missing, its call not made or failed.
	LeftOut int `json:"left_out"`
	// Clusters is the number of clusters that share prompts, 0 where none is known;
	// ClusteredBy says what makes them.
	Clusters    int           `json:"clusters,omitempty"`
	ClusteredBy string        `json:"clustered_by,omitempty"`
	Moderators  []string      `json:"moderators"`
	Rule        moderate.Rule `json:"rule"`
	Simulated   bool          `json:"simulated"`
	// Own is how the dataset's own labels fall.
	Own []LabelCount `json:"own"`
	// Policies are in the order in which they were named.
	Policies []PolicyResult `json:"policies"`
	// Changes are from the first policy to each other one; of a single policy, from
	// the dataset's own labels to it.
	Changes []Change `json:"changes"`
}

// PolicyResult is how prompts fall under one policy.
type PolicyResult struct {
	Policy string       `json:"policy"`
	Labels []LabelCount `json:"labels"`
	// Categories count the toxic prompts, in the order of the policy.
	Categories []CategoryCount `json:"categories"`
	// Votes counts them, and Abstentions those among them that say nothing.
	Votes       int `json:"votes"`
	Abstentions int `json:"abstentions"`
	// Agreement is that of the moderators.
	Agreement moderate.Agreement `json:"agreement"`
}

// LabelCount is how many prompts have a label.
type LabelCount struct {
	Label orbench.Label `json:"label"`
	N     int           `json:"n"`
	stats.Rate
}

// CategoryCount is how many prompts are toxic by a category.
type CategoryCount struct {
	Category orbench.Category `json:"category"`
	N        int              `json:"n"`
}

// Change is what becomes of labels from one policy to another.
type Change struct {
	From string `json:"from"`
	To   string `json:"to"`
	// Table counts prompts: a row for each label under From, a column for each under
	// To, both in the order of orbench.Labels.
	Table [][]int `json:"table"`
	// Changed counts those whose label is another one. ToToxic and ToSafe count those
	// among them that are toxic, or safe, under To alone.
	Changed int `json:"changed"`
	stats.Rate
	ToToxic int `json:"to_toxic"`
	ToSafe  int `json:"to_safe"`
	// Kappa is Cohen's, over all four labels.
	stats.Kappa
}

// tally counts rows.
type tally struct {
	run    *Run
	r      Result
	own    *shares
	shares []*shares
	// categories counts by policy and category.
	categories []map[orbench.Category]int
	votes      [][][]moderate.Vote
	changes    []*change
	// clusters has the number of each cluster, and clusterOf the cluster of each prompt.
	clusters  map[string]int
	clusterOf []string
}

// shares counts labels, and clusters of prompts by label.
type shares struct {
	n        map[orbench.Label]int
	clusters map[orbench.Label]map[string]*stats.Cluster
}

// change counts one Change; cluster holds the changed prompts of each cluster, and items
// the labels of each, as positions in orbench.Labels.
type change struct {
	Change
	from, to int
	cluster  map[string]*stats.Cluster
	items    [][][2]int
}

func newTally(r *Run) *tally {
	t := &tally{run: r, own: newShares(), clusters: map[string]int{}, votes: make([][][]moderate.Vote, len(r.Policies))}
	t.r = Result{
		Dataset: r.Dataset.Name, SHA256: r.Dataset.SHA256, Limit: r.Limit, Reading: r.Dataset.Reading, ClusteredBy: r.Dataset.ClusteredBy,
		Rule: r.Rule, Moderators: []string{}, Policies: []PolicyResult{}, Changes: []Change{},
	}
	for _, m := range r.Moderators {
		t.r.Moderators = append(t.r.Moderators, m.Name)
		t.r.Simulated = t.r.Simulated || m.Ref.Provider == sim.Provider
	}
	for i, p := range r.Policies {
		t.shares = append(t.shares, newShares())
		t.categories = append(t.categories, map[orbench.Category]int{})
		t.r.Policies = append(t.r.Policies, PolicyResult{Policy: p.Name, Categories: []CategoryCount{}})
		if i > 0 {
			t.changes = append(t.changes, newChange(r.Policies[0].Name, p.Name, 0, i))
		}
	}
	if len(r.Policies) == 1 {
		t.changes = []*change{newChange(Own, r.Policies[0].Name, ownLabel, 0)}
	}
	return t
}

// ownLabel stands for the dataset's own label where the number of a policy does.
const ownLabel = -1

func newShares() *shares {
	s := &shares{n: map[orbench.Label]int{}, clusters: map[orbench.Label]map[string]*stats.Cluster{}}
	for _, l := range orbench.Labels {
		s.clusters[l] = map[string]*stats.Cluster{}
	}
	return s
}

func newChange(from, to string, i, j int) *change {
	c := &change{Change: Change{From: from, To: to}, from: i, to: j, cluster: map[string]*stats.Cluster{}}
	for range orbench.Labels {
		c.Table = append(c.Table, make([]int, len(orbench.Labels)))
	}
	return c
}

// count adds a prompt to its cluster, and where hit is true to the cluster's sum.
func count(clusters map[string]*stats.Cluster, cluster string, hit bool) {
	c := clusters[cluster]
	if c == nil {
		c = &stats.Cluster{}
		clusters[cluster] = c
	}
	c.N++
	if hit {
		c.Sum++
	}
}

func (s *shares) add(label orbench.Label, cluster string) {
	s.n[label]++
	if cluster != "" {
		for _, l := range orbench.Labels {
			count(s.clusters[l], cluster, l == label)
		}
	}
}

// label is that of a row under a policy, or the dataset's own.
func (row Row) label(policy int) orbench.Label {
	if policy == ownLabel {
		return row.Prompt.Label
	}
	return row.Decisions[policy].Label
}

func (t *tally) add(row Row) {
	if row.Missing > 0 {
		t.r.LeftOut++
		return
	}
	t.r.Prompts++
	cluster := row.Prompt.Cluster
	number, known := t.clusters[cluster]
	if cluster != "" && !known {
		number = len(t.clusters)
		t.clusters[cluster] = number
	}
	t.clusterOf = append(t.clusterOf, cluster)
	t.own.add(row.Prompt.Label, cluster)
	for i, d := range row.Decisions {
		t.shares[i].add(d.Label, cluster)
		if d.Label == orbench.Toxic {
			t.categories[i][d.Category]++
		}
		for _, v := range row.Votes[i] {
			t.r.Policies[i].Votes++
			if v.Label == orbench.Undecided {
				t.r.Policies[i].Abstentions++
			}
		}
		t.votes[i] = append(t.votes[i], plain(row.Votes[i]))
	}
	for _, c := range t.changes {
		from, to := row.label(c.from), row.label(c.to)
		i, j := slices.Index(orbench.Labels, from), slices.Index(orbench.Labels, to)
		c.Table[i][j]++
		changed := from != to
		if changed {
			c.Changed++
			switch to {
			case orbench.Toxic:
				c.ToToxic++
			case orbench.Safe:
				c.ToSafe++
			}
		}
		if cluster != "" {
			count(c.cluster, cluster, changed)
			for len(c.items) <= number {
				c.items = append(c.items, nil)
			}
			c.items[number] = append(c.items[number], [2]int{i, j})
		}
	}
}

// plain are votes without their explanations, which agreement does not need.
func plain(votes []moderate.Vote) []moderate.Vote {
	short := slices.Clone(votes)
	for i := range short {
		short[i].Explanation = ""
	}
	return short
}

// rate is k of n with both intervals. Clusters of one prompt each are none.
func rate(k, n int, clusters map[string]*stats.Cluster) stats.Rate {
	r := stats.RateOf(k, n)
	if len(clusters) == 0 || len(clusters) == n {
		return r
	}
	list := make([]stats.Cluster, 0, len(clusters))
	for _, c := range clusters {
		list = append(list, *c)
	}
	// The order decides the last digits of a sum.
	slices.SortFunc(list, func(a, b stats.Cluster) int {
		if a.N != b.N {
			return a.N - b.N
		}
		return a.Sum - b.Sum
	})
	if e, ok := stats.WilsonClustered(list, 0.95); ok {
		r.CI95Clustered = e.Ends()
	}
	return r
}

// counts lists the labels in their order, with their shares.
func (s *shares) counts(n int) []LabelCount {
	var list []LabelCount
	for _, l := range orbench.Labels {
		list = append(list, LabelCount{Label: l, N: s.n[l], Rate: rate(s.n[l], n, s.clusters[l])})
	}
	return list
}

func (t *tally) result() *Result {
	r, n := t.r, t.r.Prompts
	if len(t.clusters) < n {
		r.Clusters = len(t.clusters)
	}
	r.Own = t.own.counts(n)
	for i := range r.Policies {
		p := &r.Policies[i]
		p.Labels = t.shares[i].counts(n)
		for _, c := range t.run.Policies[i].Categories {
			p.Categories = append(p.Categories, CategoryCount{Category: c.Category, N: t.categories[i][c.Category]})
		}
		p.Agreement = moderate.Agree(t.votes[i], t.clusterOf)
	}
	for _, c := range t.changes {
		c.Rate, c.Kappa = rate(c.Changed, n, c.cluster), stats.KappaOf(c.Table)
		if r.Clusters > 0 {
			c.Kappa = stats.KappaOfClusters(c.items, len(orbench.Labels))
		}
		r.Changes = append(r.Changes, c.Change)
	}
	return &r
}
