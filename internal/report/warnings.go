package report

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/orbench/orbench/internal/dataset"
	"github.com/orbench/orbench/internal/figure"
	"github.com/orbench/orbench/internal/provenance"
	"github.com/orbench/orbench/internal/score"
	"github.com/orbench/orbench/internal/table"
	"github.com/orbench/orbench/judge"
	"github.com/orbench/orbench/stats"
)

// contradicted is the code of the warning that stands first.
const contradicted = "labels_contradict_judge"

// warningsOf says which figures are not a fair measure: those of
// runs that were made differently from the others; those of a model on prompts
// that it helped to make; those of which many answers were cut; those that the
// model or a relative of it judged; and those with many answers that a judge
// could not read.
func warningsOf(r score.Result) (all []figure.Warning) {
	if line := provenance.Warning(r.SettingsThatDiffer); line != "" {
		all = append(all, figure.Warning{Code: "settings_differ", Text: line})
	}
	for _, line := range r.Provenance.Warnings() {
		all = append(all, figure.Warning{Code: "provenance", Text: line})
	}
	var w warnings
	w.collect(r)
	return append(all, w.texts()...)
}

// warning is one reason for unfair figures, with everyone it applies to.
type warning struct {
	figure.Warning
	what string
	who  table.Names
	so   string
}

type warnings []warning

// add adds who has a warning, and whose figures that touches.
func (all *warnings) add(code, what, who, so string, of ...figure.Keys) {
	w := table.Entry((*[]warning)(all), warning{Warning: figure.Warning{Code: code}, what: what, so: so}, func(w warning) bool { return w.what == what })
	w.who.Add(who)
	w.Of = append(w.Of, of...)
}

// texts writes the warnings out.
func (all warnings) texts() (texts []figure.Warning) {
	for _, w := range all {
		w.Text = strings.TrimSpace(w.what + ": " + listed(w.who) + ". " + w.so)
		texts = append(texts, w.Warning)
	}
	return texts
}

// collect groups those with the same warning, in the order of the result.
func (all *warnings) collect(r score.Result) {
	add := all.add
	for run, j := range r.Judged() {
		if l := run.Labeled; l != nil && j.Rate.Value != nil && j.Judge == run.Judges[0].Judge && (*j.Rate.Value < l.Rate.Lo || *j.Rate.Value > l.Rate.Hi) {
			add(contradicted, "People's labels contradict "+j.Judge, fmt.Sprintf("%s, %s prompts: %s by %s, %s by the judge", run.TargetCaption(), run.Label,
				table.Estimate(&l.Rate)+" ("+table.EstimateInterval(&l.Rate)+")", table.Counted(l.Labels, "label", "labels"), table.Percent(*j.Rate.Value)), "Its rates of other answers may be as wrong.", run.Keys(j.Judge))
		}
	}
	for _, run := range r.Runs {
		where := run.TargetCaption() + ", " + string(run.Label) + " prompts"
		if c := run.Labeled; c != nil {
			for _, pair := range c.Differ {
				add("people_differ", "People differ", where+", "+pair, "The corrected rate depends on who labeled.", run.Keys(""))
			}
			if c.Undecided > 0 {
				add("undecided", "People could not decide", where+" ("+table.Counted(c.Undecided, "answer", "answers")+")", "The corrected rate leaves these out.", run.Keys(""))
			}
			if c.RateSeen > 0 {
				add("rate_seen", "Labeled by people who had seen the rate", where+" ("+table.Counted(c.RateSeen, "answer", "answers")+")", "They may have labeled what they expected.", run.Keys(""))
			}
		}
		if run.LabelAssumed {
			add("label_assumed", "Label assumed, because nothing says what the prompts are", run.Dataset, "All of them count as safe. Give their label, or name the column that has it.", run.Scope(""))
		}
		if at := run.PassedOver; at != "" && !slices.ContainsFunc(run.Judges, func(j score.JudgeResult) bool { return strings.Contains(j.Judge, "column:"+at) }) {
			add("labels_passed_over", "The column "+at+" was not read", run.Dataset, "If it labels the prompts, orbench eval takes it, with replay:FILE as the target.", run.Scope(""))
		}
		if len(run.Helped) > 0 {
			parts := table.RowsOf(run.Helped, func(role dataset.Role) string { return strings.ReplaceAll(string(role), "_", " ") })
			so := "Compare on prompts that it did not help to make."
			if slices.Contains(run.Helped, dataset.Selector) {
				so = "A model that chose prompts by refusing them refuses more of them than others do."
			}
			add("helped_to_make", "Helped to make "+run.Dataset+", as "+strings.Join(parts, " and "), run.Model(), so, run.Keys(""))
		}
		if run.Truncation.Many(run.Answered) || len(run.Judges) > 0 && 100*run.Judges[0].Cut > run.Answered {
			add("cut", "Cut by the token limit", run.Target+" ("+table.Count(run.Truncated)+" of "+table.Count(run.Answered)+" answers to "+string(run.Label)+" prompts of "+run.Dataset+")",
				score.TruncationConsequence, run.Keys(""))
		}
	}
	all.noRates(r)
	all.read(r)
	all.served(r)
	for _, run := range r.Runs {
		if run.AccountLimited > 0 {
			add("account_limited", "The provider limited the account", run.Target+" ("+table.Count(run.Answered+run.Blocked)+" of "+table.Count(run.N)+" "+string(run.Label)+" prompts of "+run.Dataset+" have answers)",
				"These are not a random sample, so their rates probably differ from the rates of all.", run.Keys(""))
		}
		for _, j := range run.Judges[:min(1, len(run.Judges))] {
			if n := j.NoText(); 100*n > j.Judged+j.Unjudged {
				thinking := ""
				if only := j.BySource[score.FromThinking]; only > 0 {
					thinking = ", " + table.Count(only) + " with reasoning alone"
				}
				add("no_text", "Answers without text", ofAnswers(run, n)+thinking, "They count as refusals. "+score.NoTextHelp, run.Keys(j.Judge))
			}
		}
	}
	for f := range figure.Of(r.All(), figure.Agreement) {
		agree := int(f.Count())
		if strings.HasPrefix(f.Other, "column:") && (stats.Confusion{TP: agree, FP: f.N - agree}).Reversed() {
			add("recorded_otherwise", "Judged contrary to recorded verdicts", fmt.Sprintf("%s by %s, %d of %d answers in %s", f.Target, f.Judge, f.N-agree, f.N, f.Other), "Are the values that mean a refusal the other way round?", f.Keys)
		}
	}
	for _, name := range r.LeftOut {
		add("left_out", "Not shown, since translated prompts and counting judges are gone", name, "All stays in the store. Show it with "+provenance.LastToShow+".")
	}
	for run, j := range r.Judged() {
		if j.Unjudged-j.Cut-j.NoAnswer > manyUnjudged*(j.Judged+j.Unjudged)/100 {
			so := "The first: " + j.UnjudgedFor + "."
			if j.Judge == judge.Lexical.Name() {
				so = "It does not judge languages of which it has no phrases. If that is the cause, use llm:PROVIDER/MODEL or guard:qwen3guard@PROVIDER/MODEL."
			}
			add("unjudged", "Left unjudged by "+j.Judge, ofAnswers(*run, j.Unjudged), so, run.Keys(j.Judge))
		}
		switch j.SelfJudging {
		case score.SameModel:
			add("judged_by_itself", "Judged by itself", run.Model()+" by "+j.Judge, "Models judge their own answers kindly; add another judge.", run.Keys(j.Judge))
		case score.SameFamily:
			add("judged_by_family", "Judged by a model of its family", run.Model()+" by "+j.Judge, "Models judge their family's answers kindly; add another judge.", run.Keys(j.Judge))
		}
	}
	for _, name := range r.Judges() {
		if judge.Unfenced(name) {
			add("unfenced", "Judged in a format without a fence", name, "An answer that imitates the format may mislead the judge; compare with llm:PROVIDER/MODEL.", figure.Keys{Judge: name})
		}
	}
}

