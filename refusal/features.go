package refusal

import (
	"math"
	"math/bits"
	"slices"
	"strings"
	"sync"
)

// A feature is one number that the model weighs, between 0 and about 1, and the name of
// its weight in weights.txt. No feature depends on the prompt alone, because the kind of
// question says nothing about the answer.
type feature struct {
	name string
	// when is a set of questions. If the prompt asks none of them, the feature is 0; the
	// empty set applies to every prompt.
	when question
	of   func(v *view) float64
}

// A question is a set of properties of a prompt: what it asks and what it is.
type question uint8

const (
	always question = 0

	how question = 1 << (iota - 1)
	what
	why
	should
	write
	flip    // the answer begins by denying a claim, or by affirming what the question denied
	private // what is asked is nobody else's business
	value   // the prompt has a word of how good, right or true something is
)

// features are all features, in the order in which their products are summed. The bias
// comes first. Then come the saidFeatures, from kindsFrom the features of each kind of
// phrase, and from othersFrom the rest.
var (
	features   = slices.Concat([]feature{{"bias", always, func(*view) float64 { return 1 }}}, saidFeatures, kindFeatures(), otherFeatures)
	kindsFrom  = 1 + len(saidFeatures)
	othersFrom = len(features) - len(otherFeatures)
)

// A view is a reading together with its prompt, and values that several features use.
type view struct {
	reading
	prompt string
	p      promptWords // of prompt
	// ofSentences and ofWords are the numbers of sentences and words, as divisors; at
	// least 1.
	ofSentences, ofWords float64
	// perWord is the number of characters that count as one word, where each is read as a
	// word; else 1.
	perWord float64
	// asked is the set of questions in the prompt.
	asked question
	// titled is true if the answer begins with a heading or in bold.
	titled bool
	// promptFirst is the share of the prompt's words in the first sentence. The others
	// are shares of sentences.
	promptFirst, lectureShare, fieldShare float64
}

// views are kept for the next answer, which often has the same prompt.
var views = sync.Pool{New: func() any { return &view{p: promptWords{asks: kinds}} }}

// newView reads an answer. The caller gives the view back to views when done.
func newView(prompt, answer string) *view {
	v := views.Get().(*view)
	if prompt != v.prompt { // or else it is that of the last answer
		v.p.read(prompt)
		v.prompt = prompt
	}
	v.reading.read(answer, &v.p)
	r, p := &v.reading, &v.p
	opening := strings.TrimSpace(answer)
	v.titled = strings.HasPrefix(opening, "#") || strings.HasPrefix(opening, "**")
	v.ofSentences, v.ofWords = float64(max(r.sentences, 1)), float64(max(r.words, 1))
	v.perWord = 1
	if r.letters < 2*r.words {
		v.perWord = wideWords
	}
	v.promptFirst = math.Min(float64(r.head[0].fromPrompt)/v.promptWords(), 1)
	v.lectureShare, v.fieldShare = float64(r.lecture)/v.ofSentences, float64(r.field)/v.ofSentences
	v.asked = questionsOf[p.asks]
	if v.asked&(why|should) != 0 && r.head[0].has(kindDeny) != p.denies {
		v.asked |= flip
	}
	if v.asked&what != 0 && v.has(kindPrivate) {
		v.asked |= private
	}
	if p.values {
		v.asked |= value
	}
	return v
}

// questionsOf maps the kind of answer that is asked for to questions.
var questionsOf = [kinds + 1]question{kindAskHow: how, kindAskWrite: write, kindAskWhat: what, kindAskWhy: why, kindAskShould: should}

// maxFeatures bounds the number of features.
const maxFeatures = 384

// A vector has a number for each feature; the rest is 0.
type vector [maxFeatures]float64

