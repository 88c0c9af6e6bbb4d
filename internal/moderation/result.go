package moderation

import (
	"slices"

	"github.com/orbench/orbench"
	"github.com/orbench/orbench/internal/dataset"
	"github.com/orbench/orbench/internal/moderate"
	"github.com/orbench/orbench/internal/policy"
	"github.com/orbench/orbench/internal/sim"
	"github.com/orbench/orbench/internal/table"
	"github.com/orbench/orbench/internal/versus"
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
	// Own counts the dataset's own labels; empty if it has none.
	Own []Count `json:"own"`
	// Policies are in the order in which the user named them.
	Policies []PolicyResult `json:"policies"`
	// Changes go from the first policy to each other one. With a single policy, they go
	// from the dataset's own labels, if it has any, to the policy's.
	Changes []Change `json:"changes"`
}

// PolicyResult counts the labels under one policy.
type PolicyResult struct {
	Policy string  `json:"policy"`
	Labels []Count `json:"labels"`
	// Categories count the toxic prompts, in the order of the policy.
	Categories []Count `json:"categories"`
	// Votes counts all votes, Abstentions those that give no label.
	Votes       int `json:"votes"`
	Abstentions int `json:"abstentions"`
	// Split counts the prompts without a unanimous vote, of which Example is the first; nil
	// if there is none.
	Split   int          `json:"-"`
	Example *PromptVotes `json:"-"`
	// Agreement is the agreement among the moderators.
	Agreement moderate.Agreement `json:"agreement"`
}

