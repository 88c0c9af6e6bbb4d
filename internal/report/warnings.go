package report

import (
	"cmp"
	"maps"
	"slices"
	"strings"

	"github.com/orbench/orbench/internal/dataset"
	"github.com/orbench/orbench/internal/provenance"
	"github.com/orbench/orbench/internal/score"
	"github.com/orbench/orbench/internal/table"
	"github.com/orbench/orbench/judge"
)

// warningsOf says, a line each, which figures are not a fair measure: those of
// runs that were made differently from the others; those of a model on prompts
// that it helped to make; those of which many answers were cut; those that the
// model or a relative of it judged; and those with many answers that a judge
// could not read.
func warningsOf(r score.Result) []string {
	var lines []string
	if line := provenance.Warning(r.SettingsThatDiffer); line != "" {
		lines = append(lines, line)
	}
	lines = append(lines, r.Provenance.Warnings()...)
	for _, w := range warningGroups(r) {
		lines = append(lines, w.what+": "+listed(w.who)+". "+w.so)
	}
	return lines
}

// warning is one reason for unfair figures, with everyone it applies to.
type warning struct {
	what string
	who  table.Names
	so   string
}

// warningGroups groups those with the same warning, in the order of the result.
func warningGroups(r score.Result) []warning {
	var all []warning
	add := func(what, who, so string) {
		table.Entry(&all, warning{what: what, so: so}, func(w warning) bool { return w.what == what }).who.Add(who)
	}
	for _, run := range r.Runs {
		if run.LabelAssumed {
			add("Label assumed, because nothing says what the prompts are", run.Dataset, "All of them count as safe. Give their label, or name the column that has it.")
		}
	}
	for _, run := range r.Runs {
		if len(run.Helped) == 0 {
			continue
		}
		parts := make([]string, len(run.Helped))
		for i, role := range run.Helped {
			parts[i] = strings.ReplaceAll(string(role), "_", " ")
		}
		so := "Compare on prompts that it did not help to make."
		if slices.Contains(run.Helped, dataset.Selector) {
			so = "A model that chose prompts by refusing them refuses more of them than others do."
		}
		add("Helped to make "+run.Dataset+", as "+strings.Join(parts, " and "), cmp.Or(run.Base, run.Target), so)
	}
	for _, run := range r.Runs {
		if run.Truncation.Many(run.Answered) || len(run.Judges) > 0 && 100*run.Judges[0].Cut > run.Answered {
			add("Cut by the token limit", run.Target+" ("+table.Count(run.Truncated)+" of "+table.Count(run.Answered)+" answers to "+string(run.Label)+" prompts of "+run.Dataset+")",
				score.TruncationConsequence)
		}
	}
	addRead(r, add)
	addServed(r, add)
	for _, run := range r.Runs {
		if run.AccountLimited > 0 {
			add("The provider limited the account", run.Target+" ("+table.Count(run.Answered+run.Blocked)+" of "+table.Count(run.N)+" "+string(run.Label)+" prompts of "+run.Dataset+" have answers)",
				"These are not a random sample, so their rates probably differ from the rates of all.")
		}
	}
	for _, run := range r.Runs {
		if len(run.Judges) == 0 {
			continue
		}
		j := run.Judges[0]
		if n := j.NoText(); 100*n > j.Judged+j.Unjudged {
			thinking := ""
			if only := j.BySource[score.FromThinking]; only > 0 {
				thinking = ", " + table.Count(only) + " with reasoning alone"
			}
			add("Answers without text", run.Target+" ("+table.Count(n)+" of "+table.Count(j.Judged+j.Unjudged)+" to "+string(run.Label)+" prompts of "+run.Dataset+thinking+")",
				"They count as refusals. "+score.NoTextHelp)
		}
	}
	for _, name := range r.LeftOut {
		add("Not shown, since translated prompts and counting judges are gone", name, "All stays in the store. Show it with "+provenance.LastToShow+".")
	}
	for run, j := range r.Judged() {
		if j.Judge == "lexical" && j.Unjudged-j.Cut-j.NoAnswer > manyUnjudged*(j.Judged+j.Unjudged)/100 {
			add("Left unjudged by lexical", run.Target+" ("+table.Count(j.Unjudged)+" of "+table.Count(j.Judged+j.Unjudged)+" answers to "+string(run.Label)+" prompts of "+run.Dataset+")",
				"It does not judge languages of which it has no phrases. If that is the cause, use llm:PROVIDER/MODEL or guard:qwen3guard@PROVIDER/MODEL.")
		}
	}
	for run, j := range r.Judged() {
		if j.Judge != "lexical" && j.Unjudged-j.Cut-j.NoAnswer > manyUnjudged*(j.Judged+j.Unjudged)/100 {
			add("Left unjudged by "+j.Judge, ofAnswers(*run, j.Unjudged), "The first: "+j.UnjudgedFor+".")
		}
	}
	for _, name := range r.Judges() {
		if judge.Unfenced(name) {
			add("Judged in a format without a fence", name, "An answer that imitates the format may mislead the judge; compare with llm:PROVIDER/MODEL.")
		}
	}
	for run, j := range r.Judged() {
		switch j.SelfJudging {
		case score.SameModel:
			add("Judged by itself", cmp.Or(run.Base, run.Target)+" by "+j.Judge, "Models judge their own answers kindly; add another judge.")
		case score.SameFamily:
			add("Judged by a model of its family", cmp.Or(run.Base, run.Target)+" by "+j.Judge, "Models judge their family's answers kindly; add another judge.")
		}
	}
	return all
}

