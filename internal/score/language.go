package score

import (
	"strings"

	"github.com/orbench/orbench/refusal"
)

// English is the code of the language that is assumed as long as there are no
// answers.
const English = "en"

// Languages counts the languages of answers. The zero value is ready for use.
type Languages struct {
	added int
	of    map[string]int
}

// Add counts an answer. Of many, each tenth is read: that tells the language of
// all, and costs little.
func (l *Languages) Add(answer string) {
	const all, step = 100, 10
	l.added++
	if l.added > all && l.added%step != 0 || strings.TrimSpace(answer) == "" {
		return
	}
	if code := refusal.Language(answer); code != "" {
		if l.of == nil {
			l.of = map[string]int{}
		}
		l.of[code]++
	}
}

// Most returns the language of at least nine tenths of the answers whose
// language is known, as its code of ISO 639-1; empty if they are mixed.
func (l *Languages) Most() string {
	sum := 0
	for _, n := range l.of {
		sum += n
	}
	for code, n := range l.of {
		if 10*n >= 9*sum {
			return code
		}
	}
	return ""
}

// Language returns the language of the answers: the first in which a judge's
// error is known, or else the first.
func (r *Result) Language() string {
	for run, j := range r.Judged() {
		if j.Known() {
			return run.Language
		}
	}
	if len(r.Runs) == 0 {
		return ""
	}
	return r.Runs[0].Measured(false)
}

// Measured is the language of the answers, or empty if no judge was measured on such
// answers: to prompts that have no label, after a system prompt, or in a dialog. Of a variant that
// is compared with its base it is the language alone, as they share what the judge errs.
func (r *RunResult) Measured(variant bool) string {
	if !variant && r.Unmeasured() != "" {
		return ""
	}
	return r.Language
}

// Unmeasured says which answers these are, if no judge was measured on their kind.
func (r *RunResult) Unmeasured() string {
	switch {
	case r.LabelAssumed || r.Unlabeled:
		return "on prompts without labels"
	case r.Dialogs || r.Asked.Turns != "":
		return "on prompts of several messages"
	case r.Asked.System != "":
		return "after a system prompt"
	}
	return ""
}