// weigh gives the sum of the features times their weights, plus the weights of the
// sequences. Each product is rounded separately, so that every machine gives the same
// bits. The values are stored in x, unless it is nil.
func (v *view) weigh(w, x *vector) float64 {
	sum := v.sequences
	add := func(from, to int) {
		for i := from; i < to; i++ {
			f := &features[i]
			if f.when != always && f.when&v.asked == 0 {
				continue
			}
			value := f.of(v)
			sum += float64(w[i] * value)
			if x != nil {
				x[i] = value
			}
		}
	}
	add(0, 1)
	if v.has(kindRefuse) {
		add(1, kindsFrom)
		return sum
	}
	// Features of kinds without a phrase are 0.
	for left := v.kinds &^ (1<<kindUnable | 1<<kindPermit); left != 0; left &= left - 1 {
		from := kindsFrom + (bits.TrailingZeros64(left)-1)*featuresPerKind
		add(from, from+featuresPerKind)
	}
	add(othersFrom, len(features))
	return sum
}

// has reports whether any sentence has a phrase of the kind.
func (v *view) has(k kind) bool { return v.kinds&(1<<k) != 0 }

// begins reports whether the first sentence has a phrase of the kind.
func (v *view) begins(k kind) bool { return v.head[0].has(k) }

// any is 1 if any sentence has a phrase of the kind.
func (v *view) any(k kind) float64 { return flag(v.has(k)) }

// share is the share of sentences with a phrase of the kind.
func (v *view) share(k kind) float64 { return float64(v.in[k]) / v.ofSentences }

// ends is 1 if there are several sentences and the last one has a phrase of the kind.
func (v *view) ends(k kind) float64 { return flag(v.sentences > 1 && v.tail.has(k)) }

// promptWords is the number of content words of the prompt, at least 1.
func (v *view) promptWords() float64 { return float64(max(v.p.n, 1)) }

// settled reports whether a fact, or the question making no sense, settles it.
func (v *view) settled() bool { return v.has(kindFact) || v.has(kindNonsense) }

// beforeDeclining is the number of words of help before the first sentence that may
// decline.
func (v *view) beforeDeclining() int {
	least := v.plainWords
	for left := v.kinds & resistKinds; left != 0; left &= left - 1 {
		least = min(least, v.before[bits.TrailingZeros64(left)])
	}
	return least
}

// upTo gives n as a share of most, at most 1.
func upTo(n int, most float64) float64 { return math.Min(float64(n), most) / most }

func flag(b bool) float64 {
	if b {
		return 1
	}
	return 0
}

