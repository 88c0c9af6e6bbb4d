package training

import (
	_ "embed"
	"fmt"
	"io"
	"math"
	"strconv"
	"strings"
	"text/template"

	"github.com/orbench/orbench"
	"github.com/orbench/orbench/internal/dataset"
	"github.com/orbench/orbench/internal/table"
	"github.com/orbench/orbench/internal/untrusted"
)

//go:embed card.md.tmpl
var cardText string

var cardTemplate = template.Must(template.New("card").Funcs(template.FuncMap{
	"cell": untrusted.Markdown,
	"code": func(s string) string { return "`" + strings.ReplaceAll(untrusted.Terminal(s), "`", "'") + "`" },
}).Parse(cardText))

type splitFact struct {
	Split                                                         string
	Prompts, SafePrompts, ToxicPrompts, Rows, SafeRows, ToxicRows int
}

// lines lists a ledger's counts: first the total, last what was written.
func (l Ledger) lines(causes []Cause) []table.Term {
	all := []table.Term{{N: l.All, What: "in all"}}
	for _, cause := range causes {
		if n := l.Left[cause]; n > 0 {
			all = append(all, table.Term{N: n, What: "left out: " + inWords[cause]})
		}
	}
	return append(all, table.Term{N: l.Written, What: "written"})
}

// PromptLines and AnswerLines are the lines of the two ledgers.
func (m *Manifest) PromptLines() []table.Term { return m.Prompts.lines(promptCauses) }

func (m *Manifest) AnswerLines() []table.Term { return m.Answers.lines(answerCauses) }

// Sizes is the size category of the hub.
func (m *Manifest) Sizes() string {
	_, rows := m.count(func(Part) bool { return true })
	return dataset.SizeCategory(rows)
}

// writeCard writes the dataset card. The Hugging Face hub and its datasets library read its
// front matter.
func (s *Set) writeCard(w io.Writer) error { return cardTemplate.Execute(w, &s.Manifest) }

// SplitFacts counts the content of each split.
func (m *Manifest) SplitFacts() (facts []splitFact) {
	for _, split := range Splits {
		f := splitFact{Split: split}
		f.SafePrompts, f.SafeRows = m.count(func(p Part) bool { return p.Split == split && p.Label == orbench.Safe })
		f.ToxicPrompts, f.ToxicRows = m.count(func(p Part) bool { return p.Split == split && p.Label == orbench.Toxic })
		f.Prompts, f.Rows = f.SafePrompts+f.ToxicPrompts, f.SafeRows+f.ToxicRows
		facts = append(facts, f)
	}
	return facts
}

// HasHarmful reports whether rows contain answers that comply with toxic prompts.
func (m *Manifest) HasHarmful() bool {
	_, toxic := m.count(func(p Part) bool { return p.Label == orbench.Toxic })
	return m.Harmful && toxic > 0 && m.Kind != SFT && m.Kind != Prompts
}

// fewToxic is the share of toxic prompts below which a set counts as one-sided.
const fewToxic = 0.1

// keptShare is the share of prompts that a share of toxic ones should leave.
const keptShare = 0.9

// thrownAway says that the share of toxic prompts left out more than a tenth of the
// prompts, and which share would not, or "".
func (m *Manifest) thrownAway() string {
	safe, toxic := m.before[orbench.Safe], m.before[orbench.Toxic]
	kept, _ := m.count(func(Part) bool { return true })
	all := float64(safe + toxic)
	if m.ToxicShare == nil || float64(kept) >= keptShare*all {
		return ""
	}
	text := fmt.Sprintf("The share of toxic prompts left out %s of %s prompts.", table.Count(safe+toxic-kept), table.Count(safe+toxic))
	if scarce := float64(toxic) / all; scarce < *m.ToxicShare {
		return text + fmt.Sprintf(" The largest share that keeps %.0f%% of them is about %.1f%%.", 100*keptShare, math.Floor(1000*min(1, scarce/keptShare))/10)
	}
	return text + fmt.Sprintf(" The smallest share that keeps %.0f%% of them is about %.1f%%.", 100*keptShare, math.Ceil(1000*max(0, 1-float64(safe)/(keptShare*all)))/10)
}

