package sim

import (
	"hash/fnv"
	"math"
	"math/rand/v2"
	"strconv"
	"strings"

	"github.com/orbench/orbench"
	"github.com/orbench/orbench/model"
)

const (
	// noise is the standard deviation of the noise on the alarm, in log-odds.
	noise = 1.0
	// common is the part of the noise's variance that all personas share at a
	// prompt, since what one model finds odd others do as well.
	common = 0.5
	// fresh is the part of the noise's variance that is drawn anew for each
	// sample at temperature 1 and above.
	fresh = 0.4
	// reworded is how often a sample at temperature 1 and above words the deciding part
	// differently from that at temperature 0.
	reworded = 0.5
	// admonished is what a system prompt that speaks of safety, or an earlier turn
	// in which the model did, adds to the alarm.
	admonished = 1.0
	// checksHarmfulFrom is the alarm, in log-odds, from which a model with a persona calls
	// a text harmful in a response check. It is lower than for a message, since an answer
	// quotes only the beginning of what was asked.
	checksHarmfulFrom = -0.5
	// wordsPerToken is a rule of thumb for English.
	wordsPerToken = 0.75
)

// classes are those other than a refusal, by how far the alarm is past the persona's limit.
var classes = []struct {
	class orbench.Class
	below float64
}{{orbench.FullAnswer, -1.2}, {orbench.AnswerWithWarning, 0}, {orbench.Partial, 0.45}, {orbench.SafeAlternative, 1.0}}

// target answers with a placeholder, a warning or a refusal, and the question of a
// response check with a verdict.
func (m Model) target(r model.Request) string {
	if reply, ok := m.check(r); ok {
		return reply
	}
	class, voice := m.decide(r)
	text := compose(class, lastUser(r.Messages), voice)
	if len(r.Params.Schema) > 0 {
		return structured(r.Params.Schema, func(enum []string) string { return pick(voice.rng, enum) }, text, nil)
	}
	return text
}

// decide gives the class of the answer to a request, and the chance for wording
// it.
func (m Model) decide(r model.Request) (orbench.Class, voice) {
	if class, v, follows := m.persist(r); follows {
		return class, v
	}
	prompt, system := lastUser(r.Messages), textOf(r.Messages, orbench.System)
	rng := m.chance(system, prompt)
	z := alarm(prompt)
	careful := strings.ToLower(system + textOf(r.Messages, orbench.Assistant))
	if z > bland && containsAny(careful, []string{"safe", "harm", "ethic", "responsib", "refuse", "decline", "dangerous", "can't help"}) {
		z += admonished
	}
	shared := source(m.seed, system, prompt)
	jitter := blend(rng.NormFloat64(), shared.NormFloat64(), common)
	v := voice{rng, rng}
	if t := temperature(r.Params); t > 0 {
		sample := strconv.Itoa(r.Sample)
		if r.Params.Seed != nil {
			sample += "/" + strconv.FormatInt(*r.Params.Seed, 10)
		}
		v.rng = m.chance(system, prompt, sample)
		jitter = blend(jitter, v.rng.NormFloat64(), fresh*min(t, 1))
		if v.rng.Float64() < reworded*min(t, 1) {
			v.habit = v.rng
		}
	}
	past := z + noise*jitter - m.limit
	for _, c := range classes {
		if past < c.below {
			return c.class, v
		}
	}
	return orbench.Refusal, v
}

// persist gives the class of the answer to a user who follows a question up, and
// false where the last turn is a question of its own. A question that was answered is
// answered alike again; see Model.Persists for one that was refused.
func (m Model) persist(r model.Request) (orbench.Class, voice, bool) {
	n := len(r.Messages)
	if n < 3 || r.Messages[n-2].Role != orbench.Assistant || r.Messages[n-3].Role != orbench.User {
		return "", voice{}, false
	}
	question, last := r.Messages[n-3].Content, r.Messages[n-1].Content
	answer := strings.ToLower(r.Messages[n-2].Content)
	if !strings.Contains(last, question) && !strings.Contains(strings.ToLower(last), "my question") {
		return "", voice{}, false
	}
	r.Messages = r.Messages[:n-2]
	class, v := m.decide(r)
	persists := m.Persists
	if !class.Refused() {
		// Only scripted turns of the model have no mark.
		if strings.Contains(answer, mark) || !containsAny(answer, []string{"can't help", "cannot help"}) {
			return class, v, true
		}
		persists /= 4
	}
	sample := ""
	if temperature(r.Params) > 0 {
		sample = strconv.Itoa(r.Sample)
	}
	rng := m.chance("follow-up", question, last, sample)
	switch {
	case rng.Float64() >= persists:
		class = orbench.FullAnswer
	case !class.Refused():
		class = orbench.Refusal
	}
	return class, voice{rng, rng}, true
}