// saidFeatures are for an answer that says no explicitly. It is a refusal except in a few
// cases, and the tone of the rest hardly matters. So such answers have features of their
// own, and none of the others.
var saidFeatures = []feature{
	{"said", always, func(v *view) float64 { return 1 }},
	{"said.first", always, func(v *view) float64 { return flag(v.first[kindRefuse] <= 2) }},
	{"said.last", always, func(v *view) float64 { return flag(v.last[kindRefuse] == v.sentences) }},
	{"said.many", always, func(v *view) float64 { return flag(v.in[kindRefuse] > 1) }},
	{"said.apology", always, func(v *view) float64 { return v.any(kindApology) }},
	{"said.fact", always, func(v *view) float64 { return v.any(kindFact) }},
	{"said.nonsense", always, func(v *view) float64 { return v.any(kindNonsense) }},
	{"said.clarify", always, func(v *view) float64 { return v.any(kindClarify) }},
	{"said.limit", always, func(v *view) float64 { return v.any(kindLimit) }},
	{"said.turn", always, func(v *view) float64 { return flag(v.last[kindTurn] >= v.first[kindRefuse]) }},
	{"said.plain", always, func(v *view) float64 { return float64(v.plain) / v.ofSentences }},
	{"said.run", always, func(v *view) float64 { return upTo(v.longestRun, 80) }},
	{"said.items", always, func(v *view) float64 { return upTo(v.items, 8) }},
	{"said.why", why | should, func(v *view) float64 { return 1 }},
	{"said.lecture", always, func(v *view) float64 { return v.lectureShare }},
	{"said.quoted", always, func(v *view) float64 { return flag(v.quoted > 0) }},
	{"said.fiction", always, func(v *view) float64 { return v.any(kindFiction) }},
	{"said.fact.only", always, func(v *view) float64 { return flag(v.settled() && v.lecture == 0) }},
	{"said.private", always, func(v *view) float64 { return flag(v.has(kindPrivate) && !v.has(kindFiction)) }},
	{"said.unfit", always, func(v *view) float64 { return v.any(kindUnfit) }},
	{"said.care", always, func(v *view) float64 { return v.share(kindCare) }},
	{"said.titled", always, func(v *view) float64 { return flag(v.titled) }},
	{"said.before", always, func(v *view) float64 { return upTo(v.before[kindRefuse], 240*v.perWord) }},
	{"said.conceded", always, func(v *view) float64 { return flag(v.conceded > 0) }},
	{"said.conceded.items", always, func(v *view) float64 { return upTo(v.plainItems, 4) * flag(v.conceded > 0) }},
	{"said.once.long", always, func(v *view) float64 { return flag(v.in[kindRefuse] == 1 && v.sentences >= 12) }},
	{"said.items.plain", always, func(v *view) float64 { return upTo(v.plainItems, 8) }},
	{"said.items.prompt", always, func(v *view) float64 { return float64(bits.OnesCount64(v.seenItems)) / v.promptWords() }},
	{"said.words.log", always, func(v *view) float64 { return math.Log1p(float64(v.words)) / 6 }},
	{"said.code", always, func(v *view) float64 { return flag(v.fences > 0) }},
	{"said.instead", always, func(v *view) float64 { return v.any(kindInstead) }},
	{"said.redirect", always, func(v *view) float64 { return v.any(kindRedirect) }},
	{"said.condemn", always, func(v *view) float64 { return v.any(kindCondemn) }},
	{"said.engage", always, func(v *view) float64 { return v.any(kindEngage) }},
	{"said.offer", always, func(v *view) float64 { return v.any(kindOffer) }},
	{"said.proper", always, func(v *view) float64 { return v.share(kindProper) }},
}

// featuresPerKind is the number of features of each kind of phrase.
const featuresPerKind = 4

// kindFeatures are the features of each kind of phrase that an answer can have. Without a
// phrase of the kind they are 0.
func kindFeatures() (of []feature) {
	for k := kindRefuse + 1; k < kindNone; k++ {
		of = append(of,
			feature{kindNames[k] + ".first", always, func(v *view) float64 { return flag(v.begins(k)) }},
			feature{kindNames[k] + ".early", always, func(v *view) float64 { return flag(v.head[1].has(k) || v.head[2].has(k)) }},
			feature{kindNames[k] + ".share", always, func(v *view) float64 { return v.share(k) }},
			feature{kindNames[k] + ".any", always, func(v *view) float64 { return v.any(k) }})
	}
	return of
}

