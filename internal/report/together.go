package report

import (
	"slices"
	"strings"

	"github.com/orbench/orbench"
	"github.com/orbench/orbench/internal/figure"
	"github.com/orbench/orbench/internal/score"
	"github.com/orbench/orbench/internal/table"
)

// projections are the tables of figures that rest on several rates, or on several answers to
// a prompt.
var projections = map[string]projection{
	"changes": {
		title: "What variants change, in points against the plain target", note: "Differences are prompt by prompt. orbench compare lists the prompts that changed.",
		keys: []string{"target", "against", "dataset", "label", "judge"}, columns: []column{{figure.Change, ofN, "prompts"}, {figure.Change, tested, "change"}},
	},
	"repeats": {
		title: "Each prompt asked several times: how many are never, sometimes and always refused", note: "Counted are the prompts whose answers were all judged.",
		keys:    []string{"target", "dataset", "label", "judge"},
		columns: []column{{figure.NeverRefused, ofN, "prompts"}, {figure.NeverRefused, ofK, ""}, {figure.SometimesRefused, ofK, ""}, {figure.AlwaysRefused, ofK, ""}},
	},
	"auc": {
		title: "How well scores tell toxic from safe prompts at any threshold: area under the ROC curve; 0.5 is chance",
		note:  "The interval allows for prompts of one cluster, and samples of one prompt, that are not independent (DeLong, Obuchowski).",
		keys:  []string{"target", "dataset"}, columns: []column{{figure.AUC, ofN, "scored"}, {figure.AUC, sampled, ""}},
	},
	"dialogs": {
		title: "More than one turn: what becomes of refusals and answers from the prompt alone to the end of the dialog",
		note: "Taken back: of the prompts refused alone, those answered at the end; the rest persists. Withdrawn: of the prompts answered alone, those refused at the end. " +
			"A dialog that undoes over-refusal of safe prompts may also undo refusal of toxic ones.",
		keys: []string{"target", "against", "dataset", "label", "judge"},
		columns: []column{
			{figure.RefusedAlone, ofN, "n"},
			{figure.RefusedAlone, valued, ""},
			{figure.RefusedLast, valued, ""},
			{figure.TakenBack, ofBoth, ""},
			{figure.TakenBack, sampled, "rate"},
			{figure.Withdrawn, ofBoth, ""},
			{figure.Withdrawn, sampled, "rate"},
		},
	},
	"differences": {
		title: "Pairs of targets, with Holm's correction over all pairs of a set",
		note:  "The first less the second, prompt by prompt, or by people's labels where they correct both rates. p (Holm) counts the judge's error where it is known; the last column does not.",
		keys:  []string{"target", "against", "dataset", "label", "judge"},
		columns: []column{{figure.Difference, tested, ""}, {figure.Difference, show{cells: func(f *figure.Figure) []string {
			return []string{table.PValue(f.PHolm), table.PValue(f.PHolmByVerdicts)}
		}, heads: []string{"by verdicts alone"}}, "p (Holm)"}},
	},
	"sets": {
		title: "The order of models, set against set", keys: []string{"set A", "set B", "label"},
		columns: []column{{figure.SetOrder, ofN, "models"}, {figure.SetOrder, valued, ""}, {figure.SetOrder, ofK, "reversed"}},
	},
	"correlations": {
		title: "Over-refusal against toxic refusal over the models (95% intervals by bootstrap)", keys: []string{"judge", "datasets", "left out"},
		columns: []column{{figure.Spearman, ofN, "models"}, {figure.Spearman, compact, ""}, {figure.Pearson, compact, ""}, {figure.Kendall, compact, ""}},
	},
	"pairs": {
		title: "Pairs: what targets do with a safe prompt and a similar toxic one",
		note:  "Told apart: safe answered, toxic refused. Over-refused: both refused. Under-refused: both answered. Reversed: safe refused, toxic answered.",
		keys:  []string{"target", "datasets", "judge"},
		columns: []column{
			{figure.ToldApart, ofN, "pairs"},
			{figure.ToldApart, ofOutcome, ""},
			{figure.ToldApart, show{cells: func(f *figure.Figure) []string { return []string{interval(f, f.Sampled())} }}, "95% interval"},
			{figure.OverRefused, ofOutcome, ""},
			{figure.UnderRefused, ofOutcome, ""},
			{figure.PairsReversed, ofOutcome, ""},
		},
	},
	"discrimination": {
		title:   "Discrimination over the judged pairs, 95% intervals by pair: are toxic prompts told from safe ones",
		note:    "J: toxic refusal minus over-refusal. d′: how far apart both are, in standard deviations; 0 is chance. c: below 0, the target refuses when in doubt; above 0, it answers.",
		keys:    []string{"target", "datasets", "judge"},
		columns: []column{{figure.PairsSafe, valued, ""}, {figure.PairsToxic, valued, ""}, {figure.PairsJ, sampled, ""}, {figure.DPrime, sampled, ""}, {figure.Criterion, sampled, ""}},
	},
	"types": {
		title: "Pairs by type", note: "Intervals are not corrected for the number of types.",
		keys: []string{"target", "datasets", "judge", "type"},
		columns: []column{
			{figure.ToldApart, ofN, "pairs"},
			{figure.ToldApart, ofOutcome, ""},
			{figure.OverRefused, ofOutcome, ""},
			{figure.UnderRefused, ofOutcome, ""},
			{figure.PairsReversed, ofOutcome, ""},
			{figure.PairsJ, sampled, ""},
			{figure.DPrime, sampled, ""},
		},
	},
}

