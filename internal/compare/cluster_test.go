package compare_test

import (
	"fmt"
	"math/rand/v2"
	"os"
	"strings"
	"testing"

	"gonum.org/v1/gonum/stat/distuv"

	"github.com/orbench/orbench"
	"github.com/orbench/orbench/internal/compare"
	"github.com/orbench/orbench/internal/score"
	"github.com/orbench/orbench/internal/versus"
	"github.com/orbench/orbench/stats"
)

// in puts a row's prompt into a cluster of a dataset.
func in(dataset, cluster string, r score.AnswerRow) score.AnswerRow {
	r.Dataset, r.Prompt.Cluster = dataset, cluster
	return r
}

// clusters adds prompts in clusters of ten. A positive change is how many the
// candidate refuses and the base does not; a negative one is the reverse.
func clusters(t *testing.T, c *compare.Comparison, changes ...int) {
	t.Helper()
	for k, change := range changes {
		for i := range 10 {
			name := fmt.Sprintf("seed %d", k)
			must(t, c.AddBase(in("made up", name, row(10*k+i, orbench.Safe, i < -change))))
			must(t, c.AddCandidate(in("made up", name, row(10*k+i, orbench.Safe, i < change))))
		}
	}
}

// TestClustered counts changes by cluster.
func TestClustered(t *testing.T) {
	t.Parallel()
	changes := []int{3, 10, 1, 2, 4, 1, 5, -2, 0, 0, 0, 0}
	c := compare.New("made up")
	clusters(t, c, changes...)
	r := c.Result(compare.Options{Seed: 3, ClusteredBy: "seed"})
	m := r.Metrics[0]
	if r.ClusteredBy != "seed" || m.Test != versus.McNemarClustered || m.Base.Clusters != 12 || m.Candidate.Clusters != 12 {
		t.Errorf("clustered by %q, %d and %d clusters, tested by %s", r.ClusteredBy, m.Base.Clusters, m.Candidate.Clusters, m.Test)
	}
	// Of the 120 prompts 26 flip one way and 2 the other.
	var variance float64
	for _, change := range changes {
		left := (float64(change) - 2) / 110
		variance += left * left * 11 / 12
	}
	want, p, _ := stats.TangoClustered(2, 26, 120, variance, 12, score.Confidence)
	near(t, "p", *m.P, p)
	near(t, "the lower end", m.Difference.Lo, want.Lo)
	near(t, "the upper end", m.Difference.Hi, want.Hi)
	if plain := stats.McNemar(m.OnlyBaseRefused, m.OnlyCandidateRefused); plain > 0.001 {
		t.Errorf("without clusters p were %v, no case of an overrated difference", plain)
	}
	if ci := m.Candidate.CI95Clustered; ci == nil || m.Candidate.Interval() != ci || ci[1]-ci[0] <= m.Candidate.CI95[1]-m.Candidate.CI95[0] {
		t.Errorf("the rate has the clustered interval %v beside %v", ci, m.Candidate.CI95)
	}
	for _, by := range m.ByCategory {
		if by.Base.Clusters != 12 || by.Test != versus.McNemarClustered || by.PHolm == nil || *by.PHolm < *by.P {
			t.Errorf("%s has %+v", by.Category, by)
		}
	}
	if toxic := r.Metrics[1]; toxic.Base.Clusters != 0 || toxic.Difference != nil {
		t.Errorf("figures of no prompt: %+v", toxic)
	}

	u := c.Result(compare.Options{Unpaired: true}).Metrics[0]
	if u.Test != compare.FisherClustered || u.Base.Clusters != 12 {
		t.Errorf("unpaired: %d clusters, tested by %s", u.Base.Clusters, u.Test)
	}
	plain, _ := stats.Newcombe(u.Candidate.Refused, 120, u.Base.Refused, 120, 0.95)
	if u.Difference.Lo >= plain.Lo || u.Difference.Hi <= plain.Hi || *u.P <= stats.FisherExact(u.Candidate.Refused, 120, u.Base.Refused, 120) {
		t.Errorf("unpaired: %+v with p %v does not count the clusters", *u.Difference, *u.P)
	}
}

