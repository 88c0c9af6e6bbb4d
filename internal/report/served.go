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
	for _, s := range []struct {
		as                     model.Served
		code, what, so, judged string
	}{
		{model.ByOther, "by_other", "by another model", "They are in no rate.", "Such answers are unjudged."},
		{model.Unclear, "unclear", "under a name that may be another model's", "They count like any.", "These verdicts count like any."},
	} {
		for _, run := range r.Runs {
			of := string(run.Label) + " prompts of " + run.Dataset + ", by "
			if by, n := only(run.ServedBy, s.as); n > 0 {
				all.add("served_"+s.code, "Answered "+s.what, run.Target+" ("+table.Count(n)+" of "+table.Count(run.N)+" "+of+namesOf(by)+")", s.so+" "+acceptHint, run.Keys(""))
			}
			for _, j := range run.Judges {
				if by, n := only(j.ServedBy, s.as); n > 0 {
					who := j.Judge + " (" + table.Count(n) + " of " + table.Count(j.Judged+j.Unjudged) + " answers of " + run.Target + " to "
					all.add("judged_"+s.code, "Judged "+s.what, who+of+namesOf(by)+")", s.judged+" "+acceptHint, run.Keys(j.Judge))
				}
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
		some, _ := only(by, model.AsVersion)
		v.by, v.keys = score.Together(v.by, some), append(v.keys, key)
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
	return sentence("Versions that answered: ", listed(parts))
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

// only gives those that answered in a way, and the number of their answers.
func only(all []score.ServedBy, as model.Served) (some []score.ServedBy, n int) {
	for _, by := range all {
		if by.As == as {
			some, n = append(some, by), n+by.N
		}
	}
	return some, n
}