// ofOutcome is how many pairs have an outcome, with their share. With several answers to a
// prompt, a pair counts in parts.
var ofOutcome = show{cells: func(f *figure.Figure) []string {
	n := table.Count(int(f.Count()))
	if k := f.Count(); float64(int(k)) != k {
		n = strings.TrimSuffix(table.PerCent(k), "%")
	}
	if f.Value != nil {
		n += " (" + value(f) + ")"
	}
	return []string{n}
}}

// togetherSections lays out what rests on several of the figures by label: both
// sides of a target, all targets, and all sources of refusals. Sections without
// rows are left out.
func togetherSections(r score.Result) []table.Section {
	project := func(name string) table.Section { return projections[name].of(r.Figures) }
	all := append(labeledSections(r), tradeOffSection(r), project("changes"), project("auc"), dialogSection(r), project("differences"))
	for _, label := range []orbench.Label{orbench.Safe, orbench.Toxic} {
		if slices.ContainsFunc(r.Figures, func(f figure.Figure) bool { return f.Measure == figure.SetOrder && f.Label == label }) {
			all = append(all, setSection(r, label))
		}
	}
	all = append(all, project("sets"), correlationSection(r), unableSection(r), sourceSection(r), reasonSection(r))
	all = append(all, pairSections(r.Figures)...)
	return slices.DeleteFunc(all, func(s table.Section) bool { return len(s.Rows) == 0 })
}

// dialogSection says what dialogs do to refusals.
func dialogSection(r score.Result) table.Section {
	s := projections["dialogs"].of(r.Figures)
	for f := range figure.Of(r.Figures, figure.RefusedAlone) {
		if n := f.Missing["excluded"]; n > 0 {
			s.Note += " " + f.Target + ", " + string(f.Label) + ": " + table.Counted(n, "prompt", "prompts") + " without a verdict alone or at the end."
		}
	}
	return s
}

// tradeOffSection shows both sides of each target together.
func tradeOffSection(r score.Result) table.Section {
	s := table.Section{
		Title:  "Both sides together: Youden's J is toxic refusal minus over-refusal; 1 is perfect, 0 is chance",
		Header: []string{"target", "judge", "datasets", "outdone by", "over-refusal", "toxic refusal", "J", "range", "by verdicts"}, Left: 4,
	}
	pairs := r.Pairs()
	for _, p := range pairs {
		if !p.Safe.Defined() || !p.Toxic.Defined() {
			continue
		}
		var better table.Names
		for _, o := range pairs {
			if o.Dominates(p) {
				better.Add(table.ShortenTarget(o.Target, gridName))
			}
		}
		outdone := table.None
		if len(better) > 0 {
			outdone = better[0]
			if more := len(better) - 1; more > 0 {
				outdone += " and " + table.Count(more) + " more"
			}
		}
		// Without a range, J would seem more exact than the rates.
		j := []string{table.None, notChecked, table.None}
		if f := figure.Find(r.Figures, figure.YoudenJ, p.Keys()); f != nil && f.Range != nil {
			j = ranged.cells(f)
		}
		s.Add(table.Name(p.Target, p.Simulated()), p.Judge, p.Datasets(), outdone, table.Rate(p.Safe.Judge.Rate), table.Rate(p.Toxic.Judge.Rate), j)
	}
	if len(s.Rows) > 1 {
		s.Note = "Outdone by: targets that, on the same datasets, refuse no more safe prompts and no fewer toxic ones."
	}
	return s
}

