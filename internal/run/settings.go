package run

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/orbench/orbench/internal/evaluate"
	"github.com/orbench/orbench/internal/provenance"
	"github.com/orbench/orbench/internal/table"
	"github.com/orbench/orbench/internal/untrusted"
	"github.com/orbench/orbench/model"
	"github.com/orbench/orbench/model/replay"
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
		all.addSpec(d, provenance.DefenseMaxTokens, provenance.DefenseAddress, "")
	}
	for i, d := range r.Config.Datasets {
		name := d.Ref
		if i < len(r.Datasets) {
			name = r.Datasets[i].Name
		}
		datasets = append(datasets, name)
		all.add(provenance.DatasetHash, name, d.SHA256)
		all.add(provenance.DatasetLabel, name, string(d.Default))
		if d.Sample > 0 {
			all.add(provenance.DatasetSample, name, fmt.Sprintf("%s prompts drawn with seed %d", table.Count(d.Sample), d.SampleSeed))
		} else {
			all.add(provenance.DatasetSample, name, provenance.None)
		}
	}
	all.add(provenance.Limit, "", limitOf(r.Config.Limit))
	if u := r.Config.Until; u != nil {
		all.add(provenance.Until, "", fmt.Sprintf("%s by %s, in the order of seed %d", u.Rule, u.Judge.Name, u.Seed))
	}
	for _, j := range r.Config.Judges {
		all.addSpec(j, provenance.JudgeMaxTokens, provenance.JudgeAddress, provenance.JudgeStructured)
		all.add(provenance.JudgeVersion, j.Name, j.Version)
	}
	all.add(provenance.Targets, "", strings.Join(targets, ", "))
	all.add(provenance.Datasets, "", strings.Join(datasets, ", "))
	all.add(provenance.Judges, "", strings.Join(r.Config.JudgeNames(), ", "))
	return all
}

// settingList is a list in the making.
type settingList []provenance.Setting

// add adds a setting, unless it has no value.
func (s *settingList) add(name provenance.Name, of, value string) {
	if value != "" {
		*s = append(*s, provenance.Setting{Name: name, Of: of, Value: value})
	}
}

// addTarget adds what determines a target's answers. Recorded answers do not tell how
// they were asked for.
func (s *settingList) addTarget(t evaluate.Target) {
	add := func(name provenance.Name, value string) { s.add(name, t.Name, value) }
	if t.Provider == replay.Provider {
		hash := strings.TrimPrefix(t.Endpoint, "sha256:")
		add(provenance.Model, t.Provider+":"+t.Model+"@"+table.ShortHash(hash))
		for _, name := range []provenance.Name{provenance.SystemPrompt, provenance.Temperature, provenance.MaxTokens} {
			add(name, provenance.NotRecorded)
		}
		return
	}
	add(provenance.Model, model.Ref{Provider: t.Provider, Model: t.Model}.String())
	add(provenance.Address, addressOf(t.Endpoint))
	add(provenance.SystemPrompt, textOf(t.System))
	temperature := "the provider's own"
	if t.Params.Temperature != nil {
		temperature = strconv.FormatFloat(*t.Params.Temperature, 'g', -1, 64)
	}
	add(provenance.Temperature, temperature)
	add(provenance.MaxTokens, tokensOf(t.Params.MaxTokens))
	seed := provenance.None
	if t.Params.Seed != nil {
		seed = strconv.FormatInt(*t.Params.Seed, 10)
	}
	add(provenance.Seed, seed)
	samples := strconv.Itoa(max(1, t.Samples))
	if t.Sample > 0 {
		samples = fmt.Sprintf("number %d", t.Sample+1)
	}
	add(provenance.Samples, samples)
	framing, turns, guarded, guard := provenance.None, provenance.None, cmp.Or(t.Guarded, provenance.None), provenance.None
	if t.Framing != nil {
		framing = t.Framing.Name + ": " + textOf(t.Framing.Prefix+"\n"+t.Framing.Suffix)
	}
	if t.Turns != nil {
		turns = t.Turns.Name
	}
	if t.Guard != nil {
		guard = t.Guard.String()
	}
	add(provenance.Framing, framing)
	add(provenance.Turns, turns)
	add(provenance.Defense, guarded)
	add(provenance.Guard, guard)
}

// addSpec adds what the requests of a judge or a defense depend on. Those that ask no
// model have nothing of it.
func (s *settingList) addSpec(spec Spec, maxTokens, address, structured provenance.Name) {
	if len(spec.Endpoints) == 0 {
		return
	}
	s.add(maxTokens, spec.Name, tokensOf(spec.MaxTokens))
	for _, provider := range slices.Sorted(maps.Keys(spec.Endpoints)) {
		s.add(address, spec.Name+" at "+provider, addressOf(spec.Endpoints[provider]))
		if structured == "" {
			continue
		}
		output := "as the model writes it"
		if spec.Structured[provider] {
			output = "held to a schema"
		}
		s.add(structured, spec.Name+" at "+provider, output)
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
