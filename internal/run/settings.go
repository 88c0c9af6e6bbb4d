package run

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/orbench/orbench/internal/conversation"
	"github.com/orbench/orbench/internal/defense"
	"github.com/orbench/orbench/internal/evaluate"
	"github.com/orbench/orbench/internal/guard"
	"github.com/orbench/orbench/internal/provenance"
	"github.com/orbench/orbench/internal/table"
	"github.com/orbench/orbench/internal/untrusted"
	"github.com/orbench/orbench/model"
)

// Settings lists everything that the run was made with, of the targets that it has
// now, the datasets, the defenses and the judges.
func (r *Run) Settings() []provenance.Setting {
	var all settingList
	var targets, datasets []string
	for _, t := range r.Targets {
		targets = append(targets, t.Name)
		all.addTarget(t)
	}
	for _, d := range r.Config.Defenses {
		all.addSpec(d, "defense", false)
	}
	for i, d := range r.Config.Datasets {
		name, sample := d.Ref, provenance.None
		if i < len(r.Datasets) {
			name = r.Datasets[i].Name
		}
		if d.Sample > 0 {
			sample = fmt.Sprintf("%s prompts drawn with seed %d", table.Count(d.Sample), d.SampleSeed)
		}
		datasets = append(datasets, name)
		all.add(provenance.Setting{Name: provenance.DatasetHash, Of: name, Value: d.SHA256, Misleads: true})
		all.add(provenance.Setting{Name: "dataset label", Of: name, Value: string(d.Default)})
		all.add(provenance.Setting{Name: "dataset sample", Of: name, Value: sample})
	}
	all.add(provenance.Setting{Name: "limit", Value: limitOf(r.Config.Limit)})
	all.add(r.Config.ending())
	all.add(provenance.Setting{Name: "accepted names of models", Value: strings.Join(r.Accepted, ", ")})
	for _, j := range r.Config.Judges {
		all.addSpec(j, "judge", true)
		all.add(provenance.Setting{Name: provenance.JudgeVersion, Of: j.Name, Value: j.Version, Misleads: true, Judging: true})
	}
	all.add(provenance.Setting{Name: provenance.Targets, Value: strings.Join(targets, ", ")})
	all.add(provenance.Setting{Name: provenance.Datasets, Value: strings.Join(datasets, ", ")})
	all.add(provenance.Setting{Name: provenance.Judges, Value: strings.Join(r.Config.JudgeNames(), ", ")})
	return all
}

// settingList is a list in the making.
type settingList []provenance.Setting

// add adds a setting, unless it has no value.
func (s *settingList) add(one provenance.Setting) {
	if one.Value != "" {
		*s = append(*s, one)
	}
}

// targetSettings determine a target's answers, beside its model. Recorded answers were made
// with some of them, but do not say which.
var targetSettings = []struct {
	name             provenance.Name
	misleads, untold bool
	value            func(evaluate.Target) string
}{
	{"address", false, false, func(t evaluate.Target) string { return addressOf(t.Endpoint) }},
	{provenance.Measurement, false, false, func(t evaluate.Target) string { return t.Revision }},
	{"system prompt", false, true, func(t evaluate.Target) string { return textOf(t.System) }},
	{"temperature", true, true, func(t evaluate.Target) string {
		if t.Params.Temperature == nil {
			return "the provider's own"
		}
		return strconv.FormatFloat(*t.Params.Temperature, 'g', -1, 64)
	}},
	{"max tokens", true, true, func(t evaluate.Target) string { return tokensOf(t.Params.MaxTokens) }},
	{"seed", false, false, func(t evaluate.Target) string {
		return shown(t.Params.Seed, func(n *int64) string { return strconv.FormatInt(*n, 10) })
	}},
	{"samples", false, false, func(t evaluate.Target) string {
		if t.Sample > 0 {
			return fmt.Sprintf("number %d", t.Sample+1)
		}
		return strconv.Itoa(t.Times())
	}},
	{"framing", false, false, func(t evaluate.Target) string {
		return shown(t.Framing, func(f *defense.Framing) string { return f.Name + ": " + textOf(f.Prefix+"\n"+f.Suffix) })
	}},
	{"turns", false, false, func(t evaluate.Target) string {
		return shown(t.Turns, func(s *conversation.Script) string { return s.Name })
	}},
	{"defense", false, false, func(t evaluate.Target) string { return cmp.Or(t.Guarded, provenance.None) }},
	{"guard", false, false, func(t evaluate.Target) string { return shown(t.Guard, (*guard.Guard).String) }},
}

// shown is the value, or none if there is no value.
func shown[T any](what *T, show func(*T) string) string {
	if what == nil {
		return provenance.None
	}
	return show(what)
}

// addTarget adds what determines a target's answers.
func (s *settingList) addTarget(t evaluate.Target) {
	named, recorded := model.Ref{Provider: t.Provider, Model: t.Model}.String(), t.Provider == model.Replay
	if recorded {
		named = t.Provider + ":" + t.Model + "@" + table.ShortHash(strings.TrimPrefix(t.Endpoint, "sha256:"))
	}
	s.add(provenance.Setting{Name: "model", Of: t.Name, Value: named})
	for _, row := range targetSettings {
		one := provenance.Setting{Name: row.name, Of: t.Name, Compared: true, Misleads: row.misleads}
		switch {
		case !recorded:
			one.Value = row.value(t)
		case row.untold:
			one.Value = provenance.NotRecorded
		}
		s.add(one)
	}
}

// addSpec adds what the requests of a judge or a defense depend on. Those that ask no
// model have nothing of it.
func (s *settingList) addSpec(spec Spec, kind provenance.Name, judging bool) {
	if len(spec.Endpoints) == 0 {
		return
	}
	s.add(provenance.Setting{Name: kind + " max tokens", Of: spec.Name, Value: tokensOf(spec.MaxTokens), Misleads: true, Judging: judging})
	if spec.Revision != "" {
		s.add(provenance.Setting{Name: "judge verdicts", Of: spec.Name, Value: "asked for again at " + spec.Revision, Misleads: true, Judging: true})
	}
	for _, provider := range slices.Sorted(maps.Keys(spec.Endpoints)) {
		of := spec.Name + " at " + provider
		s.add(provenance.Setting{Name: kind + " address", Of: of, Value: addressOf(spec.Endpoints[provider]), Judging: judging})
		if !judging {
			continue
		}
		output := "as the model writes it"
		if spec.Structured[provider] {
			output = "held to a schema"
		}
		s.add(provenance.Setting{Name: "judge output", Of: of, Value: output, Misleads: true, Judging: true})
	}
}

func limitOf(n int) string {
	if n == 0 {
		return provenance.None
	}
	return "the first " + table.Count(n) + " prompts"
}

func tokensOf(n int) string {
	if n == 0 {
		return "the provider's own"
	}
	return strconv.Itoa(n)
}

func addressOf(endpoint string) string {
	if endpoint == "" {
		return "the provider's own"
	}
	return untrusted.Address(endpoint)
}

// textOf shows a text in one line: a long one by its start and its hash.
func textOf(text string) string {
	const most = 60
	if text == "" {
		return provenance.None
	}
	line := provenance.CleanText(untrusted.OneLine(text))
	if len(line) <= most {
		return strconv.Quote(line)
	}
	return strconv.Quote(untrusted.Ellipsis(line, most)) + " (" + table.ShortHash(model.HashCanonical([]byte(text)).String()) + ")"
}
