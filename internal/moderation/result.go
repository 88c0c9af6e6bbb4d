package moderation

import (
	"cmp"
	"slices"

	"github.com/orbench/orbench"
	"github.com/orbench/orbench/internal/dataset"
	"github.com/orbench/orbench/internal/moderate"
	"github.com/orbench/orbench/internal/sim"
	"github.com/orbench/orbench/stats"
)

// Own names the dataset's own labels where they are shown beside those of policies.
const Own = "(the dataset)"

// Result is an ensemble's result for a dataset under each policy.
type Result struct {
	Dataset string `json:"dataset"`
	SHA256  string `json:"sha256"`
	// Limit is the most prompts put to the vote, 0 for the whole dataset.
	Limit int `json:"limit,omitempty"`
	dataset.Reading
	// Prompts counts the prompts with an answer to every vote. All figures are for these.
	Prompts int `json:"prompts"`
	// LeftOut counts the prompts with a missing vote, whose call was not made or failed.
	LeftOut int `json:"left_out"`
	// Clusters is the number of clusters of related prompts, 0 if none are known.
	// ClusteredBy says what defines a cluster.
	Clusters    int           `json:"clusters,omitempty"`
	ClusteredBy string        `json:"clustered_by,omitempty"`
	Moderators  []string      `json:"moderators"`
	Rule        moderate.Rule `json:"rule"`
	Simulated   bool          `json:"simulated"`
	// Own counts the dataset's own labels.
	Own []LabelCount `json:"own"`
	// Policies are in the order in which the user named them.
	Policies []PolicyResult `json:"policies"`
	// Changes go from the first policy to each other one. With a single policy, they go
	// from the dataset's own labels to the policy's.
	Changes []Change `json:"changes"`
	// Example is a prompt on which the moderators disagree, nil if there is none.
	Example *Example `json:"-"`
}

// Example is a prompt on which the moderators disagree under a policy.
type Example struct {
	Prompt, Policy string
	Votes          []moderate.Vote
	Label          orbench.Label
}

// PolicyResult counts the labels under one policy.
type PolicyResult struct {
	Policy string       `json:"policy"`
	Labels []LabelCount `json:"labels"`
	// Categories count the toxic prompts, in the order of the policy.
	Categories []CategoryCount `json:"categories"`
	// Votes counts all votes, Abstentions those that give no label.
	Votes       int `json:"votes"`
	Abstentions int `json:"abstentions"`
	// Split counts the prompts without a unanimous vote.
	Split int `json:"-"`
	// Agreement is the agreement among the moderators.
	Agreement moderate.Agreement `json:"agreement"`
}

// LabelCount is the number of prompts with a label.
type LabelCount struct {
	Label orbench.Label `json:"label"`
	N     int           `json:"n"`
	stats.Rate
}

// CategoryCount is the number of prompts that are toxic by a category.
type CategoryCount struct {
	Category orbench.Category `json:"category"`
	N        int              `json:"n"`
}

// Change compares the labels under two policies.
type Change struct {
	From string `json:"from"`
	To   string `json:"to"`
	// Table counts prompts, with a row for each label under From and a column for each
	// label under To. Both are in the order of orbench.Labels.
	Table [][]int `json:"table"`
	// Changed counts the prompts whose label differs. Of those, ToToxic counts the ones
	// that are toxic only under To, and ToSafe the ones that are safe only under To.
	Changed int `json:"changed"`
	stats.Rate
	ToToxic int `json:"to_toxic"`
	ToSafe  int `json:"to_safe"`
	// Kappa is Cohen's kappa over all four labels.
	stats.Kappa
}

// tally collects the rows' labels and votes.
type tally struct {
	run *Run
	r   Result
	// own are the dataset's own labels. decisions and votes hold the ensemble's results
	// by policy.
	own       []orbench.Label
	decisions [][]moderate.Decision
	votes     [][][]moderate.Vote
	// clusterOf is the cluster of each prompt, empty for none. clusters has the prompts of
	// each, by their numbers.
	clusterOf []string
	clusters  [][]int
}

func newTally(r *Run) *tally {
	t := &tally{run: r, decisions: make([][]moderate.Decision, len(r.Policies)), votes: make([][][]moderate.Vote, len(r.Policies))}
	t.r = Result{
		Dataset: r.Dataset.Name, SHA256: r.Dataset.SHA256, Limit: r.Limit, Reading: r.Dataset.Reading, ClusteredBy: r.Dataset.ClusteredBy,
		Rule: r.Rule, Moderators: []string{}, Policies: []PolicyResult{}, Changes: []Change{},
	}
	for _, m := range r.Moderators {
		t.r.Moderators = append(t.r.Moderators, m.Name)
		t.r.Simulated = t.r.Simulated || m.Ref.Provider == sim.Provider
	}
	return t
}

func (t *tally) add(row PromptVotes) {
	if row.Missing > 0 {
		t.r.LeftOut++
		return
	}
	t.r.Prompts++
	t.clusterOf = append(t.clusterOf, row.Prompt.Cluster)
	t.own = append(t.own, row.Prompt.Label)
	for i, d := range row.Decisions {
		t.decisions[i] = append(t.decisions[i], d)
		// Agreement needs no explanations.
		votes := slices.Clone(row.Votes[i])
		for k := range votes {
			votes[k].Explanation = ""
		}
		t.votes[i] = append(t.votes[i], votes)
		if t.r.Example == nil && Split(votes) {
			t.r.Example = &Example{row.Prompt.Text(), t.run.Policies[i].Name, votes, d.Label}
		}
	}
}

