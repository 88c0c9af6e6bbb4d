package cli

import (
	"maps"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/orbench/orbench"
	"github.com/orbench/orbench/internal/cli/command"
	"github.com/orbench/orbench/internal/dataset"
	"github.com/orbench/orbench/internal/experiment"
	"github.com/orbench/orbench/internal/guard"
	"github.com/orbench/orbench/internal/policy"
	"github.com/orbench/orbench/internal/price"
	"github.com/orbench/orbench/internal/provider"
	"github.com/orbench/orbench/internal/run"
	"github.com/orbench/orbench/internal/sim"
	"github.com/orbench/orbench/internal/store/address"
	"github.com/orbench/orbench/internal/table"
	"github.com/orbench/orbench/judge"
)

// flags are the sources of flags, by name; behind a command's name those of a flag that
// means something else there. Settings of an experiment that take one of some words
// list these themselves.
var flags = map[string]source{
	"target":           targets,
	"export/target":    storedTargets,
	"draw/target":      storedTargets,
	"base-target":      storedTargets,
	"candidate-target": storedTargets,
	"chosen-from":      storedTargets,
	"moderator":        voters,
	"dataset":          datasets,
	"decontaminate":    datasets,
	"except":           names,
	"judge":            judges,
	"candidate-judge":  judges,
	"policy":           policies,
	"label":            labels,
	"fail-if":          gates,
	"require":          gates,
	"name":             runs,
}

// sourceOf is the source of a command's flag, nil for none.
func sourceOf(command, flag string) source {
	for _, name := range []string{command + "/" + flag, flag} {
		if from := flags[name]; from != nil {
			return from
		}
	}
	for _, s := range experiment.Settings() {
		if s.Flag == flag && s.Values != nil {
			return fixed(s.Values()...)
		}
	}
	return nil
}

// arguments are the sources of what stands behind commands.
var arguments = map[string]source{
	"batch cancel":    inTurn(runs),
	"batch status":    inTurn(runs),
	"compare":         inTurn(runs, runs),
	"dataset compare": inTurn(datasets, datasets),
	"dataset pull":    pullable,
	"dataset show":    inTurn(datasets),
	"dataset stats":   inTurn(datasets),
	"export":          inTurn(func(w world, typed string) []cobra.Completion { return append(runs(w, typed), files) }),
	"judge":           inTurn(runs),
	"label":           inTurn(runs),
	"label draw":      inTurn(runs),
	"label export":    inTurn(runs),
	"label import":    inTurn(runs, fixed(files)),
	"moderate":        inTurn(datasets),
	"report":          runs,
	"store export":    runs,
	"store import":    inTurn(fixed(files)),
	"store merge":     fixed(files),
}

// fixed lists the same values everywhere.
func fixed[T ~string](values ...T) source {
	all := table.RowsOf(values, func(value T) cobra.Completion { return string(value) })
	return func(world, string) []cobra.Completion { return all }
}

// inTurn has a source for each argument of a command, and none for further ones.
func inTurn(sources ...source) source {
	return func(w world, typed string) []cobra.Completion {
		if len(w.words) >= len(sources) {
			return nil
		}
		return sources[len(w.words)](w, typed)
	}
}

// forms are plain values, and those that begin with some words, which have a source each for
// what follows them.
func forms(plain source, of map[string]source) source {
	return func(w world, typed string) []cobra.Completion {
		for word, rest := range of {
			if after, ok := strings.CutPrefix(typed, word); ok {
				all := slices.Clone(rest(w, after))
				for i := range all {
					all[i] = word + all[i]
				}
				return all
			}
		}
		return slices.AppendSeq(slices.Clone(plain(w, typed)), maps.Keys(of))
	}
}

// askedBy are FORMAT@PROVIDER/MODEL.
func askedBy[T ~string](formats []T) source {
	of := map[string]source{}
	for _, format := range formats {
		of[string(format)+"@"] = models
	}
	return forms(fixed[string](), of)
}

var (
	guarded = source(func(w world, typed string) []cobra.Completion { return askedBy(guard.Formats())(w, typed) })
	targets = forms(models, map[string]source{"guard:": guarded, "replay:": fixed[string]()})
	voters  = forms(models, map[string]source{"guard:": guarded})
	judges  = forms(fixed("lexical", "paper-keywords"), map[string]source{
		"llm:": models, "guard:": guarded, "classify:": askedBy(judge.ClassifierFormats), "panel:": fixed("majority(", "unanimous("),
		"cascade:": fixed("lexical>"),
	})
	policies = fixed(append(policy.Names(), files)...)
	labels   = fixed(orbench.Labels...)
	gates    = fixed("over_refusal", "over_refusal[", "toxic_refusal", "toxic_refusal[")
)

// models are PROVIDER/MODEL: providers first, then those models of one whose price is
// known and that runs of the store have asked. Only those of package sim are all.
func models(w world, typed string) []cobra.Completion {
	if !strings.Contains(typed, "/") {
		return append(table.RowsOf(provider.Default(), func(p provider.Provider) cobra.Completion { return p.Name + "/" }), "sim/")
	}
	all := table.RowsOf(sim.Models(), func(m sim.Model) cobra.Completion { return cobra.CompletionWithDesc("sim/"+m.Name, m.Description) })
	for _, p := range price.Default() {
		if !strings.Contains(p.Model, "*") && p.Model != "" {
			all = append(all, p.Provider+"/"+p.Model)
		}
	}
	return append(all, storedTargets(w, typed)...)
}

// names are datasets with a name.
func names(w world, _ string) []cobra.Completion {
	return namesWhere(w, func(e dataset.Entry) bool { return e.Present })
}

// datasets are those that are there, and files.
func datasets(w world, typed string) []cobra.Completion { return append(names(w, typed), files) }

// pullable are the datasets that can be fetched and are not there.
func pullable(w world, _ string) []cobra.Completion {
	return namesWhere(w, func(e dataset.Entry) bool { return !e.Present && !slices.Contains(w.words, e.Name) })
}

// named are the names of settings.
func named(all []command.Setting) source {
	return fixed(table.RowsOf(all, func(s command.Setting) string { return s.Name + "=" })...)
}

// stored are the runs of the store, the newest first; none where it does not open: whoever
// completes a word wants no error.
func (w world) stored() (all []run.Stored) {
	m, err := address.OpenExisting(w.ctx, w.store)
	if err == nil {
		defer m.Close()
		all, err = run.List(w.ctx, m)
	}
	if err != nil {
		cobra.CompDebugln(err.Error(), false)
	}
	return all
}

// runs are the runs of the store.
func runs(w world, _ string) []cobra.Completion {
	return table.RowsOf(w.stored(), func(r run.Stored) cobra.Completion {
		return cobra.CompletionWithDesc(r.Name, strings.Join(r.Config.TargetNames(), ", "))
	})
}

// storedTargets are the targets of the runs that the command line names, or of all.
func storedTargets(w world, _ string) (all []cobra.Completion) {
	for _, r := range w.stored() {
		if len(w.words) == 0 || slices.Contains(w.words, r.Name) {
			all = append(all, r.Config.TargetNames()...)
		}
	}
	return all
}

// namesWhere are those of the datasets of which something is so.
func namesWhere(w world, is func(dataset.Entry) bool) (all []cobra.Completion) {
	for _, e := range dataset.List(w.CacheDir()) {
		if is(e) {
			all = append(all, e.Name)
		}
	}
	return all
}