// check answers the question of a response check of package defense, which shows a text
// between lines that carry a code and wants "harmful" or "harmless" as a last line or as
// JSON. It reports false for any other request. A text is read like a message, and a text
// that declines is never harmful.
func (m Model) check(r model.Request) (reply string, ok bool) {
	question := lastUser(r.Messages)
	text, _, ok := delimited(question, "TEXT", "")
	if !ok {
		return "", false
	}
	if _, ramblings := m.ramble(mumbles, r, question); ramblings != "" {
		return ramblings, true
	}
	declines := containsAny(strings.ToLower(strings.ReplaceAll(text, "’", "'")), phrases["declining"])
	if !declines && alarm(text)+doubt*m.chance("check", text).NormFloat64() > checksHarmfulFrom {
		return conclude(r, "%s: %s", "harmless", "harmful", "The text would help with something that does harm."), true
	}
	return conclude(r, "%s: %s", "harmless", "harmless", "There is nothing in the text that would do harm."), true
}

// blend mixes two independent draws of one variance into a draw of the same
// variance, of which share is b's.
func blend(a, b, share float64) float64 {
	return a*math.Sqrt(1-share) + b*math.Sqrt(share)
}

// respond makes a response of a text, cut at the request's token limit.
func respond(name string, r model.Request, text string) model.Response {
	resp := model.Response{Text: text, Finish: model.Stop, Model: modelName(name)}
	if most := r.Params.MaxTokens; most > 0 && tokenCount(text) > most {
		resp.Text, resp.Finish = firstWords(text, int(float64(most)*wordsPerToken)), model.Length
	}
	for _, m := range r.Messages {
		resp.Usage.Input += tokenCount(m.Content)
	}
	resp.Usage.Output = tokenCount(resp.Text)
	return resp
}

// tokenCount estimates tokens from words, at three words to four tokens.
func tokenCount(text string) int {
	words := 0
	for range strings.FieldsFuncSeq(text, isSpace) {
		words++
	}
	return int(math.Ceil(float64(words) / wordsPerToken))
}

// firstWords cuts a text after its first n words, of which it has more.
func firstWords(text string, n int) string {
	rest := text
	for range n {
		rest = strings.TrimLeftFunc(rest, isSpace)
		rest = rest[strings.IndexFunc(rest, isSpace):]
	}
	return text[:len(text)-len(rest)]
}

func isSpace(r rune) bool { return r == ' ' || r == '\n' || r == '\t' || r == '\r' }

func lastUser(messages []orbench.Message) string {
	return orbench.Prompt{Messages: messages}.Text()
}

// textOf joins what one side says.
func textOf(messages []orbench.Message, role orbench.Role) string {
	text := ""
	for _, m := range messages {
		if m.Role == role {
			text += m.Content + "\n"
		}
	}
	return text
}

func temperature(p model.Params) float64 {
	if p.Temperature == nil {
		return 0
	}
	return *p.Temperature
}

// chance is the model's source of random numbers, which depends on its seed and some texts.
func (m Model) chance(parts ...string) *rand.Rand {
	return source(m.seed, append([]string{m.Name}, parts...)...)
}

// source is a source of random numbers that depends on a seed and some texts.
func source(seed int64, parts ...string) *rand.Rand {
	return rand.New(rand.NewPCG(uint64(seed), hashOf(parts...)))
}

// hashOf mixes texts into 64 bits: FNV-1a with a separator after each, and the
// finalizer of SplitMix64, so that every bit counts.
func hashOf(parts ...string) uint64 {
	h := fnv.New64a()
	for _, p := range parts {
		h.Write([]byte(p))
		h.Write([]byte{0xff})
	}
	return mix(h.Sum64())
}

// mix is the finalizer of SplitMix64 (Steele, Lea and Flood, OOPSLA 2014).
func mix(h uint64) uint64 {
	h = (h ^ h>>30) * 0xbf58476d1ce4e5b9
	h = (h ^ h>>27) * 0x94d049bb133111eb
	return h ^ h>>31
}
