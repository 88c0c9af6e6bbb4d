package model

import (
	"regexp"
	"slices"
	"strings"
	"sync"
)

// Served says who answered a request, as far as names tell.
type Served string

const (
	// AsAsked: the model that was asked, by the very name, or by none.
	AsAsked Served = ""
	// AsVersion: the model that was asked, by the name of a version or by a path.
	AsVersion Served = "version"
	// ByOther: another model.
	ByOther Served = "other"
	// Unclear: the names do not tell, as those of routers and of servers of one's own.
	Unclear Served = "unclear"
)

// ServedBy decides by names alone who answered. Names of the list accepted are those of the
// model that was asked.
func ServedBy(asked Ref, answered string, accepted []string) Served {
	if answered == "" || answered == asked.Model || asked.Provider == Replay || strings.HasSuffix(answered, SimulatedMark) {
		return AsAsked
	}
	if slices.Contains(accepted, answered) || dated(asked.Model, answered) {
		return AsVersion
	}
	if max(len(asked.Model), len(answered)) > longestName {
		return Unclear
	}
	return decided.of(decision{asked.Provider, asked.Model, answered})
}

// decision is what names are decided about.
type decision struct{ provider, asked, answered string }

// decisions remembers what was decided: a run has few names and many answers.
type decisions struct {
	lock  sync.RWMutex
	known map[decision]Served
}

var decided = decisions{known: map[decision]Served{}}

// mostDecisions bounds what is remembered, as a server may send any names.
const mostDecisions = 1000

func (d *decisions) of(names decision) Served {
	d.lock.RLock()
	by, ok := d.known[names]
	d.lock.RUnlock()
	if ok {
		return by
	}
	by = names.decide()
	d.lock.Lock()
	defer d.lock.Unlock()
	if len(d.known) >= mostDecisions {
		clear(d.known)
	}
	d.known[names] = by
	return by
}

// decide compares the names part by part.
func (d decision) decide() Served {
	a, b := partsOf(d.asked), partsOf(d.answered)
	known := a.maker != "" && b.maker != ""
	_, shorter := within(a.base, b.base)
	_, longer := within(b.base, a.base)
	switch {
	case a.tuned && !b.tuned:
		// A server that answers with the base of a fine-tune may mean either.
		return Unclear
	case len(a.base) == 0 || len(b.base) == 0:
		return Unclear
	case slices.Equal(a.base, b.base) && a.agrees(b), a.latest && a.newest(b), d.provider == "azure" && a.deploys(b):
		return AsVersion
	case slices.Contains(anyName, d.provider), !known, a.routes() || b.routes():
		return Unclear
	case a.maker == b.maker && !a.exact() && !slices.Equal(a.base, b.base) && (shorter || longer):
		return Unclear
	}
	return ByOther
}

// longestName is more than names of models take; a server may send any length.
const longestName = 300

// ByOther reports whether another model answered than was asked.
func (r Response) ByOther(asked Ref) bool {
	return !r.Accepted && ServedBy(asked, r.Model, nil) == ByOther
}

// anyName are the providers whose servers may call a model whatever its owner likes.
var anyName = []string{"azure", "ollama", "vllm", "lmstudio", "llamacpp", "tei", "vllm-classify"}

// dated reports whether a name is another with a date behind it, the usual case.
func dated(asked, answered string) bool {
	rest, ok := strings.CutPrefix(answered, asked+"-")
	if !ok || len(rest) != len("20240806") && len(rest) != len("2024-08-06") || !strings.HasPrefix(rest, "20") {
		return false
	}
	for i, c := range []byte(rest) {
		if (len(rest) == 10 && (i == 4 || i == 7)) != (c == '-') || c != '-' && (c < '0' || c > '9') {
			return false
		}
	}
	return true
}

// nameParts is a name of a model, in parts that may be compared.
type nameParts struct {
	// maker is empty where it is not known.
	maker string
	// base is words and numbers of the name without what tells versions: a date, in digits,
	// and a number behind a v.
	base    []string
	date, v string
	// latest is true of a name that stands for the newest version, tuned of a fine-tune.
	latest, tuned bool
}

var (
	// servedTail is what hosts put behind names: how a call is routed, the interface's version
	// of Bedrock, and how weights are packed.
	servedTail = regexp.MustCompile(`(?:#.*|:(?:free|nitro|floor|exacto|extended|online|beta|thinking)|-v[0-9]+:[0-9]+|[-._:](?:gguf|awq|gptq|exl2|mlx|fp(?:8|16|32)|bf16|int[48]|i?q[0-9](?:_[a-z0-9]+)*|[48]-?bit|w[0-9]+a[0-9]+))$`)
	// servedHead is where Bedrock has a model, and whose it is.
	servedHead = regexp.MustCompile(`^(?:(?:us|eu|apac|jp|au|global)\.)?(?:anthropic|amazon|meta|mistral|cohere|ai21|deepseek|openai|qwen|google)\.`)
	namePart   = regexp.MustCompile(`[a-z]+|[0-9]+`)
)

