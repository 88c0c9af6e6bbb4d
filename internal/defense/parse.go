package defense

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/orbench/orbench"
	"github.com/orbench/orbench/internal/guard"
	"github.com/orbench/orbench/internal/moderate"
	"github.com/orbench/orbench/internal/policy"
	"github.com/orbench/orbench/internal/question"
	"github.com/orbench/orbench/internal/settings"
	"github.com/orbench/orbench/judge"
	"github.com/orbench/orbench/model"
)

// Options say how the models of a run's defenses are asked.
type Options = judge.Options

// The names of the steps.
const (
	none         = "none"
	inputGuard   = "input-guard"
	icl          = "icl"
	selfReminder = "self-reminder"
	smoothLLM    = "smoothllm"
	checkAnswer  = "response-check"
	outputGuard  = "output-guard"
)

// order is the order in which the steps act and in which a ladder names them. The two
// steps that inspect answers share one place.
var order = map[string]int{inputGuard: 1, icl: 2, selfReminder: 3, smoothLLM: 4, checkAnswer: 5, outputGuard: 5}

// names lists the names of the steps.
var names = []string{none, inputGuard, icl, selfReminder, smoothLLM, checkAnswer, outputGuard}

// guardFormats lists the formats of guards that detect harm.
func guardFormats() []string { return guard.Telling(guard.PromptHarm) }

const (
	// The published defaults of SmoothLLM, and bounds so that a typing error cannot cost
	// a fortune.
	defaultCopies, maxCopies   = 10, 100
	defaultPercent, maxPercent = 10, 100
)

// Parse makes the defense that spec names:
//
//	none                                     no defense
//	icl[:K]                                  K refused requests before the prompt,
//	                                         1 to 8, or 2
//	self-reminder                            words of care around the prompt
//	smoothllm[:KIND][,n=N][,q=Q]             N copies, 10, with Q percent of the
//	                                         characters, 10, perturbed by KIND:
//	                                         swap, insert or patch
//	response-check[:PROVIDER/MODEL]          a model, or the target itself, checks
//	                                         the answer
//	input-guard:[POLICY@]PROVIDER/MODEL      a moderator by a policy that ships, or a
//	input-guard:FORMAT[:SETTING…]@PROVIDER/MODEL
//	                                         guard, see guard.Parse, inspects the
//	                                         prompt
//	output-guard:…                           likewise the answer
//	STEP+STEP…                               a ladder, in the order in which steps
//	                                         act: input-guard, icl, self-reminder,
//	                                         smoothllm, then checks of the answer
//
// A plus sign always separates two steps. A ladder can have several guards and
// checks, and each other step once. The error for any other text is an
// *orbench.InputError that says what would do, with the nearest name for one
// that is misspelled.
func Parse(spec string, opts Options) (*Defense, error) {
	spec = strings.TrimSpace(spec)
	if spec == none {
		return &Defense{}, nil
	}
	p := parser{spec: spec, opts: opts, models: question.Models{Endpoint: opts.Endpoint, MaxTokens: opts.MaxTokens, Structured: opts.Structured}, defense: &Defense{}}
	var steps []string
	last := ""
	var err error
	for step := range strings.SplitSeq(spec, "+") {
		step = strings.TrimSpace(step)
		kind, rest, colon := strings.Cut(step, ":")
		if colon && rest == "" {
			return nil, wrong("defense %q ends a step after its colon", spec)
		}
		rank, known := order[kind]
		switch {
		case kind == none:
			return nil, wrong("defense %q: none cannot be a step of a ladder", spec)
		case !known:
			return nil, settings.Unknown("defense", "defense", kind, names)
		case slices.Contains(steps, step):
			return nil, wrong("defense %q names %q twice", spec, step)
		case kind == last && rank != order[inputGuard] && rank < order[outputGuard]:
			return nil, wrong("defense %q has %s twice", spec, kind)
		case last != "" && rank < order[last]:
			return nil, wrong("defense %q names %s after %s, which acts later; write the steps in the order %s", spec, kind, last, strings.Join(names[1:], ", "))
		}
		if kind == inputGuard || kind == outputGuard {
			if rest, err = p.completed(rest); err != nil {
				return nil, err
			}
			step = kind + ":" + rest
		}
		if err := p.step(step, kind, rest); err != nil {
			return nil, err
		}
		steps, last = append(steps, step), kind
	}
	p.defense.name = strings.Join(steps, "+")
	return p.defense, nil
}

