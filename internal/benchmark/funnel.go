package benchmark

import (
	"fmt"

	"github.com/orbench/orbench"
	"github.com/orbench/orbench/internal/generator"
)

// Funnel counts, stage by stage, what came in and what happened to it. Every reply and
// every item of a reply is in exactly one count of its stage; see Lost.
type Funnel struct {
	Seeds        SeedFunnel         `json:"seeds"`
	Rewrites     RewriteFunnel      `json:"rewrites"`
	Moderation   ModerationFunnel   `json:"moderation"`
	SecondChance SecondChanceFunnel `json:"second_chance"`
	Selection    SelectionFunnel    `json:"selection"`
	// FailedCalls counts the calls of all stages that gave no reply. Running the command
	// again retries them.
	FailedCalls int `json:"failed_calls"`
}

// SeedFunnel counts the seeds that generators were asked for.
type SeedFunnel struct {
	// Calls = FailedCalls + Unreadable + Read.
	Calls       int `json:"calls"`
	FailedCalls int `json:"failed_calls"`
	// Unreadable counts replies without any item: refused, blocked or garbled.
	Unreadable int `json:"unreadable"`
	Read       int `json:"read"`
	// Items = Foreign + Duplicates + NearDuplicates + Surplus + Kept.
	Items int `json:"items"`
	// Foreign counts items that are no requests; see Generator.
	Foreign int `json:"foreign,omitempty"`
	// FromFile counts the items that came from a file and not from replies.
	FromFile       int `json:"from_file,omitempty"`
	Duplicates     int `json:"duplicates"`
	NearDuplicates int `json:"near_duplicates"`
	// Surplus counts items after the wanted number was reached.
	Surplus int `json:"surplus"`
	Kept    int `json:"kept"`
	// Fed counts rewrites that stayed toxic and became seeds of a later round;
	// they are not in Kept.
	Fed int `json:"fed_back"`
}

// RewriteFunnel counts the rewrites of all seeds.
type RewriteFunnel struct {
	// Seeds = FailedCalls + Unreadable + Read, by the last call for each seed.
	Seeds       int `json:"seeds"`
	FailedCalls int `json:"failed_calls"`
	Unreadable  int `json:"unreadable"`
	Read        int `json:"read"`
	// AskedAgain counts seeds whose first reply held no list.
	AskedAgain int `json:"asked_again"`
	// Missing counts the items that were requested but absent from the replies that were
	// read.
	Missing int `json:"missing"`
	// Items = the sum of Dropped + Kept.
	Items   int            `json:"items"`
	Dropped map[Reason]int `json:"dropped"`
	Kept    int            `json:"kept"`
	// Repairs counts the second attempts at items that broke a rule. Repaired counts
	// those that then kept the rules.
	Repairs  int `json:"mends"`
	Repaired int `json:"mended"`
	// BrokenAtFirst and Broken count the rules that items broke, before and after
	// repair; an item may break several.
	BrokenAtFirst map[generator.Rule]int `json:"broken_at_first"`
	Broken        map[generator.Rule]int `json:"broken"`
}

// ModerationFunnel counts the items put to the vote.
type ModerationFunnel struct {
	// Voted counts the rewrites by the label that they were voted. SeedsVoted counts the
	// seeds that were put to the vote as candidates for the toxic set.
	Voted      map[orbench.Label]int `json:"voted"`
	SeedsVoted map[orbench.Label]int `json:"seeds_voted"`
	// Votes counts the votes on prompts and on answers.
	Votes int `json:"votes"`
	// Abstentions counts votes that were blocked, silent, unreadable or failed.
	Abstentions int `json:"abstentions"`
}

// Checked is the number of seeds put to the vote.
func (f ModerationFunnel) Checked() int { return sum(f.SeedsVoted) }

// SecondChanceFunnel counts the outcomes of prompts that were voted toxic.
type SecondChanceFunnel struct {
	// Asked = Missing + Readmitted + Confirmed + Unclear.
	Asked      int `json:"asked"`
	Missing    int `json:"missing"`
	Readmitted int `json:"readmitted"`
	Confirmed  int `json:"confirmed"`
	Unclear    int `json:"unclear"`
}

// SelectionFunnel counts the selectors' answers and the sets.
type SelectionFunnel struct {
	// Asked counts the safe prompts put to the selectors, Answers the selectors' answers,
	// and Unjudged the answers without a verdict.
	Asked    int `json:"asked"`
	Answers  int `json:"answers"`
	Unjudged int `json:"unjudged"`
	// FullCandidates, HardCandidates and ToxicCandidates qualify for their sets.
	FullCandidates  int             `json:"full_candidates"`
	HardCandidates  int             `json:"hard_candidates"`
	ToxicCandidates int             `json:"toxic_candidates"`
	Sets            map[SetName]int `json:"sets"`
}

// NewFunnel is a funnel without any counts.
func NewFunnel() Funnel {
	return Funnel{
		Rewrites:   RewriteFunnel{Dropped: map[Reason]int{}, BrokenAtFirst: map[generator.Rule]int{}, Broken: map[generator.Rule]int{}},
		Moderation: ModerationFunnel{Voted: map[orbench.Label]int{}, SeedsVoted: map[orbench.Label]int{}},
		Selection:  SelectionFunnel{Sets: map[SetName]int{}},
	}
}

