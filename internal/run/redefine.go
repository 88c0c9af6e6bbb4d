package run

import (
	"context"
	"fmt"
	"reflect"
	"slices"
	"strings"

	"github.com/orbench/orbench/internal/evaluate"
	"github.com/orbench/orbench/internal/provenance"
	"github.com/orbench/orbench/internal/study"
	"github.com/orbench/orbench/internal/untrusted"
)

// leaves is study.Study.Leaves: judges that the run no longer has. Leaving them out changes
// no figure of the others.
func (r *Run) leaves(kept *study.Study) string {
	stored, err := Of(kept)
	if err != nil {
		return ""
	}
	var unjudged []string
	for _, j := range stored.Config.Judges {
		if !slices.Contains(r.Config.JudgeNames(), j.Name) {
			unjudged = append(unjudged, j.Name)
		}
	}
	if len(unjudged) == 0 {
		return ""
	}
	return fmt.Sprintf("run %s was also judged by %s, which `judge` does not name now: its reports leave that judge out; the verdicts stay in the store", r.Name, strings.Join(unjudged, ", "))
}

// redefines is study.Study.Redefines. A run may grow by targets, variants, samples,
// datasets, judges, a higher limit and a larger draw of prompts.
func (r *Run) redefines(ctx context.Context, kept *study.Study) (changes []string) {
	of, err := Of(kept)
	if err != nil {
		return []string{err.Error()}
	}
	stored := of.Config
	add := func(format string, args ...any) { changes = append(changes, fmt.Sprintf(format, args...)) }
	for _, was := range stored.whole().Targets {
		i := slices.IndexFunc(r.Targets, func(t evaluate.Target) bool { return t.Name == was.Name })
		if i < 0 {
			add("its target %s is not named now", was.Name)
			continue
		}
		changes = append(changes, retargeted(was, r.Targets[i])...)
	}
	for _, was := range stored.Defenses {
		for _, now := range r.Config.Defenses {
			if was.Name == now.Name && !was.Same(now) {
				add("the models of the defense %s had other settings or another address", was.Name)
			}
		}
	}
	for _, was := range stored.Datasets {
		now := r.Config.Datasets
		if slices.ContainsFunc(now, func(d study.Dataset) bool { return d.SHA256 == was.SHA256 }) {
			continue
		}
		if i := slices.IndexFunc(now, func(d study.Dataset) bool { return d.Ref == was.Ref }); i >= 0 {
			if !r.Config.Ends() && r.outgrows(ctx, was, now[i]) {
				continue
			}
			add("the prompts of %s had the hash %.8s and have %.8s", was.Ref, was.SHA256, now[i].SHA256)
			continue
		}
		add("its dataset %s is not named now", was.Ref)
	}
	if now := r.Config.Limit; now > 0 && (stored.Limit == 0 || stored.Limit > now) {
		add("limit %s, now %s", limitOf(stored.Limit), limitOf(now))
	}
	changes = append(changes, r.stopsOtherwise(stored)...)
	for _, was := range stored.Judges {
		for _, now := range r.Config.Judges {
			if was.Name == now.Name && !was.Same(now) {
				add("the judge %s had other settings or another address", was.Name)
			}
		}
	}
	if len(changes) > 0 && len(r.Config.Judges) > len(stored.Judges) {
		add("to add a judge alone, write orbench judge %s", untrusted.Shell(r.Name))
	}
	return changes
}

// outgrows reports whether a draw of a dataset's prompts contains a stored draw: it is
// larger but otherwise the same, and the file is still the one that the stored draw came
// from.
func (r *Run) outgrows(ctx context.Context, was, now study.Dataset) bool {
	if was.Sample == 0 || now.Sample > 0 && (now.Sample < was.Sample || now.SampleSeed != was.SampleSeed) {
		return false
	}
	now.Sample, now.SampleSeed, now.SHA256 = was.Sample, was.SampleSeed, was.SHA256
	if now != was {
		return false
	}
	set, err := was.Read(ctx, r.cache, r.answers())
	return err == nil && set.SHA256 == was.SHA256
}

// retargeted lists the settings in which a target was asked differently, and says whether
// it had more samples.
func retargeted(was, now evaluate.Target) (changes []string) {
	if was.Times() > now.Times() {
		changes = append(changes, fmt.Sprintf("%s was asked %d times, now %d", was.Name, was.Times(), now.Times()))
	}
	was, now = was.Nth(0), now.Nth(0)
	was.Defense, now.Defense = nil, nil
	was.Revision = now.Revision // whose answers they are is said by fresh and reuse
	if reflect.DeepEqual(was, now) {
		return changes
	}
	var before, after settingList
	before.addTarget(was)
	after.addTarget(now)
	differences := provenance.Differences([]provenance.Run{{Settings: before}, {Settings: after}})
	for _, d := range differences {
		changes = append(changes, fmt.Sprintf("%s of %s was %s and is %s", d.Setting, untrusted.Terminal(was.Name), d.Values[0].Value, d.Values[1].Value))
	}
	if len(differences) == 0 {
		changes = append(changes, was.Name+" is asked in another way")
	}
	return changes
}