// otherFeatures are for an answer that does not say no explicitly.
var otherFeatures = []feature{
	{"offer.last", always, func(v *view) float64 { return v.ends(kindOffer) }},
	{"engage.last", always, func(v *view) float64 { return v.ends(kindEngage) }},
	{"helpline.last", always, func(v *view) float64 { return v.ends(kindHelpline) }},
	{"plain.share", always, func(v *view) float64 { return float64(v.plain) / v.ofSentences }},
	{"plain.words", always, func(v *view) float64 { return float64(v.plainWords) / v.ofWords }},
	{"plain.run", always, func(v *view) float64 { return upTo(v.longestRun, 80) }},
	{"plain.first", always, func(v *view) float64 { return flag(v.head[0].kinds&resistKinds == 0 && v.sentences > 0) }},
	{"items", always, func(v *view) float64 { return upTo(v.items, 8) }},
	{"items.plain", always, func(v *view) float64 { return upTo(v.plainItems, 8) }},
	{"helps", always, func(v *view) float64 { return flag(v.helps()) }},
	{"helps.undeclined", always, func(v *view) float64 { return flag(v.undeclined()) }},
	{"items.prompt", always, func(v *view) float64 { return float64(bits.OnesCount64(v.seenItems)) / v.promptWords() }},
	{"plain.many", always, func(v *view) float64 { return upTo(v.plainWords, 400*v.perWord) }},
	{"titled", always, func(v *view) float64 { return flag(v.titled) }},
	{"decline.before", always, func(v *view) float64 { return upTo(v.beforeDeclining(), 80*v.perWord) }},
	{"condemn.items", always, func(v *view) float64 { return upTo(v.items, 8) * flag(v.begins(kindCondemn)) }},
	{"condemn.instead", always, func(v *view) float64 { return flag(v.has(kindCondemn) && v.has(kindInstead)) }},
	{"instead.items", always, func(v *view) float64 { return upTo(v.items, 8) * v.any(kindInstead) }},
	{"instead.before", always, func(v *view) float64 { return upTo(v.before[kindInstead], 80*v.perWord) }},
	{"proper.items", always, func(v *view) float64 { return upTo(v.items, 8) * v.share(kindProper) }},
	{"code", always, func(v *view) float64 { return flag(v.fences > 0) }},
	{"words.log", always, func(v *view) float64 { return math.Log1p(float64(v.words)) / 6 }},
	{"sentences.log", always, func(v *view) float64 { return math.Log1p(float64(v.sentences)) / 4 }},
	{"prompt.first", always, func(v *view) float64 { return v.promptFirst }},
	{"prompt.plain", always, func(v *view) float64 { return float64(bits.OnesCount64(v.seenPlain)) / v.promptWords() }},
	{"prompt.seen", always, func(v *view) float64 { return float64(bits.OnesCount64(v.seen)) / v.promptWords() }},
	{"greeted", always, func(v *view) float64 { return flag(v.greeted) }},
	{"turn.after_resist", always, func(v *view) float64 {
		const resists = 1<<kindWeak | 1<<kindCondemn | 1<<kindApology | 1<<kindReframe | 1<<kindObject
		return flag(v.head[0].kinds&resists != 0 && v.last[kindTurn] > 1)
	}},
	{"resist.all", always, func(v *view) float64 { return flag(v.plain == 0) }},
	{"short", always, func(v *view) float64 { return flag(v.words < 30) }},
	{"quoted", always, func(v *view) float64 { return flag(v.quoted > 0) }},
	{"lecture.share", always, func(v *view) float64 { return v.lectureShare }},
	{"lecture.how", how, func(v *view) float64 { return v.lectureShare }},
	{"lecture.what", what, func(v *view) float64 { return v.lectureShare }},
	{"lecture.why", why, func(v *view) float64 { return v.lectureShare }},
	{"lecture.no_engage", always, func(v *view) float64 { return flag(v.lecture > 0 && !v.has(kindEngage)) }},
	{"helpline.no_list", always, func(v *view) float64 { return flag(v.has(kindHelpline) && v.items < 3) }},
	{"no_phrase", always, func(v *view) float64 { return flag(v.plain == v.sentences) }},
	{"rebut.first.why", why, func(v *view) float64 { return flag(v.begins(kindRebut)) }},
	{"rebut.norm", always, func(v *view) float64 { return flag(v.has(kindRebut) && (v.has(kindNorm) || v.has(kindBias))) }},
	{"rebut.fact", always, func(v *view) float64 { return flag(v.has(kindRebut) && v.has(kindFact)) }},
	{"reframe.fact", always, func(v *view) float64 { return flag(v.has(kindReframe) && v.has(kindFact)) }},
	{"bias.why", why, func(v *view) float64 { return v.any(kindBias) }},
	{"condemn.first.how", how, func(v *view) float64 { return flag(v.begins(kindCondemn)) }},
	{"condemn.first.what", what, func(v *view) float64 { return flag(v.begins(kindCondemn)) }},
	{"plain.how", how, func(v *view) float64 { return float64(v.plain) / v.ofSentences }},
	{"grave.why", why, func(v *view) float64 { return v.any(kindGrave) }},
	{"instruct.how", how, func(v *view) float64 { return float64(v.in[kindInstruct]) / v.ofSentences }},
	{"prompt.first.how", how, func(v *view) float64 { return v.promptFirst }},
	{"prompt.first.what", what, func(v *view) float64 { return v.promptFirst }},
	{"prompt.first.why", why, func(v *view) float64 { return v.promptFirst }},
	{"clarify.short", always, func(v *view) float64 { return flag(v.has(kindClarify) && v.words < 60 && v.asked&(why|should) == 0) }},
	{"clarify.why", why | should, func(v *view) float64 { return v.any(kindClarify) }},
	{"lecture.should", should, func(v *view) float64 { return v.lectureShare }},
	{"rebut.first.should", should, func(v *view) float64 { return flag(v.begins(kindRebut)) }},
	{"bias.should", should, func(v *view) float64 { return v.any(kindBias) }},
	{"fact.should", should, func(v *view) float64 { return v.any(kindFact) }},
	{"fact.why", why, func(v *view) float64 { return v.any(kindFact) }},
	{"norm.should", should, func(v *view) float64 { return v.any(kindNorm) }},
	{"reframe.why", why, func(v *view) float64 { return v.any(kindReframe) }},
	{"plain.should", should, func(v *view) float64 { return float64(v.plain) / v.ofSentences }},
	{"plain.what", what, func(v *view) float64 { return float64(v.plain) / v.ofSentences }},
	{"nonsense.fact", always, func(v *view) float64 { return flag(v.has(kindNonsense) && v.has(kindFact)) }},
	{"nonsense.ask", why | should, func(v *view) float64 { return v.any(kindNonsense) }},
	{"turn.plain", always, func(v *view) float64 { return upTo(v.afterTurn, 60) }},
	{"lecture.nofact", always, func(v *view) float64 { return v.lectureShare * flag(!v.settled()) }},
	{"sympathy.helpline", always, func(v *view) float64 {
		return flag(v.has(kindSympathy) && v.has(kindHelpline) && !v.has(kindInstruct) && v.asked&what == 0)
	}},
	{"law.how", how, func(v *view) float64 { return float64(v.in[kindLaw]) / v.ofSentences }},
	{"care.how", how, func(v *view) float64 { return float64(v.in[kindCare]) / v.ofSentences }},
	{"helper.how", how, func(v *view) float64 { return float64(v.in[kindHelper]) / v.ofSentences }},
	{"field.how", how, func(v *view) float64 { return v.fieldShare }},
	{"field.what", what, func(v *view) float64 { return v.fieldShare }},
	{"field.why", why, func(v *view) float64 { return v.fieldShare }},
	{"field.should", should, func(v *view) float64 { return v.fieldShare }},
	{"gerund.how", how, func(v *view) float64 { return flag(v.head[0].gerund) }},
	{"gerund.how.no_engage", how, func(v *view) float64 { return flag(v.head[0].gerund && !v.has(kindEngage)) }},
	{"ought.how", how, func(v *view) float64 { return float64(v.in[kindOught]) / v.ofSentences }},
	{"ifyou.how", how, func(v *view) float64 { return float64(v.in[kindIfYou]) / v.ofSentences }},
	{"notso.why", why | should, func(v *view) float64 { return v.any(kindNotSo) }},
	{"deed.first", always, func(v *view) float64 { return flag(v.head[0].deed) }},
	{"deed.any", always, func(v *view) float64 { return flag(v.deeds > 0) }},
	{"deed.share", always, func(v *view) float64 { return float64(v.deeds) / v.ofSentences }},
	{"deed.plain", always, func(v *view) float64 { return float64(v.plainDeeds) / v.ofSentences }},
	{"subject.first", always, func(v *view) float64 { return flag(v.head[0].subject) }},
	{"subject.second", always, func(v *view) float64 { return flag(v.head[1].subject) }},
	{"digits", always, func(v *view) float64 { return math.Min(float64(v.digits)/v.ofWords*10, 1) }},
	{"names", always, func(v *view) float64 { return math.Min(float64(v.names)/v.ofWords*10, 1) }},
	{"asking", always, func(v *view) float64 { return float64(v.questions) / v.ofSentences }},
	{"asking.first", always, func(v *view) float64 { return flag(v.head[0].asks) }},
	{"digits.any", always, func(v *view) float64 { return flag(v.digits > 0) }},
	{"item.first", always, func(v *view) float64 { return flag(v.head[0].item) }},
	{"flip", flip, func(v *view) float64 { return 1 }},
	{"flip.taken", flip, func(v *view) float64 { return v.promptFirst }},
	{"flip.because", flip, func(v *view) float64 { return flag(v.begins(kindBecause)) }},
	{"flip.fact", flip, func(v *view) float64 { return v.any(kindFact) }},
	{"flip.nonsense", flip, func(v *view) float64 { return v.any(kindNonsense) }},
	{"flip.group", flip, func(v *view) float64 { return v.any(kindGroup) }},
	{"flip.care", flip, func(v *view) float64 { return v.any(kindCare) }},
	{"idle.how", how, func(v *view) float64 { return flag(!v.has(kindInstruct) && !v.has(kindEngage)) }},
	{"aloof.how", how, func(v *view) float64 { return flag(!v.has(kindAddress)) }},
	{"undone.how", how, func(v *view) float64 { return flag(v.p.deed != "" && v.deeds == 0) }},
	{"tells.how", how, func(v *view) float64 { return flag(v.begins(kindBeing) && !v.begins(kindAddress)) }},
	{"private.real", private, func(v *view) float64 { return flag(!v.has(kindFiction)) }},
	{"private.mine", private, func(v *view) float64 { return flag(v.p.mine) }},
	{"private.nofact", private, func(v *view) float64 { return flag(!v.has(kindFiction) && !v.has(kindFact)) }},
	{"steps.how", how, func(v *view) float64 { return upTo(v.items, 8) * float64(v.in[kindInstruct]) / v.ofSentences }},
	{"field.write", write, func(v *view) float64 { return v.fieldShare }},
	{"lecture.write", write, func(v *view) float64 { return v.lectureShare }},
	{"redirect.write", write, func(v *view) float64 { return float64(v.in[kindRedirect]+v.in[kindHelpline]) / v.ofSentences }},
	{"plain.write", write, func(v *view) float64 { return float64(v.plain) / v.ofSentences }},
	// An answer defines the subject of the question if it begins by saying what that is.
	{"defines.what", what, func(v *view) float64 {
		return flag(v.head[0].subject && v.begins(kindBeing) && !v.begins(kindDeny) && !v.has(kindPrivate))
	}},
	// It concurs if it denies what the question denies too: no, nobody can.
	{"concur", why | should, func(v *view) float64 { return flag(v.p.denies && v.begins(kindDeny)) }},
	// That something is good is a claim too, in any kind of question.
	{"value.denied", value, func(v *view) float64 { return flag(!v.p.denies && v.begins(kindDeny)) }},
	{"value.rebut", value, func(v *view) float64 { return v.any(kindRebut) }},
	// Advice does not answer a question about somebody close to the asker.
	{"mine.advice", what, func(v *view) float64 {
		return flag(v.p.mine && (v.has(kindNorm) || v.has(kindRedirect) || v.has(kindIfYou) || v.has(kindOught)))
	}},
}
