package compare

import (
	"fmt"
	"slices"
	"strings"

	"github.com/orbench/orbench"
	"github.com/orbench/orbench/internal/run"
	"github.com/orbench/orbench/internal/table"
	"github.com/orbench/orbench/internal/untrusted"
)

// Between makes an empty comparison of two runs with one target each, and
// chooses the judges. If against is set, it compares the judges wanted and
// against on the same answers. Otherwise both sides use wanted, or, if that is
// empty, the base's first judge that judged both. It returns an
// *orbench.InputError if no judge can be compared.
func Between(sides [2]*run.Run, wanted, against string) (*Comparison, error) {
	oneSide := sides[0].Name == sides[1].Name && sides[0].Targets[0].Name == sides[1].Targets[0].Name
	switch {
	case oneSide && against == "":
		return nil, uncomparable("both sides are "+sides[0].Targets[0].Name+" of the run "+sides[0].Name,
			"name two runs, two targets of one with `base-target` and `candidate-target`, or two judges with `judge` and `candidate-judge`")
	case !oneSide && against != "":
		return nil, &orbench.InputError{
			Setting: "candidate-judge",
			Problem: "the two sides are different answers, so a difference between judges would look like a difference between models",
			Hint:    "name one run, and one target, as BASE and as CANDIDATE, or leave it out",
		}
	}
	// What a guard flags is compared with what a judge calls a refusal: the wanted one, or the first
	// of the model's run.
	besideGuard := sides[0].Guards() != sides[1].Guards()
	names := [2]string{wanted, wanted}
	for i, s := range sides {
		judges := s.Config.JudgeNames()
		if besideGuard && (s.Guards() || wanted == "") {
			names[i] = judges[0]
		}
		for _, name := range []string{names[i], against} {
			if (name != "" || oneSide) && !slices.Contains(judges, name) {
				return nil, notJudged(s, name, sides[1-i])
			}
		}
	}
	switch {
	case oneSide:
		names[1] = against
	case !besideGuard:
		judge, err := commonJudge(sides, wanted)
		return New(judge), err
	}
	return NewOfJudges(names[0], names[1]), nil
}

// notJudged returns the error for a judge that a run lacks, and the other may have.
func notJudged(c *run.Run, name string, other *run.Run) error {
	as := run.Spec{Name: name}
	if i := slices.Index(other.Config.JudgeNames(), name); i >= 0 {
		as = other.Config.Judges[i]
	}
	return uncomparable(fmt.Sprintf("%s has not judged the run %s, only %s", name, c.Name, strings.Join(c.Config.JudgeNames(), ", ")),
		"have it judge that run as well: "+again(c, as))
}

// again is the command that has a run judged as judges of another were asked.
func again(r *run.Run, as ...run.Spec) string {
	var names, flags table.Names
	for _, s := range as {
		names.Add(s.Name)
		flags.Add(s.Flags()...)
	}
	return strings.Join(append([]string{"orbench judge", untrusted.Shell(r.Name), "`judge`", untrusted.Shell(strings.Join(names, ","))}, flags...), " ")
}

// commonJudge chooses the judge whose verdicts are compared: the requested one,
// or the base's first that judged both runs. Two judges often differ more than
// two models, so verdicts of different judges are never compared.
func commonJudge(sides [2]*run.Run, wanted string) (string, error) {
	names := [2][]string{sides[0].Config.JudgeNames(), sides[1].Config.JudgeNames()}
	var elsewhere []run.Spec
	for i, name := range names[0] {
		k := slices.Index(names[1], name)
		if k < 0 || wanted != "" && name != wanted {
			continue
		}
		elsewhere = []run.Spec{sides[0].Config.Judges[i], sides[1].Config.Judges[k]}
		if elsewhere[0].Same(elsewhere[1]) {
			return name, nil
		}
	}
	if elsewhere != nil {
		as, old, to := elsewhere[0], elsewhere[1], sides[1]
		if as.Revision < old.Revision || as.Wording < old.Wording {
			as, old, to = old, as, sides[0]
		}
		hint := "judge one as the other: " + again(to, as)
		if as.Revision != old.Revision || as.Wording != old.Wording {
			hint += " `fresh`"
		}
		return "", uncomparable(fmt.Sprintf("the judge %s had different settings or addresses for the runs %s and %s", as.Name, sides[0].Name, sides[1].Name), hint)
	}
	return "", uncomparable(
		fmt.Sprintf("different judges judged the runs, %s by %s and %s by %s, so a difference between judges would look like a difference between models",
			sides[0].Name, strings.Join(names[0], ", "), sides[1].Name, strings.Join(names[1], ", ")),
		"judge one again: "+again(sides[1], sides[0].Config.Judges...))
}

func uncomparable(problem, hint string) error {
	return &orbench.InputError{File: "compare", Problem: problem, Hint: hint}
}