func (t *tally) result() *Result {
	r := t.r
	numbers := map[string]int{}
	for prompt, c := range t.clusterOf {
		if c == "" {
			continue
		}
		if _, known := numbers[c]; !known {
			numbers[c] = len(t.clusters)
			t.clusters = append(t.clusters, nil)
		}
		t.clusters[numbers[c]] = append(t.clusters[numbers[c]], prompt)
	}
	if len(t.clusters) < r.Prompts {
		r.Clusters = len(t.clusters)
	}
	r.Own = t.counts(t.own)
	labels := make([][]orbench.Label, len(t.run.Policies))
	for i, p := range t.run.Policies {
		for _, d := range t.decisions[i] {
			labels[i] = append(labels[i], d.Label)
		}
		of := t.policy(i)
		of.Labels = t.counts(labels[i])
		r.Policies = append(r.Policies, of)
		if i > 0 {
			r.Changes = append(r.Changes, t.change(t.run.Policies[0].Name, p.Name, labels[0], labels[i]))
		}
	}
	if len(labels) == 1 {
		r.Changes = append(r.Changes, t.change(Own, t.run.Policies[0].Name, t.own, labels[0]))
	}
	return &r
}

// Split reports whether votes are not unanimous.
func Split(votes []moderate.Vote) bool {
	return slices.ContainsFunc(votes, func(v moderate.Vote) bool { return v.Label != votes[0].Label })
}

// policy counts votes and categories under a policy.
func (t *tally) policy(i int) PolicyResult {
	p := PolicyResult{Policy: t.run.Policies[i].Name, Categories: []CategoryCount{}, Agreement: moderate.Agree(t.votes[i], t.clusterOf)}
	for _, votes := range t.votes[i] {
		p.Votes += len(votes)
		if Split(votes) {
			p.Split++
		}
		for _, v := range votes {
			if v.Label == orbench.Undecided {
				p.Abstentions++
			}
		}
	}
	toxic := map[orbench.Category]int{}
	for _, d := range t.decisions[i] {
		if d.Label == orbench.Toxic {
			toxic[d.Category]++
		}
	}
	for _, c := range t.run.Policies[i].Categories {
		p.Categories = append(p.Categories, CategoryCount{Category: c.Category, N: toxic[c.Category]})
	}
	return p
}

// counts lists how many prompts have each label, in the order of the labels.
func (t *tally) counts(labels []orbench.Label) []LabelCount {
	var list []LabelCount
	for _, l := range orbench.Labels {
		rate, n := t.rate(func(prompt int) bool { return labels[prompt] == l })
		list = append(list, LabelCount{Label: l, N: n, Rate: rate})
	}
	return list
}

// change compares the labels of prompts under two policies.
func (t *tally) change(from, to string, before, after []orbench.Label) Change {
	c := Change{From: from, To: to, Table: make([][]int, len(orbench.Labels))}
	for i := range c.Table {
		c.Table[i] = make([]int, len(orbench.Labels))
	}
	at := func(prompt int) [2]int {
		return [2]int{slices.Index(orbench.Labels, before[prompt]), slices.Index(orbench.Labels, after[prompt])}
	}
	for prompt, label := range after {
		pair := at(prompt)
		c.Table[pair[0]][pair[1]]++
		if before[prompt] != label && label == orbench.Toxic {
			c.ToToxic++
		}
		if before[prompt] != label && label == orbench.Safe {
			c.ToSafe++
		}
	}
	c.Rate, c.Changed = t.rate(func(prompt int) bool { return before[prompt] != after[prompt] })
	c.Kappa = stats.KappaOf(c.Table)
	if n := len(t.clusters); n > 0 && n < len(t.clusterOf) {
		items := make([][][2]int, n)
		for i, prompts := range t.clusters {
			for _, prompt := range prompts {
				items[i] = append(items[i], at(prompt))
			}
		}
		c.Kappa = stats.KappaOfClusters(items, len(orbench.Labels))
	}
	return c
}

// rate counts the prompts that are hits, and gives their share with both intervals. There
// is no clustered interval if every cluster has one prompt.
func (t *tally) rate(hit func(prompt int) bool) (r stats.Rate, hits int) {
	for prompt := range t.clusterOf {
		if hit(prompt) {
			hits++
		}
	}
	r = stats.RateOf(hits, len(t.clusterOf))
	if len(t.clusters) == 0 || len(t.clusters) == len(t.clusterOf) {
		return r, hits
	}
	clusters := make([]stats.Cluster, len(t.clusters))
	for i, prompts := range t.clusters {
		clusters[i].N = len(prompts)
		for _, prompt := range prompts {
			if hit(prompt) {
				clusters[i].Sum++
			}
		}
	}
	// The order affects the last digits of a sum.
	slices.SortFunc(clusters, func(a, b stats.Cluster) int { return cmp.Or(a.N-b.N, a.Sum-b.Sum) })
	r.CI95Clustered = stats.OrNil(stats.WilsonClustered(clusters, 0.95)).Ends()
	return r, hits
}