// partsOf parts a name.
func partsOf(name string) nameParts {
	p := nameParts{tuned: strings.HasPrefix(name, "ft:") || strings.Contains(name, "tunedModels/")}
	name = BareName(name)
	for cut := servedTail.FindStringIndex(name); cut != nil; cut = servedTail.FindStringIndex(name) {
		name = name[:cut[0]]
	}
	if cut := servedHead.FindStringIndex(name); cut != nil {
		name = name[cut[1]:]
	}
	p.maker = makerOf(familyWord.FindAllString(name, -1))
	p.base = namePart.FindAllString(name, -1)
	for p.cutVersion() {
	}
	if n := len(p.base); n > 2 && p.base[n-1] == "0" && isNumber(p.base[n-2]) {
		p.base = p.base[:n-1] // 4.0 is 4
	}
	for i, part := range p.base {
		if part == "35" && i > 0 && p.base[i-1] == "gpt" {
			p.base = slices.Replace(p.base, i, i+1, "3", "5") // as Azure writes it
			break
		}
	}
	return p
}

// cutVersion takes a date, a number behind a v, or latest from the end, and reports whether
// there was one.
func (p *nameParts) cutVersion() bool {
	n := len(p.base)
	// end has the last parts by their length, numbers alone.
	end := func(lengths ...int) bool {
		if n <= len(lengths) {
			return false
		}
		for i, part := range p.base[n-len(lengths):] {
			if !isNumber(part) || len(part) != lengths[i] {
				return false
			}
		}
		return true
	}
	cut := 0
	switch {
	case n < 2:
		return false
	case p.base[n-1] == "latest":
		p.latest, p.base = true, p.base[:n-1]
		return true
	case p.base[n-2] == "v" && isNumber(p.base[n-1]) && n > 2:
		p.v, p.base = p.base[n-1], p.base[:n-2]
		return true
	case n > 3 && p.base[n-3] == "v" && isNumber(p.base[n-2]) && isNumber(p.base[n-1]):
		p.v, p.base = p.base[n-2]+"."+p.base[n-1], p.base[:n-3]
		return true
	case p.date != "":
		return false
	case end(4, 2, 2) && strings.HasPrefix(p.base[n-3], "20"):
		cut = 3
	case end(2, 4) && strings.HasPrefix(p.base[n-1], "20"), end(2, 2) && n > 3 && slices.Contains([]string{"preview", "exp"}, p.base[n-3]):
		cut = 2
	case end(8) && strings.HasPrefix(p.base[n-1], "20"), end(4), end(3) && p.base[n-1][0] == '0':
		cut = 1
	default:
		return false
	}
	p.date, p.base = strings.Join(p.base[n-cut:], ""), p.base[:n-cut]
	return true
}

// agrees reports whether no version of one contradicts that of the other.
func (p nameParts) agrees(o nameParts) bool {
	date := p.date == "" || o.date == "" || strings.HasSuffix(p.date, o.date) || strings.HasSuffix(o.date, p.date)
	return date && (p.v == "" || o.v == "" || p.v == o.v)
}

// newest reports whether a name that stands for the newest version may stand for another: the
// other has numbers alone beside its words.
func (p nameParts) newest(o nameParts) bool {
	beside, ok := within(p.base, o.base)
	return ok && !slices.ContainsFunc(beside, isWord)
}

// deploys reports whether a name that a customer gave a deployment may stand for a model: it
// names none, or that one with words that tell no other.
func (p nameParts) deploys(o nameParts) bool {
	if p.maker == "" {
		return true
	}
	for i := range p.base {
		if rest := p.base[i:]; len(rest) >= len(o.base) && slices.Equal(rest[:len(o.base)], o.base) {
			rest = rest[len(o.base):]
			return !slices.ContainsFunc(slices.Concat(p.base[:i], rest), func(part string) bool { return isNumber(part) || slices.Contains(sizes, part) })
		}
	}
	return false
}

// sizes are words that tell a model from others of its generation.
var sizes = []string{"mini", "nano", "turbo", "pro", "lite", "codex", "audio", "realtime", "preview", "k", "b", "o", "oss"}

// routes reports whether the name is that of whatever model a router takes.
func (p nameParts) routes() bool {
	return slices.ContainsFunc(p.base, func(part string) bool { return part == "auto" || part == "router" || part == "default" }) ||
		slices.Equal(p.base, []string{"deepseek", "chat"}) || slices.Equal(p.base, []string{"deepseek", "reasoner"})
}

// exact reports whether the name is written out: its maker has no other that means the same.
func (p nameParts) exact() bool {
	open := slices.ContainsFunc(p.base, func(part string) bool { return part == "oss" || strings.HasSuffix(part, "gemma") })
	return !open && slices.Contains([]string{"gpt", "claude", "gemini", "grok"}, p.maker) && (p.latest || slices.ContainsFunc(p.base, isNumber))
}

// within reports whether all parts are among others, in their order, and which others are
// beside them.
func within(parts, others []string) (beside []string, ok bool) {
	for _, other := range others {
		if len(parts) > 0 && parts[0] == other {
			parts = parts[1:]
		} else {
			beside = append(beside, other)
		}
	}
	return beside, len(parts) == 0
}

func isNumber(part string) bool { return part[0] >= '0' && part[0] <= '9' }

func isWord(part string) bool { return !isNumber(part) && part != "preview" && part != "exp" }
