package report

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/orbench/orbench/internal/dataset"
	"github.com/orbench/orbench/internal/provenance"
	"github.com/orbench/orbench/internal/score"
	"github.com/orbench/orbench/internal/table"
	"github.com/orbench/orbench/internal/untrusted"
	"github.com/orbench/orbench/judge"
)

// Methods shows the tables of a system card, how their figures were made and what
// to cite, as text for a paper or a card.
type Methods View

// Data returns the result in its documented form.
func (v Methods) Data() any { return View(v).Data() }

// Rows returns the figures of the tables of the card.
func (v Methods) Rows() any { return rowsOf(v.Result, cardTables(v.Result)) }

func cardTables(r score.Result) []laidOut { return tablesOf(r, "counts", "labels", "disputed") }

// cited holds the works of CITATION.cff.
const cited = `@inproceedings{cui2025orbench,
  title     = {{OR-Bench}: An Over-Refusal Benchmark for Large Language Models},
  author    = {Cui, Justin and Chiang, Wei-Lin and Stoica, Ion and Hsieh, Cho-Jui},
  booktitle = {Proceedings of the 42nd International Conference on Machine Learning},
  year      = {2025},
  url       = {https://arxiv.org/abs/2405.20947}
}
`

// Document returns what people read: the tables, paragraphs and the BibTeX.
func (v Methods) Document() table.Document {
	r := v.Result
	d := table.Document{Title: "Methods", Simulated: r.Simulated}
	add := func(texts ...string) {
		for _, text := range slices.DeleteFunc(texts, func(text string) bool { return text == "" }) {
			d.Add(table.Paragraph(text))
			d.AddTo(table.OnScreen, table.Gap)
		}
	}
	add(lead(r, score.Words(r.Runs, r.Judges()...)))
	for _, t := range cardTables(r) {
		d.Add(t.Section)
	}
	if !labeled(r) {
		add(unchecked(r))
	}
	add(measured(r), judged(r), strings.Join(append([]string{accountLine(r)}, View(v).Warnings()...), " "))
	cite := bibliography(r)
	d.AddTo(table.InMarkdown, table.Raw("```bibtex\n"))
	d.AddTo(table.OnScreen|table.InMarkdown, table.Raw(cite))
	d.AddTo(table.InMarkdown, table.Raw("```\n"))
	d.AddTo(table.InLaTeX, table.Raw("% "+strings.ReplaceAll(strings.TrimSpace(cite), "\n", "\n% ")+"\n"))
	return d
}

// measured says which models were asked what, when and how.
func measured(r score.Result) string {
	var targets, sets table.Names
	variants := map[string]int{}
	for _, run := range r.Runs {
		base := table.Name(cmp.Or(run.Base, run.Target), run.Simulated)
		if targets.Add(base); run.Base != "" && run.Dataset == r.Runs[0].Dataset && run.Label == r.Runs[0].Label {
			variants[base]++
		}
		sets.Add(run.Dataset)
	}
	for i, target := range targets {
		if n := variants[target]; n > 0 {
			targets[i] += " with " + table.Counted(n, "variant", "variants")
		}
	}
	for i, set := range sets {
		var counts table.Names
		hash := ""
		for _, run := range r.Runs {
			if run.Dataset == set {
				counts.Add(table.Count(run.N/max(1, run.Samples)) + " " + string(run.Label))
				hash = run.DatasetSHA256
			}
		}
		if e, _ := dataset.Named(set); e.License != "" {
			hash += "; " + e.License
		}
		sets[i] = "the " + joined(counts) + " prompts of " + set + " (SHA-256 of all its prompts " + hash + ")"
	}
	text := fmt.Sprintf("With orbench %s we asked %s %s.", r.Provenance.Program, joined(targets), joined(sets))
	if ages := agesOf(r, time.UTC); ages != "" {
		text += " The figures count " + ages + "."
	}
	if how := settingsOf(r.Provenance); how != "" {
		text += " The settings were " + how + "."
	}
	return strings.TrimSpace(text + " " + versionLine(r))
}

// said lists the settings that a description names, unless they have their
// value in unsaid.
var (
	said = []provenance.Name{
		"temperature", "max tokens", "seed", "system prompt", "samples", "framing", "turns", "defense", "dataset sample", "limit", "until",
	}
	unsaid = map[string]bool{"none": true, "": true}
)