// TestWhichCluster names the clusters of four pairs of prompts on each side.
func TestWhichCluster(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		base, candidate func(i int) (dataset, cluster string)
		want            int
	}{
		"no clusters":                {func(int) (string, string) { return "x", "" }, func(int) (string, string) { return "x", "" }, 0},
		"each its own":               {func(i int) (string, string) { return "x", fmt.Sprint(i) }, func(int) (string, string) { return "x", "" }, 0},
		"two":                        {func(i int) (string, string) { return "x", fmt.Sprint(i % 2) }, func(i int) (string, string) { return "x", fmt.Sprint(i % 2) }, 2},
		"only the candidate's known": {func(int) (string, string) { return "x", "" }, func(i int) (string, string) { return "y", fmt.Sprint(i % 2) }, 2},
		"the base's, if both are":    {func(i int) (string, string) { return "x", fmt.Sprint(i / 4) }, func(i int) (string, string) { return "y", fmt.Sprint(i) }, 2},
		"one name in two datasets":   {func(i int) (string, string) { return fmt.Sprint(i % 2), "1" }, func(int) (string, string) { return "y", "" }, 2},
		"some stand alone": {func(i int) (string, string) {
			if i < 5 {
				return "x", "five"
			}
			return "x", ""
		}, func(int) (string, string) { return "y", "" }, 4},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := compare.New("made up")
			for i := range 8 {
				dataset, cluster := tt.base(i)
				must(t, c.AddBase(in(dataset, cluster, row(i, orbench.Safe, false))))
				dataset, cluster = tt.candidate(i)
				must(t, c.AddCandidate(in(dataset, cluster, row(i, orbench.Safe, true))))
			}
			r := c.Result(compare.Options{})
			m := r.Metrics[0]
			if m.Base.Clusters != tt.want || m.Candidate.Clusters != tt.want || (r.ClusteredBy == "cluster") != (tt.want > 0) {
				t.Errorf("%d and %d clusters by %q, want %d", m.Base.Clusters, m.Candidate.Clusters, r.ClusteredBy, tt.want)
			}
			if (m.Test == versus.McNemarClustered) != (tt.want > 0) {
				t.Errorf("the test is %s", m.Test)
			}
		})
	}
}

// TestTooFewClusters checks that a gate that needs significance is undecided if
// too few clusters cannot show it.
func TestTooFewClusters(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		changes []int
		gate    string
		want    compare.GateStatus
		reason  string
	}{
		{[]int{10, 10, 10, 10, 10, 10}, "over_refusal > +2pp", compare.Undecided, "not significant with only 6 clusters of prompts"},
		{[]int{10, 10, 10, 10}, "over_refusal > +2pp, significant or not", compare.Tripped, "+100.0 points"},
		{[]int{10, 10, 10, 10, 10, 10, 10}, "over_refusal > +2pp", compare.Tripped, "which is significant"},
		{[]int{0, 0, 1}, "over_refusal > +5pp", compare.Passed, "+3.3 points"},
		{[]int{10}, "over_refusal > +2pp", compare.Undecided, "1 cluster of"},
		{[]int{10, 10, 10, 0, 0, 0, 0}, "over_refusal > +2pp", compare.Passed, "not significant"},
	} {
		c := compare.New("made up")
		clusters(t, c, tt.changes...)
		gate, err := compare.ParseGate(tt.gate)
		must(t, err)
		g := c.Result(compare.Options{Gates: []compare.Gate{gate}}).Gates[0]
		if g.Status != tt.want || !strings.Contains(g.Reason, tt.reason) {
			t.Errorf("%v, %s: %s (%s), want %s with %q", tt.changes, tt.gate, g.Status, g.Reason, tt.want, tt.reason)
		}
	}
}

// TestClusteredChanceAgainstItself compares two runs with the same rates on
// clusters of five to ten prompts. Each cluster has its own chance of being
// refused, which is drawn again for the candidate, so prompts flip together.
// Gates that need significance must fail at most 5% of the time. They would
// fail far more often if they treated the prompts as independent.
func TestClusteredChanceAgainstItself(t *testing.T) {
	t.Parallel()
	const perLabel = 60
	const seed = 20261126
	if os.Getenv("ORBENCH_LONG") == "" {
		t.Skip("a long proof: set ORBENCH_LONG=1, as .ci/run does")
	}
	runs := 60
	if os.Getenv("ORBENCH_LONG") == "2" {
		runs = 2000 // as in docs/compare.md
	}
	t.Logf("seed %d", seed)
	source := rand.NewPCG(seed, 1)
	rng := rand.New(source)
	chance := distuv.Beta{Alpha: 0.2, Beta: 0.8, Src: source} // prompts of a cluster correlate by 0.5
	counted, ignored := map[string]int{}, map[string]int{}
	for i := range runs {
		c, plain := compare.New("made up"), compare.New("made up")
		n := 0
		for k := range 2 * perLabel {
			label := orbench.Safe
			if k%2 == 1 {
				label = orbench.Toxic
			}
			before, after := chance.Rand(), chance.Rand()
			for range 5 + rng.IntN(6) {
				n++
				// Most toxic prompts are refused.
				b, a := row(n, label, (rng.Float64() < before) == (label == orbench.Safe)), row(n, label, (rng.Float64() < after) == (label == orbench.Safe))
				// One category is enough: each would need a bootstrap of its
				// own.
				b.Prompt.Category, a.Prompt.Category = "hate", "hate"
				name := fmt.Sprint(k)
				must(t, c.AddBase(in("made up", name, b)))
				must(t, c.AddCandidate(in("made up", name, a)))
				must(t, plain.AddBase(b))
				must(t, plain.AddCandidate(a))
			}
		}
		count(counted, c, uint64(i))
		count(ignored, plain, uint64(i))
	}
	check(t, counted, runs)
	for _, text := range selfGates[:2] {
		t.Logf("%s, clusters ignored: failed %d of %d", text, ignored[text], runs)
		if ignored[text] <= allowed(runs) {
			t.Errorf("%s failed only %d of %d comparisons that ignore clusters: the simulation shows nothing", text, ignored[text], runs)
		}
	}
}