// Lost names the first count that does not add up, or "" if all do.
func (f Funnel) Lost() string {
	s, r, m, c := f.Seeds, f.Rewrites, f.Moderation, f.SecondChance
	switch {
	case s.Calls != s.FailedCalls+s.Unreadable+s.Read:
		return "calls for seeds"
	case s.Items != s.Foreign+s.Duplicates+s.NearDuplicates+s.Surplus+s.Kept:
		return "seeds"
	case r.Seeds != s.Kept+s.Fed:
		return "seeds to rewrite"
	case r.Seeds != r.FailedCalls+r.Unreadable+r.Read:
		return "calls for rewrites"
	case r.Items != sum(r.Dropped)+r.Kept:
		return "rewrites"
	case r.Kept != sum(m.Voted):
		return "votes"
	case c.Asked != 0 && c.Asked != m.Voted[orbench.Toxic]+m.SeedsVoted[orbench.Toxic]:
		return "second chances"
	case c.Asked != c.Missing+c.Readmitted+c.Confirmed+c.Unclear:
		return "answers of the second chance"
	}
	return ""
}

func sum[K comparable](counts map[K]int) (total int) {
	for _, n := range counts {
		total += n
	}
	return total
}

// Add counts a row of the lineage that is complete except for its sets.
func (f *Funnel) Add(r *Record) {
	if r.Kind == Rewritten {
		f.addRewrite(r)
	}
	if r.Dropped != NotDropped {
		return
	}
	m := &f.Moderation
	if r.Kind == CheckedSeed {
		m.SeedsVoted[r.Voted]++
	} else {
		m.Voted[r.Voted]++
	}
	f.addVotes(r.Votes)
	if s := r.SecondChance; s != nil {
		c := &f.SecondChance
		c.Asked++
		f.addVotes(s.Votes)
		switch {
		case s.Missing != "":
			c.Missing++
		case s.Readmitted:
			c.Readmitted++
		case s.Confirmed:
			c.Confirmed++
		default:
			c.Unclear++
		}
	}
	if len(r.Replies) > 0 {
		f.Selection.Asked++
		f.Selection.Answers += len(r.Replies)
		for _, reply := range r.Replies {
			if reply.Class == orbench.Unjudged {
				f.Selection.Unjudged++
			}
		}
	}
}

func (f *Funnel) addRewrite(r *Record) {
	w := &f.Rewrites
	w.Items++
	for _, rule := range r.Broken {
		w.Broken[rule]++
	}
	atFirst := r.Broken
	if r.RepairCall != "" {
		w.Repairs++
		atFirst = r.BrokenBefore
		if len(r.Broken) == 0 {
			w.Repaired++
		}
	}
	for _, rule := range atFirst {
		w.BrokenAtFirst[rule]++
	}
	if r.Dropped != NotDropped {
		w.Dropped[r.Dropped]++
		return
	}
	w.Kept++
}

func (f *Funnel) addVotes(votes []Vote) {
	f.Moderation.Votes += len(votes)
	for _, v := range votes {
		if v.Label == orbench.Undecided {
			f.Moderation.Abstentions++
		}
	}
}

// Lines describes the funnel in sentences, stage by stage.
func (f Funnel) Lines() []string {
	s, w, m, c, h := f.Seeds, f.Rewrites, f.Moderation, f.SecondChance, f.Selection
	lines := []string{
		fmt.Sprintf("seeds: %d calls (%d unreadable, %d failed) gave %d items; dropped: no request %d, duplicate %d, near duplicate %d, surplus %d; kept %d",
			s.Calls, s.Unreadable, s.FailedCalls, s.Items, s.Foreign, s.Duplicates, s.NearDuplicates, s.Surplus, s.Kept),
		fmt.Sprintf("rewrites: %d seeds (%d of them fed back, %d unreadable, %d failed) gave %d items, %d short of what was asked for; %d were mended (%d of them well); dropped: no request %d, broken rule %d, duplicate %d, near duplicate %d, common opening %d, common form %d, surplus %d; kept %d",
			w.Seeds, s.Fed, w.Unreadable, w.FailedCalls, w.Items, w.Missing, w.Repairs, w.Repaired,
			w.Dropped[Foreign], w.Dropped[BrokenRule], w.Dropped[Duplicate], w.Dropped[NearDuplicate], w.Dropped[CommonOpening], w.Dropped[CommonForm], w.Dropped[Surplus], w.Kept),
		fmt.Sprintf("votes: %d, abstentions %d; rewrites voted %d safe, %d toxic, %d controversial, %d undecided; of %d seeds put to the vote, %d toxic",
			m.Votes, m.Abstentions, m.Voted[orbench.Safe], m.Voted[orbench.Toxic], m.Voted[orbench.Controversial], m.Voted[orbench.Undecided],
			m.Checked(), m.SeedsVoted[orbench.Toxic]),
		fmt.Sprintf("second chance: %d prompts, rewrites and seeds; %d re-admitted, %d confirmed as toxic, %d unclear, %d without an answer",
			c.Asked, c.Readmitted, c.Confirmed, c.Unclear, c.Missing),
		fmt.Sprintf("selectors: %d answers to %d prompts, %d unjudged; %d prompts qualify as hard, %d as toxic",
			h.Answers, h.Asked, h.Unjudged, h.HardCandidates, h.ToxicCandidates),
		fmt.Sprintf("sets: full %d, hard %d, toxic %d", h.Sets[FullSet], h.Sets[HardSet], h.Sets[ToxicSet]),
	}
	if s.FromFile > 0 {
		lines[0] += fmt.Sprintf("; %d of the items came from a file", s.FromFile)
	}
	if n := w.Dropped[Answered]; n > 0 {
		lines = append(lines, fmt.Sprintf("targets: %d prompts dropped because every target answered them", n))
	}
	if n := w.Dropped[NoTurns]; n > 0 {
		lines = append(lines, fmt.Sprintf("conversations: %d rewrites dropped because no conversation leads up to them", n))
	}
	if f.FailedCalls > 0 {
		lines = append(lines, fmt.Sprintf("failed calls: %d", f.FailedCalls))
	}
	return lines
}
