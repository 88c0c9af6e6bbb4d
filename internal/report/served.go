package report

import (
	"cmp"
	"slices"

	"github.com/orbench/orbench/internal/figure"
	"github.com/orbench/orbench/internal/score"
	"github.com/orbench/orbench/internal/table"
	"github.com/orbench/orbench/internal/untrusted"
	"github.com/orbench/orbench/model"
)

// acceptHint says how to count answers that came under another name.
const acceptHint = "If a name means the asked model, accept it in orbench report (accept-model)."

// served adds warnings about answers and verdicts that came under names
// other than the requested ones.
func (all *warnings) served(r score.Result) {
	changed := 0
	for run, j := range r.Judged() {
		if run.ServedByOther+j.ServedByOther > 0 {
			changed++
		}
	}
	left := "They are in no rate, which changes " + table.Counted(changed, "rate", "rates") + ". " + acceptHint
	for _, run := range r.Runs {
		of := func(n int, by []score.ServedBy) string {
			return run.Target + " (" + table.Count(n) + " of " + table.Count(run.N) + " " + string(run.Label) + " prompts of " + run.Dataset + ", by " + namesOf(by) + ")"
		}
		if run.ServedByOther > 0 {
			all.add("served_by_other", "Answered by another model", of(run.ServedByOther, only(run.ServedBy, model.ByOther)), left, run.Keys(""))
		}
		if unclear := only(run.ServedBy, model.Unclear); len(unclear) > 0 {
			all.add("served_unclear", "Answered under a name that may be another model's", of(countOf(unclear), unclear), "They count like any. "+acceptHint, run.Keys(""))
		}
		for _, j := range run.Judges {
			about := func(n int, by []score.ServedBy) string {
				return j.Judge + " (" + table.Count(n) + " of " + table.Count(j.Judged+j.Unjudged) + " answers of " + run.Target + " to " + string(run.Label) + " prompts of " + run.Dataset + ", by " + namesOf(by) + ")"
			}
			if j.ServedByOther > 0 {
				all.add("judged_by_other", "Judged by another model", about(j.ServedByOther, only(j.ServedBy, model.ByOther)), "Such answers are unjudged. "+acceptHint, run.Keys(j.Judge))
			}
			if unclear := only(j.ServedBy, model.Unclear); len(unclear) > 0 {
				all.add("judged_unclear", "Judged under a name that may be another model's", about(countOf(unclear), unclear), "These verdicts count like any. "+acceptHint, run.Keys(j.Judge))
			}
		}
	}
	for _, v := range versionsOf(r) {
		if len(v.by) > 1 {
			all.add("several_versions", "Answered by several versions", v.of+" ("+namesOf(v.by)+")", "A rate over several versions describes none of them.", v.keys...)
		}
	}
}

// versions lists the names under which a target or a judge answered that belong
// to the requested model.
type versions struct {
	of   string
	by   []score.ServedBy
	keys []figure.Keys
}

// versionsOf lists the versions of targets and judges that had any, in the
// order of the result.
func versionsOf(r score.Result) []versions {
	var all []versions
	note := func(of string, by []score.ServedBy, key figure.Keys) {
		v := table.Entry(&all, versions{of: of}, func(v versions) bool { return v.of == of })
		v.by, v.keys = score.Together(v.by, only(by, model.AsVersion)), append(v.keys, key)
	}
	for _, run := range r.Runs {
		note(cmp.Or(run.Base, run.Target), run.ServedBy, run.Keys(""))
	}
	for run, j := range r.Judged() {
		note(j.Judge, j.ServedBy, run.Keys(j.Judge))
	}
	return slices.DeleteFunc(all, func(v versions) bool { return len(v.by) == 0 })
}

// versionLine names the versions that answered. It is empty if there are none.
func versionLine(r score.Result) string {
	parts := table.RowsOf(versionsOf(r), func(v versions) string { return v.of + " as " + namesOf(v.by) })
	if len(parts) == 0 {
		return ""
	}
	return "Versions that answered: " + listed(parts) + "."
}

// namesOf lists names, with their counts if there are several.
func namesOf(all []score.ServedBy) string {
	const most = 60
	var names []string
	for _, by := range all {
		name := untrusted.Ellipsis(untrusted.OneLine(by.Model), most)
		if len(all) > 1 {
			name = table.Count(by.N) + " " + name
		}
		names = append(names, name)
	}
	return listed(names)
}

// only returns the names that have a relation to the requested one.
func only(all []score.ServedBy, as model.Served) []score.ServedBy {
	return slices.DeleteFunc(slices.Clone(all), func(by score.ServedBy) bool { return by.As != as })
}

// countOf counts the answers under some names.
func countOf(all []score.ServedBy) (n int) {
	for _, by := range all {
		n += by.N
	}
	return n
}