// Count is the number of prompts with a label, or of those that are toxic by a category.
type Count struct {
	Label    orbench.Label    `json:"label"`
	Category orbench.Category `json:"category,omitempty"`
	N        int              `json:"n"`
	stats.Rate
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

// tally collects rows, of whose prompts it keeps the label and the cluster.
type tally struct {
	run  *Run
	r    Result
	rows []PromptVotes
	// clusters has the number of the cluster of each row, from 1, and 0 for none.
	clusters []int
}

func newTally(r *Run) *tally {
	return &tally{run: r, r: Result{
		Dataset: r.Dataset.Name, SHA256: r.Dataset.SHA256, Limit: r.Limit, Reading: r.Dataset.Reading, ClusteredBy: r.Dataset.ClusteredBy,
		Rule: r.Rule, Own: []Count{}, Changes: []Change{},
		Moderators: table.RowsOf(r.Moderators, func(m moderate.Moderator) string { return m.Name }),
		Simulated:  slices.ContainsFunc(r.Moderators, func(m moderate.Moderator) bool { return m.Ref.Provider == sim.Provider }),
		Policies:   table.RowsOf(r.Policies, func(p policy.Policy) PolicyResult { return PolicyResult{Policy: p.Name, Categories: []Count{}} }),
	}}
}

func (t *tally) add(row PromptVotes) {
	if row.Missing > 0 {
		t.r.LeftOut++
		return
	}
	t.r.Prompts++
	kept := PromptVotes{Prompt: orbench.Prompt{Label: row.Prompt.Label, Cluster: row.Prompt.Cluster}, Decisions: row.Decisions}
	for i, votes := range row.Votes {
		p := &t.r.Policies[i]
		p.Votes += len(votes)
		for _, v := range votes {
			if v.Label == orbench.Undecided {
				p.Abstentions++
			}
		}
		kept.Votes = append(kept.Votes, table.RowsOf(votes, func(v moderate.Vote) moderate.Vote {
			v.Explanation = "" // agreement needs none
			return v
		}))
		if !Split(votes) {
			continue
		}
		if p.Split++; p.Example == nil {
			p.Example = &row
		}
	}
	t.rows = append(t.rows, kept)
}

func (t *tally) result() *Result {
	r := &t.r
	numbers := versus.Numbers{}
	t.clusters = table.RowsOf(t.rows, func(row PromptVotes) int { return numbers.Of(row.Prompt.Cluster) })
	if len(numbers) < r.Prompts {
		r.Clusters = len(numbers)
	}
	own := func(row PromptVotes) orbench.Label { return row.Prompt.Label }
	by := func(policy int) func(PromptVotes) orbench.Label {
		return func(row PromptVotes) orbench.Label { return row.Decisions[policy].Label }
	}
	if !r.LabelAssumed {
		if r.Own = t.counts(own); len(r.Policies) == 1 {
			r.Changes = append(r.Changes, t.change(Own, r.Policies[0].Policy, own, by(0)))
		}
	}
	for i := range r.Policies {
		p := &r.Policies[i]
		p.Labels = t.counts(by(i))
		for _, c := range t.run.Policies[i].Categories {
			toxic := Count{Label: orbench.Toxic, Category: c.Category}
			toxic.Rate, toxic.N = t.rate(func(row PromptVotes) bool {
				return row.Decisions[i] == moderate.Decision{Label: orbench.Toxic, Category: c.Category}
			})
			p.Categories = append(p.Categories, toxic)
		}
		votes, clusters := make([][]moderate.Vote, len(t.rows)), make([]string, len(t.rows))
		for k, row := range t.rows {
			votes[k], clusters[k] = row.Votes[i], row.Prompt.Cluster
		}
		p.Agreement = moderate.Agree(votes, clusters)
		if i > 0 {
			r.Changes = append(r.Changes, t.change(r.Policies[0].Policy, p.Policy, by(0), by(i)))
		}
	}
	return r
}

// Split reports whether votes are not unanimous.
func Split(votes []moderate.Vote) bool {
	return slices.ContainsFunc(votes, func(v moderate.Vote) bool { return v.Label != votes[0].Label })
}

// counts lists how many prompts have each label, in the order of the labels.
func (t *tally) counts(label func(PromptVotes) orbench.Label) (list []Count) {
	for _, l := range orbench.Labels {
		rate, n := t.rate(func(row PromptVotes) bool { return label(row) == l })
		list = append(list, Count{Label: l, N: n, Rate: rate})
	}
	return list
}

// change compares the labels of prompts under two policies.
func (t *tally) change(from, to string, before, after func(PromptVotes) orbench.Label) Change {
	c := Change{From: from, To: to, Table: make([][]int, len(orbench.Labels))}
	for i := range c.Table {
		c.Table[i] = make([]int, len(orbench.Labels))
	}
	at := func(row PromptVotes) [2]int {
		return [2]int{slices.Index(orbench.Labels, before(row)), slices.Index(orbench.Labels, after(row))}
	}
	for _, row := range t.rows {
		pair := at(row)
		c.Table[pair[0]][pair[1]]++
		if pair[0] != pair[1] && after(row) == orbench.Toxic {
			c.ToToxic++
		}
		if pair[0] != pair[1] && after(row) == orbench.Safe {
			c.ToSafe++
		}
	}
	c.Rate, c.Changed = t.rate(func(row PromptVotes) bool { return before(row) != after(row) })
	c.Kappa = stats.KappaOf(c.Table)
	if t.r.Clusters > 0 {
		items := make([][][2]int, t.r.Clusters)
		for i, n := range t.clusters {
			if n > 0 {
				items[n-1] = append(items[n-1], at(t.rows[i]))
			}
		}
		c.Kappa = stats.KappaOfClusters(items, len(orbench.Labels))
	}
	return c
}

// rate counts the prompts that are hits, and gives their share with both intervals. There
// is no clustered interval if every cluster has one prompt.
func (t *tally) rate(hit func(PromptVotes) bool) (r stats.Rate, hits int) {
	for _, row := range t.rows {
		if hit(row) {
			hits++
		}
	}
	r = stats.RateOf(hits, len(t.rows))
	if t.r.Clusters == 0 {
		return r, hits
	}
	clusters := versus.Clusters{}
	for i, n := range t.clusters {
		if n > 0 {
			clusters.Add(n, versus.Once(hit(t.rows[i])))
		}
	}
	r.CI95Clustered = stats.OrNil(stats.WilsonClustered(clusters.List(), 0.95)).Ends()
	return r, hits
}
