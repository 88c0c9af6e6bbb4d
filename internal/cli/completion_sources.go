package cli

import (
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/orbench/orbench"
	"github.com/orbench/orbench/dataset"
	"github.com/orbench/orbench/generator"
	"github.com/orbench/orbench/guard"
	"github.com/orbench/orbench/internal/cli/command"
	"github.com/orbench/orbench/internal/experiment"
	"github.com/orbench/orbench/internal/price"
	"github.com/orbench/orbench/internal/provider"
	"github.com/orbench/orbench/internal/run"
	"github.com/orbench/orbench/internal/store"
	"github.com/orbench/orbench/internal/store/address"
	"github.com/orbench/orbench/judge"
	"github.com/orbench/orbench/model/sim"
	"github.com/orbench/orbench/policy"
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
	"generator":        models,
	"moderator":        voters,
	"dataset":          datasets,
	"decontaminate":    datasets,
	"except":           names,
	"judge":            judges,
	"about":            judges,
	"candidate-judge":  judges,
	"policy":           policies,
	"axis":             axes,
	"label":            labels,
	"labels":           labels,
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
	"audit draw":      datasets,
	"batch cancel":    upTo(1, runs),
	"batch status":    upTo(1, runs),
	"audit report":    fixed(files),
	"compare":         upTo(2, runs),
	"contrast":        upTo(1, datasets),
	"dataset compare": upTo(2, datasets),
	"dataset pull":    pullable,
	"dataset show":    upTo(1, datasets),
	"dataset stats":   upTo(1, datasets),
	"explain":         upTo(1, runs),
	"export":          upTo(1, runs, fixed(files)),
	"judge":           upTo(1, runs),
	"label":           upTo(1, runs),
	"label draw":      upTo(1, runs),
	"label export":    upTo(1, runs),
	"label import": func(w world, typed string) []cobra.Completion {
		return append(upTo(1, runs)(w, typed), upTo(2, fixed(files))(w, typed)...)
	},
	"moderate":     upTo(1, datasets),
	"report":       runs,
	"store export": runs,
	"store import": upTo(1, fixed(files)),
	"store merge":  fixed(files),
	"triggers":     upTo(1, runs),
}

// fixed lists the same values everywhere.
func fixed(values ...string) source {
	return func(world, string) []cobra.Completion { return values }
}

// upTo joins sources for the first n arguments of a command.
func upTo(n int, sources ...source) source {
	return func(w world, typed string) []cobra.Completion {
		var all []cobra.Completion
		if len(w.words) < n {
			for _, s := range sources {
				all = append(all, s(w, typed)...)
			}
		}
		return all
	}
}

// models are PROVIDER/MODEL: providers first, then those models of one whose price is
// known and that runs of the store have asked. Only those of package sim are all.
func models(w world, typed string) []cobra.Completion {
	var all []cobra.Completion
	if !strings.Contains(typed, "/") {
		for _, p := range provider.Default().All() {
			all = append(all, p.Name+"/")
		}
		return append(all, "sim/")
	}
	for _, m := range sim.Models() {
		all = append(all, cobra.CompletionWithDesc("sim/"+m.Name, m.Description))
	}
	for _, p := range price.Default().All() {
		if !strings.Contains(p.Model, "*") && p.Model != "" {
			all = append(all, p.Provider+"/"+p.Model)
		}
	}
	return append(all, storedTargets(w, typed)...)
}

// targets are models, guards and files of recorded answers.
func targets(w world, typed string) []cobra.Completion {
	if rest, ok := strings.CutPrefix(typed, "guard:"); ok {
		return behind("guard:", guarded(w, rest))
	}
	return append(models(w, typed), "guard:", "replay:")
}

// voters are models, and guards.
func voters(w world, typed string) []cobra.Completion {
	if rest, ok := strings.CutPrefix(typed, "guard:"); ok {
		return behind("guard:", guarded(w, rest))
	}
	return append(models(w, typed), "guard:")
}

// guarded are FORMAT@PROVIDER/MODEL.
func guarded(w world, typed string) []cobra.Completion {
	if format, rest, ok := strings.Cut(typed, "@"); ok {
		return behind(format+"@", models(w, rest))
	}
	var all []cobra.Completion
	for _, f := range guard.Formats {
		all = append(all, string(f)+"@")
	}
	return all
}