// settingsOf lists the settings. If values differ, each is listed with the
// names of those that have it.
func settingsOf(r *provenance.Record) string {
	var parts []string
	for _, name := range said {
		var values table.Names
		of := map[string]table.Names{}
		for _, made := range r.Runs {
			for _, s := range made.Settings {
				if s.Name == name {
					values.Add(s.Value)
					whose := of[s.Value]
					whose.Add(s.Of)
					of[s.Value] = whose
				}
			}
		}
		for _, value := range values {
			switch {
			case unsaid[value] || name == "samples" && value == "1":
			case len(values) > 1:
				parts = append(parts, string(name)+" "+value+" for "+joined(of[value]))
			default:
				parts = append(parts, string(name)+" "+value)
			}
		}
	}
	return strings.Join(parts, ", ")
}

// judged says who decided what a refusal is, how far that is known to be wrong,
// and how intervals were computed.
func judged(r score.Result) string {
	var names table.Names
	for _, made := range r.Provenance.Runs {
		for _, j := range made.Judges {
			name := j.Judge
			if j.Version != "" {
				name += " (version " + j.Version + ")"
			}
			names.Add(name)
		}
	}
	text := "Whether an answer is a refusal was decided by " + joined(names) + "."
	if len(names) == 0 {
		text = "No answer was judged."
	}
	for _, name := range r.Judges() {
		switch known := score.DescribeError(name, r.Labels(), r.Language()); {
		case name == judge.Flag:
			text += " " + score.DescribeJudge(name, nil, "")
		case known == "":
			text += " The error of " + score.Unknown(name) + "."
		default:
			text += " " + known + " Ranges for a new model predict its error from other models."
		}
	}
	var labels []string
	for i := range r.Runs {
		if run := &r.Runs[i]; run.Labeled != nil {
			labels = append(labels, fmt.Sprintf("%s by %s for %s, %s prompts of %s", table.Counted(run.Labeled.Labels, "answer", "answers"), table.Counted(run.Labeled.People, "person", "people"), nameOf(run), run.Label, run.Dataset))
		}
	}
	if labels != nil {
		text += " People labeled a random part of the answers: " + joined(labels) + ". The corrected rates are the judge's rates plus the weighted mean difference between people's labels and the judge's verdicts."
	}
	for _, line := range planLines(r) {
		text += " " + line
	}
	if note := intervalNote(r); note != "" {
		return text + " Ranges and intervals are 95%. " + note
	}
	return text + " Ranges are 95%; intervals by verdicts alone are Wilson's."
}

// bibliography returns BibTeX entries for the benchmark, this program, and the
// published datasets.
func bibliography(r score.Result) string {
	b := cited + fmt.Sprintf("\n@software{orbench,\n  title   = {orbench},\n  author  = {{The orbench authors}},\n  version = {%s},\n  url     = {https://github.com/orbench/orbench}\n}\n", bibText(r.Provenance.Program))
	var names table.Names
	for _, run := range r.Runs {
		names.Add(run.Dataset)
	}
	for _, e := range dataset.List("") {
		if slices.Contains(names, e.Name) && !e.BuiltIn {
			b += fmt.Sprintf("\n@misc{%s,\n  title        = {%s: %s},\n  howpublished = {\\url{%s}},\n  note         = {revision %s; license %s}\n}\n",
				e.Name, bibText(e.Name), bibText(e.About), e.URL(), cmp.Or(e.Revision, "of the day"), bibText(e.License))
		}
	}
	return b
}

// bibText makes a text safe for a BibTeX field.
func bibText(s string) string {
	return strings.NewReplacer("{", "", "}", "", `\`, "", "&", `\&`, "%", `\%`, "#", `\#`, "_", `\_`, "$", `\$`).Replace(untrusted.Terminal(s))
}

// joined lists names in a sentence. Of many it lists the first few.
func joined(names []string) string {
	const most = 8
	if len(names) < 2 || len(names) > most {
		return listed(names)
	}
	return strings.Join(names[:len(names)-1], ", ") + " and " + names[len(names)-1]
}