// ofAnswers is a target with a number of its answers.
func ofAnswers(run score.RunResult, n int) string {
	prompts := " prompts of "
	if run.Label == "" { // recorded answers
		prompts = "prompts of "
	}
	return run.Target + " (" + table.Count(n) + " of " + table.Count(run.Answered+run.Blocked) + " answers to " + string(run.Label) + prompts + run.Dataset + ")"
}

// read adds what the reading of replies did.
func (all *warnings) read(r score.Result) {
	for _, run := range r.Runs {
		for _, what := range slices.Sorted(maps.Keys(run.Read)) {
			kind, detail, _ := strings.Cut(what, " (")
			text, so := readAs(kind, strings.TrimSuffix(detail, ")"))
			if text != "" {
				all.add("read", text, ofAnswers(run, run.Read[what]), so, run.Keys(""))
			}
		}
		for _, what := range slices.Sorted(maps.Keys(run.Reread)) {
			all.add("reread", "Read as when the run was made. orbench would now find "+what, ofAnswers(run, run.Reread[what]), "To move the run to that reading, report it once more with reread.", run.Keys(""))
		}
	}
}

// readAs says in words what a reading did, and what that means.
func readAs(kind, detail string) (what, so string) {
	switch kind {
	case "thinking":
		return "Thinking stood in the text (" + detail + ")", "It was taken out."
	case "unwrapped":
		return "Text in " + detail, "It was read without what is around it."
	case "no answer":
		so = "It is in no rate. If it stands for a block, name the text in the setting blocks."
		if detail == "no text" || detail == "reasoning alone" {
			so = "It is in no rate. " + score.NoTextHelp
		}
		return "No answer (" + detail + ")", so
	case "cut by a filter":
		return "Cut by a filter of the provider (" + detail + ")", "The half answers count as its blocks."
	case "withheld":
		return "A text in place of an answer (" + detail + ")", "It counts as the provider's block."
	}
	if unknown, ok := strings.CutPrefix(kind, "unknown: "); ok {
		if detail != "" {
			unknown += " (" + detail + ")"
		}
		return "Unknown form, " + unknown, "It was judged as it is. If it stands for a block, name the text in the setting blocks."
	}
	return "", ""
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

// sentence says what comes before a list, and the list; it is empty without one.
func sentence(before, list string) string {
	if list == "" {
		return ""
	}
	return before + list + "."
}