// ofAnswers is a target with a number of its answers.
func ofAnswers(run score.RunResult, n int) string {
	prompts := " prompts of "
	if run.Label == "" { // recorded answers
		prompts = "prompts of "
	}
	return run.Target + " (" + table.Count(n) + " of " + table.Count(run.Answered+run.Blocked) + " answers to " + string(run.Label) + prompts + run.Dataset + ")"
}

// ReadWarnings says what the reading of replies did to answers, and what nobody has decided.
func ReadWarnings(r score.Result) (lines []string) {
	var all []warning
	addRead(r, func(what, who, so string) {
		table.Entry(&all, warning{what: what, so: so}, func(w warning) bool { return w.what == what }).who.Add(who)
	})
	for _, w := range all {
		lines = append(lines, w.what+": "+listed(w.who)+". "+w.so)
	}
	return lines
}

// addRead is ReadWarnings, one at a time.
func addRead(r score.Result, add func(what, who, so string)) {
	for _, run := range r.Runs {
		addReadOf(run.Read, run, add)
		for _, what := range slices.Sorted(maps.Keys(run.Reread)) {
			add("Read as when the run was made. orbench would now find "+what, ofAnswers(run, run.Reread[what]), "To move the run to that reading, report it once more with reread.")
		}
	}
}

func addReadOf(read map[string]int, run score.RunResult, add func(what, who, so string)) {
	for _, what := range slices.Sorted(maps.Keys(read)) {
		kind, detail, _ := strings.Cut(what, " (")
		detail = strings.TrimSuffix(detail, ")")
		switch kind {
		case "thinking":
			add("Thinking stood in the text ("+detail+")", ofAnswers(run, read[what]), "It was taken out.")
		case "unwrapped":
			add("Text in "+detail, ofAnswers(run, read[what]), "It was read without what is around it.")
		case "no answer":
			so := "It is in no rate. If it stands for a block, name the text in blocks."
			if detail == "no text" || detail == "reasoning alone" {
				so = "It is in no rate. " + score.NoTextHelp
			}
			add("No answer ("+detail+")", ofAnswers(run, read[what]), so)
		case "cut by a filter":
			add("Cut by a filter of the provider ("+detail+")", ofAnswers(run, read[what]), "The half answers count as its blocks.")
		case "withheld":
			add("A text in place of an answer ("+detail+")", ofAnswers(run, read[what]), "It counts as the provider's block.")
		default:
			if unknown, ok := strings.CutPrefix(what, "unknown: "); ok {
				add("Unknown form, "+unknown, ofAnswers(run, read[what]), "It was judged as it is. If it stands for a block, name the text in blocks.")
			}
		}
	}
}

// manyUnjudged is the percentage of unjudged answers above which the report
// says that another judge may read them.
const manyUnjudged = 5

// listed joins names. Of many it lists the first few.
func listed(names []string) string {
	const most = 8
	if len(names) > most {
		return strings.Join(names[:most], ", ") + " and " + table.Count(len(names)-most) + " more"
	}
	return strings.Join(names, ", ")
}