// parser builds a defense step by step.
type parser struct {
	spec    string
	opts    Options
	models  question.Models
	defense *Defense
}

// step adds one step to the ladder.
func (p *parser) step(step, kind, rest string) error {
	d := p.defense
	switch kind {
	case icl:
		k := defaultDemonstrations
		if rest != "" {
			var err error
			if k, err = p.number("icl", rest, maxDemonstrations); err != nil {
				return err
			}
		}
		d.rewrites = append(d.rewrites, demonstrate(k))
	case selfReminder:
		if rest != "" {
			return wrong("defense %q: self-reminder takes nothing after it", p.spec)
		}
		d.rewrites = append(d.rewrites, remind)
	case smoothLLM:
		s, err := p.smoothing(step, rest)
		if err != nil {
			return err
		}
		d.smooth = s
	case inputGuard, outputGuard:
		inspector, ref, err := p.guard(kind, rest)
		if err != nil {
			return err
		}
		if kind == inputGuard {
			d.before = append(d.before, inspection{step, &ref, inspector})
		} else {
			d.after = append(d.after, inspection{step, &ref, inspector})
		}
	case checkAnswer:
		var ref *model.Ref
		if rest != "" {
			named, err := p.ref(kind, rest)
			if err != nil {
				return err
			}
			ref = &named
		}
		d.after = append(d.after, inspection{step, ref, responseCheck(ref, p.models)})
	}
	return nil
}

// smoothing reads what follows "smoothllm:".
func (p *parser) smoothing(step, rest string) (*smoothing, error) {
	s := &smoothing{name: step, kind: swap, copies: defaultCopies, percent: defaultPercent}
	if rest == "" {
		return s, nil
	}
	var err error
	seen := map[string]bool{}
	for i, part := range strings.Split(rest, ",") {
		key, value, isNumber := strings.Cut(part, "=")
		switch {
		case seen[key]:
			return nil, wrong("defense %q gives %q twice", p.spec, key)
		case isNumber && key == "n":
			s.copies, err = p.number("n", value, maxCopies)
		case isNumber && key == "q":
			s.percent, err = p.number("q", value, maxPercent)
		case i == 0 && slices.Contains(perturbations, perturbation(part)):
			s.kind = perturbation(part)
		case i == 0 && !isNumber:
			return nil, settings.Unknown("defense", "perturbation", part, []string{string(swap), string(insert), string(patch)})
		default:
			return nil, wrong("defense %q: %q is not n=COPIES or q=PERCENT; for example smoothllm:swap,n=10,q=10", p.spec, part)
		}
		if err != nil {
			return nil, err
		}
		seen[key] = true
	}
	return s, nil
}

// number reads a number from 1 to most, written without sign or leading zeros.
func (p *parser) number(what, text string, most int) (int, error) {
	n, err := strconv.Atoi(text)
	if err != nil || n < 1 || n > most || strconv.Itoa(n) != text {
		return 0, wrong("defense %q: %s must be a number from 1 to %d, not %q", p.spec, what, most, text)
	}
	return n, nil
}

