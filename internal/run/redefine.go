package run

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"

	"github.com/orbench/orbench"
	"github.com/orbench/orbench/internal/evaluate"
	"github.com/orbench/orbench/internal/provenance"
	"github.com/orbench/orbench/internal/store"
	"github.com/orbench/orbench/internal/untrusted"
)

// CheckName holds the run to what the store keeps by its name. A run may go on, and
// grow by targets, variants, samples, datasets, judges, a higher limit and a larger draw
// of prompts. Where it
// would take something away or change what was measured, the error is an
// *orbench.InputError that says in what. unjudged are judges that the run had and has
// no more, which changes no figure of the others.
func (r *Run) CheckName(ctx context.Context, m store.Reader) (unjudged []string, err error) {
	kept, err := m.Run(ctx, r.Name)
	if errors.Is(err, store.ErrNoRun) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	stored, err := decode(kept)
	if err != nil {
		return nil, err
	}
	if changes := r.redefines(ctx, stored.Config); len(changes) > 0 {
		const most = 6
		if n := len(changes) - most; n > 0 {
			changes = append(changes[:most], fmt.Sprintf("and %d more", n))
		}
		return nil, &orbench.InputError{
			Setting: "name", Problem: fmt.Sprintf("the store holds another run named %s: %s", r.Name, strings.Join(changes, "; ")),
			Hint: "keep both by another `name`, or redefine that run with `replace`; no answer is lost either way",
		}
	}
	for _, j := range stored.Config.Judges {
		if !slices.Contains(r.Config.JudgeNames(), j.Name) {
			unjudged = append(unjudged, j.Name)
		}
	}
	return unjudged, nil
}

// redefines lists what of a stored run would be taken away or changed.
func (r *Run) redefines(ctx context.Context, stored Config) []string {
	var changes []string
	add := func(format string, args ...any) { changes = append(changes, fmt.Sprintf(format, args...)) }
	for _, was := range stored.Targets {
		i := slices.IndexFunc(r.Targets, func(t evaluate.Target) bool { return t.Name == was.Name })
		if i < 0 {
			add("it has the target %s, which is not named now", was.Name)
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
		if slices.ContainsFunc(now, func(d Dataset) bool { return d.SHA256 == was.SHA256 }) {
			continue
		}
		if i := slices.IndexFunc(now, func(d Dataset) bool { return d.Ref == was.Ref }); i >= 0 {
			if !r.Config.Ends() && r.outgrows(ctx, was, now[i]) {
				continue
			}
			add("the prompts of %s had the hash %.8s and have %.8s", was.Ref, was.SHA256, now[i].SHA256)
			continue
		}
		add("it has the dataset %s, which is not named now", was.Ref)
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
	return changes
}

// outgrows reports whether a draw of a dataset's prompts has all of a stored one: it is
// larger and else alike, and the file is still what the stored one was drawn from.
func (r *Run) outgrows(ctx context.Context, was, now Dataset) bool {
	if was.Sample == 0 || now.Sample > 0 && (now.Sample < was.Sample || now.SampleSeed != was.SampleSeed) {
		return false
	}
	now.Sample, now.SampleSeed, now.SHA256 = was.Sample, was.SampleSeed, was.SHA256
	if now != was {
		return false
	}
	set, err := was.read(ctx, r.cache, r.Targets)
	return err == nil && set.SHA256 == was.SHA256
}

// retargeted lists in what a target was asked otherwise, and whether it had more
// samples.
func retargeted(was, now evaluate.Target) []string {
	var changes []string
	if was.Times() > now.Times() {
		changes = append(changes, fmt.Sprintf("%s was asked %d times, now %d", was.Name, was.Times(), now.Times()))
	}
	was, now = was.Nth(0), now.Nth(0)
	was.Defense, now.Defense = nil, nil
	if reflect.DeepEqual(was, now) {
		return changes
	}
	var before, after settingList
	before.addTarget(was)
	after.addTarget(now)
	told := false
	for _, d := range provenance.Differences([]provenance.Run{{Settings: before}, {Settings: after}}) {
		told = true
		changes = append(changes, fmt.Sprintf("%s of %s was %s and is %s", d.Setting, untrusted.Terminal(was.Name), d.Values[0].Value, d.Values[1].Value))
	}
	if !told {
		changes = append(changes, was.Name+" is asked in another way")
	}
	return changes
}