// Warnings lists what a reader should know before training on the set.
func (m *Manifest) Warnings() (all []string) {
	prompts, _ := m.count(func(Part) bool { return true })
	toxic, _ := m.count(func(p Part) bool { return p.Label == orbench.Toxic })
	if prompts > 0 && float64(toxic) < fewToxic*float64(prompts) {
		text := fmt.Sprintf("%s of %s prompts are toxic: a model trained on these alone may stop refusing what it should refuse. Evaluate toxic prompts in the same run, such as those that orbench build makes. Do not take them from a set that models are measured on.", table.Count(toxic), table.Count(prompts))
		if n := m.Prompts.Left[HeldBack]; n > 0 {
			text += fmt.Sprintf(" %s held back, because their rows would hold answers that comply with them.", table.Counted(n, "toxic prompt is", "toxic prompts are"))
		}
		all = append(all, text)
	}
	if m.avoided {
		all = append(all, "No row is a wanted answer: a model trained on these alone learns what to avoid, and not what to say. Evaluate a target that answers the safe prompts in the same run.")
	}
	if text := m.thrownAway(); text != "" {
		all = append(all, text)
	}
	for _, by := range m.Unclear {
		all = append(all, fmt.Sprintf("%s under a name that may be another model's: %q. They are taken like any.", table.Counted(by.N, "answer came", "answers came"), untrusted.Excerpt(by.Model, 60)))
	}
	if m.Kind != Prompts {
		all = append(all, "It was not checked whether an answer to a safe prompt is itself harmless.")
	}
	for _, d := range m.Datasets {
		if named, ok := dataset.Named(d.Name); ok && named.Restricts != "" {
			all = append(all, d.Name+" ("+named.License+"): "+named.Restricts+". This holds for what is made of it too.")
		}
	}
	if text := m.Evaluations.Little(); text != "" {
		all = append(all, text)
	}
	for _, u := range m.Evaluations.Unchecked {
		if u.Why == Excepted {
			all = append(all, u.Name+" was not compared, on request: do not measure a model with it that was trained on this set.")
		}
	}
	return all
}

// Rules describes how rows were chosen.
func (m *Manifest) Rules() []string {
	cell := untrusted.Markdown
	var all []string
	if m.Kind != Prompts {
		from := "any target"
		if len(m.ChosenFrom) > 0 {
			from = cell(strings.Join(m.ChosenFrom, ", "))
		}
		all = append(all, "Safe prompts: a full answer of "+from+" is chosen. The class of an answer is what most people who labeled it say, or without labels, what most judges say.")
		if m.Kind != SFT {
			all = append(all, "Safe prompts: a refusal of "+cell(m.Target)+" is rejected.")
		}
		toxic := "Toxic prompts: a refusal is chosen"
		switch {
		case m.Kind == SFT:
			toxic += "."
		case m.Harmful:
			toxic += ", and an answer rejected, of " + cell(m.Target) + " if it gave one, else of another target."
		default:
			toxic += "; answers that comply are held back."
		}
		all = append(all, toxic,
			"If there are several, the best are taken, at most "+strconv.Itoa(m.PerPrompt)+" to a prompt: by people's labels, class, agreement and score, then answers of the model to be trained first, then in the order of the run.")
	}
	ratio := "All toxic and all safe prompts were used."
	if m.ToxicShare != nil {
		ratio = "Of the prompts of each split, " + table.Percent(*m.ToxicShare) + " are toxic; prompts above that share were left out at random."
	}
	return append(all, ratio, fmt.Sprintf(
		"A seed and all its rewrites are in one split (train %s, validation %s, test %s, by the hash of the seed and %d); prompts that are nearly one of an earlier split are left out.",
		table.Percent(m.Splits[0]), table.Percent(m.Splits[1]), table.Percent(m.Splits[2]), m.Seed))
}