// setSection shows the rates of each target on each set.
func setSection(r score.Result, label orbench.Label) table.Section {
	s := table.Section{Title: "Sets side by side: " + string(label) + " prompts refused, % (95%)", Header: []string{"target"}, Left: 1, WrapNames: true}
	var targets table.Names
	sets := r.Sets(label)
	for _, set := range sets {
		s.Header = append(s.Header, set.Name)
		for _, c := range set.Rates {
			targets.Add(c.Target)
		}
	}
	for _, target := range targets {
		row := []string{target}
		for _, set := range sets {
			cell := table.None
			if i := slices.IndexFunc(set.Rates, func(c score.Contender) bool { return c.Target == target }); i >= 0 {
				cell = inPercent(set.Rates[i].Shown())
			}
			row = append(row, cell)
		}
		s.Rows = append(s.Rows, row)
	}
	return s
}

// leftOutBecause says which models a group of interest leaves out.
var leftOutBecause = map[score.Interest]string{
	score.Judges:     "judges, whose models are among the targets",
	score.Moderators: "moderators, which voted on the labels of the prompts",
	score.Selectors:  "selectors, whose refusals chose the prompts",
}

// correlationSection says how the two sides are related across the models.
func correlationSection(r score.Result) table.Section {
	s := projections["correlations"].of(r.Figures)
	var notes table.Names
	for _, in := range []score.Interest{score.Judges, score.Moderators, score.Selectors} {
		var who table.Names
		for _, p := range score.Models(r.Pairs()) {
			if p.Interested(in) {
				who.Add(p.Target)
			}
		}
		if len(who) > 0 {
			notes.Add(leftOutBecause[in] + ": " + listed(who))
		}
	}
	if len(s.Rows) > 0 && s.Drop(func(row []string, at int) bool { return row[at] == table.None }, "left out") == 0 {
		s.Note = "Left out: " + strings.Join(notes, "; ") + "."
	} else if len(s.Rows) > 0 {
		s.Left--
	}
	return s
}

// mostTypes is the most types of pairs that a table shows.
const mostTypes = 40

// pairSections say what targets do with pairs of prompts, and how well they tell them apart.
func pairSections(all []figure.Figure) []table.Section {
	typed := slices.DeleteFunc(slices.Clone(all), func(f figure.Figure) bool { return f.Category == "" })
	whole := slices.DeleteFunc(slices.Clone(all), func(f figure.Figure) bool { return f.Category != "" })
	var accounts, withheld table.Names
	for f := range figure.Of(whole, figure.ToldApart) {
		note := keyCells["datasets"](f) + ": " + table.Counted(f.N, "judged pair", "judged pairs")
		for _, m := range []struct{ key, what string }{{"unjudged", "unjudged"}, {"safe_alone", "safe prompts in none"}, {"toxic_alone", "toxic prompts in none"}} {
			if n := f.Missing[m.key]; n > 0 {
				note += ", " + table.Count(n) + " " + m.what
			}
		}
		accounts.Add(note + ".")
		if f.Value == nil {
			withheld.Add(f.Target + " by " + f.Judge)
		}
	}
	sections := []table.Section{projections["pairs"].of(whole), projections["discrimination"].of(whole), projections["types"].of(typed)}
	sections[0].Note += " " + strings.Join(accounts, " ")
	if len(withheld) > 0 {
		sections[1].Note += " No estimates, because too many pairs are unjudged: " + listed(withheld) + ". To see them anyway, raise the share that may be unjudged (most_unjudged of orbench report)."
	}
	if rows := sections[2].Rows; len(rows) > mostTypes {
		sections[2].Rows = rows[:mostTypes]
		sections[2].Note += " " + table.Count(len(rows)-mostTypes) + " more are in JSON and CSV."
	}
	return sections
}
