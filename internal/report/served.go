package report

import (
	"github.com/orbench/orbench/internal/score"
	"github.com/orbench/orbench/internal/table"
	"github.com/orbench/orbench/internal/untrusted"
)

// acceptHint says how to count answers that came under another name.
const acceptHint = "If a name means the asked model, accept it in orbench report (accept-model) or in the experiment (accept_models)."

// addServed adds warnings about answers and verdicts that came under names
// other than the requested ones.
func addServed(r score.Result, add func(what, who, so string)) {
	changed := 0
	for _, run := range r.Runs {
		for _, j := range run.Judges {
			if run.ServedByOther+j.ServedByOther > 0 {
				changed++
			}
		}
	}
	left := "They are in no rate, which changes " + table.Counted(changed, "rate", "rates") + ". " + acceptHint
	for _, run := range r.Runs {
		of := func(n int) string {
			return table.Count(n) + " of " + table.Count(run.N) + " " + string(run.Label) + " prompts of " + run.Dataset
		}
		if names := namesOf(run.ServedBy, score.AsOther); run.ServedByOther > 0 {
			add("Answered by another model", run.Target+" ("+of(run.ServedByOther)+", by "+names+")", left)
		}
		if names := namesOf(run.ServedBy, score.AsUnclear); names != "" {
			add("Answered under a name that may be another model's", run.Target+" ("+of(countOf(run.ServedBy, score.AsUnclear))+", by "+names+")", "They count like any. "+acceptHint)
		}
		for _, j := range run.Judges {
			about := func(n int) string {
				return j.Judge + " (" + table.Count(n) + " of " + table.Count(j.Judged+j.Unjudged) + " answers of " + run.Target + " to " + string(run.Label) + " prompts of " + run.Dataset + ", by "
			}
			if j.ServedByOther > 0 {
				add("Judged by another model", about(j.ServedByOther)+namesOf(j.ServedBy, score.AsOther)+")", "Such answers are unjudged. "+acceptHint)
			}
			if names := namesOf(j.ServedBy, score.AsUnclear); names != "" {
				add("Judged under a name that may be another model's", about(countOf(j.ServedBy, score.AsUnclear))+names+")", "These verdicts count like any. "+acceptHint)
			}
		}
	}
	for _, v := range versionsOf(r) {
		if v.names > 1 {
			add("Answered by several versions", v.of+" ("+v.shown+")", "A rate over several versions describes none of them.")
		}
	}
}

// versions lists the names under which a target or a judge answered that belong
// to the requested model.
type versions struct {
	of    string
	names int
	shown string
}

// versionsOf lists the versions of targets and judges that had any, in the
// order of the result.
func versionsOf(r score.Result) []versions {
	var order table.Names
	all := map[string][]score.ServedBy{}
	note := func(of string, by []score.ServedBy) {
		order.Add(of)
		all[of] = score.Together(all[of], by)
	}
	for _, run := range r.Runs {
		note(baseName(run), run.ServedBy)
	}
	for _, run := range r.Runs {
		for _, j := range run.Judges {
			note(j.Judge, j.ServedBy)
		}
	}
	var found []versions
	for _, of := range order {
		if shown := namesOf(all[of], score.AsVersion); shown != "" {
			found = append(found, versions{of, countNames(all[of], score.AsVersion), shown})
		}
	}
	return found
}

// versionLine names the versions that answered. It is empty if there are none.
func versionLine(r score.Result) string {
	var parts []string
	for _, v := range versionsOf(r) {
		parts = append(parts, v.of+" as "+v.shown)
	}
	if len(parts) == 0 {
		return ""
	}
	return "Versions that answered: " + listed(parts) + "."
}

// namesOf lists names, with their counts if there are several. It is empty if
// there are none.
func namesOf(all []score.ServedBy, as score.ServedAs) string {
	const most = 60
	several := countNames(all, as) > 1
	var names []string
	for _, by := range all {
		if by.As != as {
			continue
		}
		name := untrusted.Ellipsis(untrusted.OneLine(by.Model), most)
		if several {
			name = table.Count(by.N) + " " + name
		}
		names = append(names, name)
	}
	return listed(names)
}

// countOf counts answers; countNames counts the names of these answers.
func countOf(all []score.ServedBy, as score.ServedAs) (n int) {
	for _, by := range all {
		if by.As == as {
			n += by.N
		}
	}
	return n
}

func countNames(all []score.ServedBy, as score.ServedAs) (n int) {
	for _, by := range all {
		if by.As == as {
			n++
		}
	}
	return n
}