// judges are names of judges, and how those begin that name a model or others.
func judges(w world, typed string) []cobra.Completion {
	kind, rest, ok := strings.Cut(typed, ":")
	switch {
	case !ok:
		return []cobra.Completion{
			cobra.CompletionWithDesc("lexical", "embedded, free"), cobra.CompletionWithDesc("paper-keywords", "the study's list of phrases"),
			cobra.CompletionWithDesc("llm:", "a model"), cobra.CompletionWithDesc("guard:", "a guard"),
			cobra.CompletionWithDesc("classify:", "a classifier"), cobra.CompletionWithDesc("panel:", "a vote of judges"),
		}
	case kind == "llm":
		return behind("llm:", models(w, rest))
	case kind == "guard":
		return behind("guard:", guarded(w, rest))
	case kind == "classify":
		if format, name, ok := strings.Cut(rest, "@"); ok {
			return behind("classify:"+format+"@", models(w, name))
		}
		var all []cobra.Completion
		for _, format := range judge.ClassifierFormats {
			all = append(all, "classify:"+format+"@")
		}
		return all
	case kind == "panel" && !strings.Contains(rest, "("):
		return []cobra.Completion{"panel:majority(", "panel:unanimous("}
	}
	return nil
}

// behind puts something before each completion.
func behind(before string, all []cobra.Completion) []cobra.Completion {
	for i, value := range all {
		all[i] = before + value
	}
	return all
}

// names are datasets with a name.
func names(w world, _ string) []cobra.Completion {
	var all []cobra.Completion
	for _, e := range dataset.List(w.CacheDir()) {
		if e.Present {
			all = append(all, e.Name)
		}
	}
	return all
}

// datasets are those that are there, and files.
func datasets(w world, typed string) []cobra.Completion { return append(names(w, typed), files) }

// pullable are the datasets that can be fetched, those that are there last.
func pullable(w world, _ string) []cobra.Completion {
	var missing, there []cobra.Completion
	for _, e := range dataset.List(w.CacheDir()) {
		switch {
		case e.BuiltIn || slices.Contains(w.words, e.Name):
		case e.Present:
			there = append(there, cobra.CompletionWithDesc(e.Name, "is there"))
		default:
			missing = append(missing, e.Name)
		}
	}
	return append(missing, there...)
}

func policies(world, string) []cobra.Completion { return append(policy.Names(), files) }

// named are the names of settings.
func named(all []command.Setting) source {
	var names []string
	for _, s := range all {
		names = append(names, s.Name+"=")
	}
	return fixed(names...)
}

func axes(world, string) []cobra.Completion {
	var all []cobra.Completion
	for _, a := range generator.Axes {
		all = append(all, string(a))
	}
	return all
}

func labels(world, string) []cobra.Completion {
	return []cobra.Completion{string(orbench.Safe), string(orbench.Toxic), string(orbench.Controversial), string(orbench.Undecided)}
}

// stored are the runs of the store, the newest first; none where it does not open.
func (w world) stored() []run.Stored {
	var all []run.Stored
	w.withStore(func(m *store.Store) (err error) {
		all, err = run.List(w.ctx, m)
		return err
	})
	return all
}

// withStore opens the store for a source. Whoever completes a word wants no error.
func (w world) withStore(read func(*store.Store) error) {
	m, err := address.OpenExisting(w.ctx, w.store)
	if err == nil {
		defer m.Close()
		err = read(m)
	}
	if err != nil {
		cobra.CompDebugln(err.Error(), false)
	}
}

// runs are the runs of the store.
func runs(w world, _ string) []cobra.Completion {
	var all []cobra.Completion
	for _, r := range w.stored() {
		all = append(all, cobra.CompletionWithDesc(r.Name, strings.Join(r.Config.TargetNames(), ", ")))
	}
	return all
}

// storedTargets are the targets of the runs that the command line names, or of all.
func storedTargets(w world, _ string) []cobra.Completion {
	var all []cobra.Completion
	for _, r := range w.stored() {
		if len(w.words) == 0 || slices.Contains(w.words, r.Name) {
			all = append(all, r.Config.TargetNames()...)
		}
	}
	return all
}

// gates are the metrics of gates, and in brackets the categories of the first run
// that the command line names.
func gates(w world, typed string) []cobra.Completion {
	all := []cobra.Completion{"over_refusal", "over_refusal[", "toxic_refusal", "toxic_refusal["}
	metric, _, ok := strings.Cut(typed, "[")
	if !ok || len(w.words) == 0 {
		return all
	}
	var categories []string
	w.withStore(func(m *store.Store) error {
		stored, err := run.Find(w.ctx, m, w.words[0])
		if err != nil {
			return err
		}
		r, err := stored.Open(w.ctx, m, w.CacheDir())
		if err != nil {
			return err
		}
		for _, set := range r.Datasets {
			for p, err := range set.Prompts() {
				if err != nil {
					return err
				}
				if c := string(p.Category); c != "" && !slices.Contains(categories, c) {
					categories = append(categories, c)
				}
			}
		}
		return nil
	})
	slices.Sort(categories)
	all = nil
	for _, c := range categories {
		all = append(all, metric+"["+c+"]")
	}
	return all
}
