package logs

import (
	"fmt"
	"slices"
	"strings"

	"github.com/orbench/orbench"
	"github.com/orbench/orbench/internal/rows"
	"github.com/orbench/orbench/model"
)

// Source is who refused.
type Source string

// The sources. Where several said no, the earlier one of Sources counts.
const (
	// GuardBefore is a guard that saw the message before the model did.
	GuardBefore Source = "guard_before"
	// Provider withheld the message or the reply.
	Provider Source = "provider"
	// GuardAfter is a guard that saw the reply.
	GuardAfter Source = "guard_after"
	// Fixed is a reply that came word for word to unlike messages, or that the log calls a
	// template: the product's own text, or a model that repeats itself.
	Fixed Source = "fixed_text"
	// Model is the model in its own words.
	Model Source = "model"
)

// Sources lists the sources in the order in which they decide.
var Sources = []Source{GuardBefore, Provider, GuardAfter, Fixed, Model}

// names are the sources in words.
var names = map[Source]string{
	GuardBefore: "guard before the model", Provider: "provider", GuardAfter: "guard after the model", Fixed: "fixed text", Model: "model",
}

// String is the source in words.
func (s Source) String() string { return names[s] }

// words are the words of guards. true is for a message or reply that they stopped or would
// stop.
var words = map[string]bool{
	"": false, "false": false, "0": false, "no": false, "none": false, "null": false, "ok": false, "pass": false, "passed": false, "allow": false, "allowed": false,
	"safe": false, "clean": false, "success": false, "not_run": false, "unflagged": false, "benign": false,
	"true": true, "1": true, "yes": true, "block": true, "blocked": true, "flag": true, "flagged": true, "unsafe": true, "deny": true, "denied": true,
	"reject": true, "rejected": true, "fail": true, "failed": true, "intervened": true, "guardrail_intervened": true, "harmful": true, "toxic": true,
}

// flags reads the word of a guard. A word that is not known must not be guessed.
func (o Options) flags(word, flag string, r rows.Record) (bool, error) {
	word = strings.ToLower(strings.TrimSpace(word))
	if slices.ContainsFunc(o.Flagged, func(w string) bool { return strings.EqualFold(w, word) }) {
		return true, nil
	}
	said, known := words[word]
	if !known && len(o.Flagged) == 0 {
		return false, r.Fault(fmt.Sprintf("the guard's word %.40q is not known", word), "say with `flagged` which words mean that it stopped the text, or name another column with `"+flag+"`")
	}
	return said, nil
}

// refuser is who refused an exchange whose reply has a class that counts as refused. Fixed
// texts are known only at the end.
func refuser(e rows.Exchange, before, after bool) Source {
	switch {
	case before:
		return GuardBefore
	case e.Block != nil && e.Block.Kind != model.RefusalField:
		return Provider
	case after:
		return GuardAfter
	case e.Template != "":
		return Fixed
	}
	return Model
}

// Kind says how a reply fails to give what was asked.
type Kind string

// The kinds. WillNot is what counts as refused elsewhere.
const (
	WillNot  Kind = "will_not"
	Cannot   Kind = "cannot"
	AsksBack Kind = "asks_back"
)

// kindOf is empty for an answer.
func kindOf(v orbench.Verdict) Kind {
	switch {
	case v.Class.Refused():
		return WillNot
	case v.Class == orbench.Unable && v.Reason == orbench.ReasonMissing:
		return AsksBack
	case v.Class == orbench.Unable:
		return Cannot
	}
	return ""
}
