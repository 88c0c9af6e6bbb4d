package judge

import (
	"fmt"
	"slices"
	"strings"

	"github.com/orbench/orbench"
	"github.com/orbench/orbench/internal/guard"
	"github.com/orbench/orbench/internal/question"
	"github.com/orbench/orbench/internal/settings"
	"github.com/orbench/orbench/model"
)

// Options are the settings that the judges of a run share.
type Options struct {
	// Endpoint gives model.Request.Endpoint for a provider's models; empty means the
	// provider's own. Nil means that all of them use their own.
	Endpoint func(provider string) string
	// MaxTokens bounds the reply of a judge that explains itself. 0 means 1,000, as in
	// the published protocol. Guards have short replies and their own bounds.
	MaxTokens int
	// Structured reports whether a provider supports a JSON Schema; nil means that none
	// does. Replies in either form are always read.
	Structured func(provider string) bool
	// Classifies reports whether a provider serves classifiers, which label texts and do
	// not answer questions. A judge of the other kind at such a provider, or the reverse,
	// is an error. Nil means that this is unknown.
	Classifies func(provider string) bool
	// Guard adds to a guard what is known of its provider, or says why the provider cannot
	// serve it. Nil leaves the guard unchanged.
	Guard func(g *guard.Guard, target string) error
	// Rubric gives the text of the rubric file that an llm judge names as FILE or
	// FILE#HASH; nil reads the file. With the names and texts from Rubrics, a judge can
	// be made again without its file.
	Rubric func(named string) ([]byte, error)
	// Wording is the version of the prompt of llm judges without a rubric; 0 means the
	// newest.
	Wording int
	// Revision is that of the requests; see model.Request. Another one asks for verdicts anew.
	Revision string
}

// models gives the settings for questions to models.
func (o Options) models() question.Models {
	return question.Models{Endpoint: o.Endpoint, MaxTokens: o.MaxTokens, Structured: o.Structured, Revision: o.Revision}
}

// ModelJudge is a Judge that uses models. It names them so that a caller can make their
// clients and price their calls before the first one.
type ModelJudge interface {
	Judge
	// Models lists every model that the judge may ask, each once.
	Models() []model.Ref
}

// ModelsOf lists the models of several judges, judge by judge.
func ModelsOf(judges ...Judge) (refs []model.Ref) {
	for _, j := range judges {
		if asking, ok := j.(ModelJudge); ok {
			refs = append(refs, asking.Models()...)
		}
	}
	return refs
}

// composed is a judge made of others.
type composed interface{ parts() []Judge }

// distinctModels lists the models of several judges, each once.
func distinctModels(judges []Judge) (refs []model.Ref) {
	for _, ref := range ModelsOf(judges...) {
		if !slices.Contains(refs, ref) {
			refs = append(refs, ref)
		}
	}
	return refs
}

// kinds are the kinds of judges that Parse makes: the word before the colon.
var kinds = []string{"lexical", "paper-keywords", "llm", "guard", "classify", "panel", "cascade", "column", Flag}

// Parse makes the judge that spec names:
//
//	lexical                          the embedded detector
//	paper-keywords[:FAMILY]          the published phrase lists
//	llm:PROVIDER/MODEL[@RUBRIC]      a language model as judge, by a rubric that is
//	                                 paper, xstest or a YAML file
//	guard:FORMAT[:SETTING…]@PROVIDER/MODEL
//	                                 a model trained to see refusals, which writes
//	                                 what it sees; the settings are style and criterion
//	classify:FORMAT[:LABEL]@PROVIDER/MODEL
//	                                 a classifier, whose LABEL means a refusal, by
//	                                 default one of the usual names for it
//	column:NAME[=VALUE|VALUE…]       what a column of a file of recorded answers says;
//	                                 the values mean a refusal
//	flag                             what a guard that is measured says; see
//	                                 package guard
//	panel:RULE(SPEC,SPEC,…)          a vote; RULE is majority, unanimous or
//	                                 weighted (each SPEC then as SPEC=WEIGHT)
//	cascade:SPEC>SPEC>…              the first that is sure decides, else the last
//
// The error for any other text is an *orbench.InputError that says what would
// do, with the nearest name for one that is misspelled.
func Parse(spec string, opts Options) (Judge, error) {
	spec = strings.TrimSpace(spec)
	kind, rest, colon := strings.Cut(spec, ":")
	if colon && rest == "" {
		return nil, wrong("judge %q ends after its colon", spec)
	}
	switch kind {
	case "lexical", Flag:
		if colon {
			return nil, wrong("judge %q: %s takes nothing after it", spec, kind)
		}
		if kind == Flag {
			return flag{}, nil
		}
		return Lexical, nil
	case "paper-keywords":
		return newKeywords(rest)
	case "llm":
		return newLLM(spec, rest, opts)
	case "guard":
		return newGuard(spec, rest, opts)
	case "classify":
		return newClassifier(spec, rest, opts)
	case "column":
		if !colon {
			return nil, wrong("judge %q names no column", spec)
		}
		return newColumn(spec, rest), nil
	case "panel":
		return newPanel(spec, rest, opts)
	case "cascade":
		return newCascade(spec, rest, opts)
	}
	if strings.Contains(kind, "/") {
		return nil, &orbench.InputError{Setting: "judge", Problem: spec + " is a model; say how it judges", Hint: "write llm:" + spec}
	}
	return nil, settings.Unknown("judge", "judge", kind, kinds)
}

// Split divides a list of judges at its commas, except those inside parentheses, and
// trims each. It leaves out empty parts.
func Split(list string) []string { return splitAt(list, ',') }

// splitAt is Split at another mark.
func splitAt(list string, mark byte) (parts []string) {
	depth, start := 0, 0
	add := func(end int) {
		if s := strings.TrimSpace(list[start:end]); s != "" {
			parts = append(parts, s)
		}
	}
	for i := range len(list) {
		switch list[i] {
		case '(':
			depth++
		case ')':
			depth = max(0, depth-1)
		case mark:
			if depth == 0 {
				add(i)
				start = i + 1
			}
		}
	}
	add(len(list))
	return parts
}

// parseRef reads PROVIDER/MODEL; the model may contain more slashes.
func parseRef(spec, s string, opts Options) (model.Ref, error) {
	ref, ok := opts.models().Ref(s)
	if !ok {
		return ref, wrong("judge %q must name its model as provider/model, for example llm:openai/gpt-4o", spec)
	}
	if opts.Classifies != nil && opts.Classifies(ref.Provider) {
		return ref, wrong("judge %q: %s serves classifiers, which answer no questions; write classify:FORMAT@%s", spec, ref.Provider, ref)
	}
	return ref, nil
}

// wrong is the error for a spec that Parse cannot use.
func wrong(format string, args ...any) error {
	return &orbench.InputError{Setting: "judge", Problem: fmt.Sprintf(format, args...)}
}

// Unfenced reports whether a judge of that name has no room for a fence around the
// answer. An answer that imitates the form of its replies may then mislead it. This holds
// for guard and classify, and for judges made of one of them.
func Unfenced(name string) bool {
	kind, rest, _ := strings.Cut(name, ":")
	switch kind {
	case "panel", "counting":
		_, list, _ := strings.Cut(strings.TrimSuffix(rest, ")"), "(")
		return slices.ContainsFunc(Split(list), Unfenced)
	case "cascade":
		return slices.ContainsFunc(splitAt(rest, '>'), Unfenced)
	}
	return kind == "guard" || kind == "classify"
}
