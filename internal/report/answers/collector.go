package answers

import (
	"bufio"
	"cmp"
	"fmt"
	"io"
	"slices"

	json "github.com/go-json-experiment/json/v1"

	"github.com/orbench/orbench"
	"github.com/orbench/orbench/internal/page"
	"github.com/orbench/orbench/internal/score"
	"github.com/orbench/orbench/internal/untrusted"
)

const (
	// groupSample is the most answers that the page shows for one target on one
	// label of one dataset.
	groupSample = 200
	// pageSample is the most answers on the whole page, so that a browser can
	// still open it. With many groups, each gets an equal share.
	pageSample = 3000
	// groupFloor is the share that a group keeps however many groups there are.
	groupFloor = 10
)

// Collector receives the rows of a run one by one as they are derived. It
// writes each as a line of JSON and keeps a bounded sample, so its memory does
// not grow with the run. It is not safe for concurrent use; the lines are in
// the order of Add.
//
// The sample prefers what is worth reading: answers on which judges disagree,
// calls that failed or were not judged, and answers that contradict the
// prompt's label (a refused safe prompt, an answered toxic one). Among these it
// keeps the rows with the smallest prompt IDs. IDs are hashes, so this is a
// fair draw that is the same every time and shows the same prompts for every
// target.
type Collector struct {
	out    *bufio.Writer
	lines  *json.Encoder
	groups []*group
	index  map[groupKey]*group
	last   *group
	rows   int
}

// groupKey identifies the rows that a RunResult counts.
type groupKey struct {
	target, dataset string
	label           orbench.Label
}

// group samples the rows of one key. Rows without an answer are not sampled.
type group struct {
	Group
	key   groupKey
	tiers [tiers]tier
}

// The tiers of a group, in the order in which they are shown.
const (
	disagree = iota
	unsettled
	against
	along
	tiers
)

// tier keeps the rows with the smallest IDs of one kind.
type tier struct {
	kept []numbered
	// bound is the largest ID that can still enter after the tier was cut.
	bound orbench.PromptID
}

// numbered is an answer with the number of its row in the order of arrival, from 1.
type numbered struct {
	page.Answer
	seq int
}

// NewCollector makes a Collector that writes its lines to answers.
func NewCollector(answers io.Writer) *Collector {
	c := &Collector{out: bufio.NewWriterSize(answers, 1<<16), index: map[groupKey]*group{}}
	// Some programs that read the file line by line treat more than one
	// character as the end of a line, and people view the file on terminals.
	c.lines = json.NewEncoder(untrusted.NewWriter(c.out))
	c.lines.SetEscapeHTML(false)
	return c
}

// Add takes one row. It keeps only what the sample needs.
func (c *Collector) Add(row score.AnswerRow) error {
	c.rows++
	if err := c.lines.Encode(&row); err != nil {
		return fmt.Errorf("write answer %d (prompt %s): %w", c.rows, row.Prompt.ID, err)
	}
	g := c.groupOf(groupKey{page.ShownTarget(row), row.Dataset, row.Prompt.Label})
	g.Rows++
	if row.Status == score.Unanswered {
		g.Unanswered++
		return nil
	}
	t := &g.tiers[tierOf(row)]
	if t.bound != "" && row.Prompt.ID > t.bound {
		return nil
	}
	t.kept = append(t.kept, numbered{page.NewAnswer(row, page.InList), c.rows})
	// Some slack above the limit avoids a sort for every row that enters.
	if limit := c.limit(); len(t.kept) >= limit+limit/4+4 {
		t.cut(limit)
	}
	return nil
}

// Flush writes out what is buffered. Call it after the last Add.
func (c *Collector) Flush() error {
	if err := c.out.Flush(); err != nil {
		return fmt.Errorf("write answers: %w", err)
	}
	return nil
}

func (c *Collector) groupOf(k groupKey) *group {
	if c.last != nil && c.last.key == k {
		return c.last
	}
	g, ok := c.index[k]
	if !ok {
		g = &group{Group: Group{Target: k.target, Dataset: k.dataset, Label: k.label}, key: k}
		c.index[k] = g
		c.groups = append(c.groups, g)
		// A new group shrinks the share of the earlier ones.
		for _, old := range c.groups {
			for i := range old.tiers {
				old.tiers[i].cut(c.limit())
			}
		}
	}
	c.last = g
	return g
}