// guardOf reads FORMAT[:SETTING…]@PROVIDER/MODEL. It also reports whether the text has
// that form.
func (p *parser) guardOf(rest string) (g guard.Guard, target string, ok bool, err error) {
	format, _, found := strings.Cut(rest, "@")
	name, _, _ := strings.Cut(format, ":")
	if !found || !slices.Contains(guardFormats(), name) {
		return g, "", false, nil
	}
	if g, target, err = guard.Parse(rest); err != nil {
		return g, "", false, err
	}
	// A stored ladder is read again, and by then the file may have changed or be gone.
	if g.PolicyText != "" && g.PolicyName != "" && !slices.Contains(policy.Names(), g.PolicyName) {
		return g, "", false, wrong("defense %q: a guard of a defense takes a built-in policy, not a file such as %s; built in are %s", p.spec, g.PolicyName, strings.Join(policy.Names(), ", "))
	}
	return g, target, true, nil
}

// completed adds what is known of a guard's provider, so that the name of the ladder
// contains everything that affects decisions.
func (p *parser) completed(rest string) (string, error) {
	g, target, ok, err := p.guardOf(rest)
	if err != nil || !ok || p.opts.Guard == nil {
		return rest, err
	}
	before := g.String()
	if err := p.opts.Guard(&g, target); err != nil {
		return "", err
	}
	if g.String() == before {
		return rest, nil
	}
	written := g.String() + "@" + target
	if again, _, err := guard.Parse(written); err != nil || again.String() != g.String() || strings.Contains(written, "+") {
		return "", wrong("defense %q: a label with : @ or + cannot be in a ladder; name another with label=LABEL", p.spec)
	}
	return written, nil
}

// guard reads a guard as guardOf does, or [POLICY@]PROVIDER/MODEL with a policy that
// ships, and gives its model.
func (p *parser) guard(kind, rest string) (i inspector, ref model.Ref, err error) {
	switch g, target, ok, err := p.guardOf(rest); {
	case err != nil:
		return nil, ref, err
	case ok:
		if ref, ok = p.models.Ref(target); !ok {
			return nil, ref, p.nameless(kind)
		}
		return guarding(g, ref), ref, nil
	}
	// A model's name may contain an @ as well, after its slash.
	format, target, ok := strings.Cut(rest, "@")
	named := ok && slices.Contains(policy.Names(), format)
	if named {
		rest = target
	}
	if named || !ok || strings.Contains(format, "/") {
		if ref, err = p.ref(kind, rest); err != nil {
			return nil, ref, err
		}
		asked := p.models.Model(ref)
		m := moderate.Moderator{Name: ref.String(), Ref: ref, MaxTokens: asked.MaxTokens, Structured: asked.Structured}
		definitions := orbench.PaperPolicy()
		if named {
			harm, err := policy.Open(format)
			if err != nil {
				return nil, ref, err
			}
			definitions = harm.Definitions()
		}
		return moderation(m, definitions), ref, nil
	}
	name, _, _ := strings.Cut(format, ":")
	if slices.Contains(guard.Formats(), guard.Format(name)) {
		return nil, ref, wrong("defense %q: %s finds refusals, not harm; formats that find harm are %s", p.spec, name, strings.Join(guardFormats(), ", "))
	}
	return nil, ref, settings.Unknown("defense", "guard format or policy", name, slices.Concat(guardFormats(), policy.Names()))
}

// ref reads PROVIDER/MODEL of a model that answers; the model may contain more slashes.
func (p *parser) ref(kind, s string) (model.Ref, error) {
	ref, ok := p.models.Ref(s)
	if !ok {
		return ref, p.nameless(kind)
	}
	if p.opts.Classifies != nil && p.opts.Classifies(ref.Provider) {
		return ref, wrong("defense %q: %s serves classifiers, which answer no questions; write input-guard:classifier@%s or output-guard:classifier@%s", p.spec, ref.Provider, ref, ref)
	}
	return ref, nil
}

func (p *parser) nameless(kind string) error {
	return wrong("defense %q must name the model of %s as provider/model, for example %s:openai/gpt-4o-mini", p.spec, kind, kind)
}

// wrong is the error for a spec that Parse cannot use.
func wrong(format string, args ...any) error {
	return &orbench.InputError{Setting: "defense", Problem: fmt.Sprintf(format, args...)}
}