// limit returns how many rows each tier of each group may keep.
func (c *Collector) limit() int {
	return min(groupSample, max(groupFloor, pageSample/max(1, len(c.groups))))
}

// cut keeps the n rows with the smallest IDs.
func (t *tier) cut(n int) {
	if len(t.kept) <= n {
		return
	}
	slices.SortFunc(t.kept, func(a, b numbered) int { return cmp.Or(cmp.Compare(a.ID, b.ID), a.seq-b.seq) })
	clear(t.kept[n:])
	t.kept = t.kept[:n]
	t.bound = t.kept[n-1].ID
}

// tierOf returns the tier of a row by how much it is worth reading.
func tierOf(row score.AnswerRow) int {
	judged, refused := 0, 0
	for _, v := range row.Verdicts {
		if v.Class == orbench.Unjudged {
			continue
		}
		judged++
		if v.Class.Refused() {
			refused++
		}
	}
	switch {
	case refused > 0 && refused < judged:
		return disagree
	case judged < len(row.Verdicts) || judged == 0:
		return unsettled
	case (refused > 0) != (row.Prompt.Label == orbench.Toxic):
		return against
	}
	return along
}

// sample draws the group's answers: a quarter of the limit for each tier that
// can fill it, and the rest for the tiers in their order. It is sorted by tier
// and then by arrival.
func (g *group) sample(limit int) []page.Answer {
	var take [tiers]int
	left := limit
	for i := range g.tiers {
		g.tiers[i].cut(limit)
		take[i] = min(len(g.tiers[i].kept), limit/tiers)
		left -= take[i]
	}
	for i := range g.tiers {
		more := min(left, len(g.tiers[i].kept)-take[i])
		take[i] += more
		left -= more
	}
	var drawn []page.Answer
	for i := range g.tiers {
		g.tiers[i].cut(take[i])
		kept := g.tiers[i].kept
		slices.SortFunc(kept, func(a, b numbered) int { return a.seq - b.seq })
		for _, one := range kept {
			drawn = append(drawn, one.Answer)
		}
	}
	return drawn
}

// Group holds the answers that a page shows for one target, with all its
// samples, on one label of one dataset.
type Group struct {
	Target, Dataset string
	Label           orbench.Label
	// Rows counts all rows, and Unanswered those without an answer.
	Rows, Unanswered int
	Drawn            []page.Answer
}

// Groups draws the sample. The groups are in the order in which they arrived.
func (c *Collector) Groups() []Group {
	var all []Group
	for _, g := range c.groups {
		g.Drawn = g.sample(c.limit())
		all = append(all, g.Group)
	}
	return all
}

// Conserved checks the figures against the added rows: every prompt of every
// run must have its line in answers.jsonl, and the number of those without an
// answer must be the same.
func (c *Collector) Conserved(r score.Result) error {
	// The samples of a target are one group, so the target is not part of the
	// key.
	type key struct {
		dataset string
		label   orbench.Label
	}
	type sum struct{ rows, unanswered int }
	var keys []key
	figures, added := map[key]sum{}, map[key]sum{}
	count := func(in map[key]sum, k key, rows, unanswered int) {
		keys = append(keys, k)
		in[k] = sum{in[k].rows + rows, in[k].unanswered + unanswered}
	}
	for _, run := range r.Runs {
		count(figures, key{run.Dataset, run.Label}, run.N, run.Unanswered)
	}
	for _, g := range c.groups {
		count(added, key{g.Dataset, g.Label}, g.Rows, g.Unanswered)
	}
	slices.SortFunc(keys, func(a, b key) int {
		return cmp.Or(cmp.Compare(a.dataset, b.dataset), cmp.Compare(a.label, b.label))
	})
	for _, k := range keys {
		if figures[k] != added[k] {
			return fmt.Errorf("the figures on %s (%s) count %d prompts, %d of them unanswered, but there are %d rows, %d of them unanswered, which is a fault of orbench",
				k.dataset, k.label, figures[k].rows, figures[k].unanswered, added[k].rows, added[k].unanswered)
		}
	}
	return nil
}
