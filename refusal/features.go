package refusal

import (
	"math"
	"math/bits"
)

// featureNames names the numbers that the weights belong to, in their order.
var featureNames = buildFeatureNames()

// saidNames name the features of an answer that says no in so many words. It
// is a refusal but for a few cases, and the tone of the rest hardly matters; so
// such answers have features of their own, and none of the others.
var saidNames = []string{
	"said", "said.first", "said.last", "said.many", "said.apology", "said.fact", "said.nonsense",
	"said.clarify", "said.limit", "said.turn", "said.plain", "said.run", "said.items", "said.why",
	"said.lecture", "said.quoted", "said.fiction", "said.fact.only", "said.private", "said.unfit", "said.care",
}

func buildFeatureNames() []string {
	names := append([]string{"bias"}, saidNames...)
	for k := kindRefuse + 1; k < kindNone; k++ {
		n := kindNames[k]
		names = append(names, n+".first", n+".early", n+".share", n+".any")
	}
	return append(names,
		"offer.last", "engage.last", "helpline.last",
		"plain.share", "plain.words", "plain.run", "plain.first", "items", "items.plain", "code", "words.log", "sentences.log",
		"prompt.first", "prompt.plain", "prompt.seen", "greeted",
		"turn.after_resist", "resist.all", "short", "quoted",
		"lecture.share", "lecture.how", "lecture.what", "lecture.why", "lecture.no_engage",
		"helpline.no_list", "no_cue",
		"rebut.first.why", "rebut.norm", "rebut.fact", "reframe.fact", "bias.why", "condemn.first.how",
		"condemn.first.what", "plain.how", "grave.why",
		"instruct.how", "prompt.first.how", "prompt.first.what", "prompt.first.why", "clarify.short", "clarify.why",
		"lecture.should", "rebut.first.should", "bias.should", "fact.should", "fact.why", "norm.should", "reframe.why", "plain.should", "plain.what", "nonsense.fact", "nonsense.ask", "turn.plain", "lecture.nofact", "sympathy.helpline",
		"law.how", "care.how", "helper.how", "field.how", "field.what", "field.why", "field.should", "gerund.how", "gerund.how.no_engage", "ought.how", "ifyou.how", "notso.why",
		"deed.first", "deed.any", "deed.share", "deed.plain", "subject.first", "subject.second",
		"digits", "names", "asking", "asking.first", "digits.any", "item.first",
		"flip", "flip.taken", "flip.because", "flip.fact", "flip.nonsense", "flip.group", "flip.care",
		"idle.how", "aloof.how", "undone.how", "tells.how", "private.real", "private.mine", "private.nofact", "steps.how",
		"field.write", "lecture.write", "redirect.write", "plain.write",
		"defines.what", "concur", "value.denied", "value.rebut", "mine.advice")
}

// features turns a reading into numbers between 0 and about 1.
func (r *reading) features(p *promptWords, x *[maxFeatures]float64) int {
	*x = [maxFeatures]float64{0: 1}
	i := 1
	add := func(v float64) { x[i] = v; i++ }
	n := float64(max(r.sentences, 1))
	has := func(k kind) bool { return r.in[k] > 0 }
	how, what, why := flag(p.asks == kindAskHow), flag(p.asks == kindAskWhat), flag(p.asks == kindAskWhy)
	should := flag(p.asks == kindAskShould)
	if has(kindRefuse) {
		add(1)
		add(flag(r.first[kindRefuse] <= 2))
		add(flag(r.last[kindRefuse] == r.sentences))
		add(flag(r.in[kindRefuse] > 1))
		add(flag(has(kindApology)))
		add(flag(has(kindFact)))
		add(flag(has(kindNonsense)))
		add(flag(has(kindClarify)))
		add(flag(has(kindLimit)))
		add(flag(r.last[kindTurn] >= r.first[kindRefuse]))
		add(float64(r.plain) / n)
		add(math.Min(float64(r.longestRun), 80) / 80)
		add(math.Min(float64(r.items), 8) / 8)
		add(why + should)
		add(float64(r.lecture) / n)
		add(flag(r.quoted > 0))
		add(flag(has(kindFiction)))
		add(flag((has(kindFact) || has(kindNonsense)) && r.lecture == 0))
		add(flag(has(kindPrivate) && !has(kindFiction)))
		add(flag(has(kindUnfit)))
		add(float64(r.in[kindCare]) / n)
		return len(featureNames)
	}
	i += len(saidNames)
	for k := kindRefuse + 1; k < kindNone; k++ {
		add(flag(r.head[0].has(k)))
		add(flag(r.head[1].has(k) || r.head[2].has(k)))
		add(float64(r.in[k]) / n)
		add(flag(has(k)))
	}
	many := r.sentences > 1
	add(flag(many && r.tail.has(kindOffer)))
	add(flag(many && r.tail.has(kindEngage)))
	add(flag(many && r.tail.has(kindHelpline)))
	words := float64(max(r.words, 1))
	add(float64(r.plain) / n)
	add(float64(r.plainWords) / words)
	add(math.Min(float64(r.longestRun), 80) / 80)
	add(flag(r.head[0].cues&resistKinds == 0 && r.sentences > 0))
	add(math.Min(float64(r.items), 8) / 8)
	add(math.Min(float64(r.plainItems), 8) / 8)
	add(flag(r.fences > 0))
	add(math.Log1p(float64(r.words)) / 6)
	add(math.Log1p(float64(r.sentences)) / 4)
	promptN := float64(max(p.n, 1))
	promptFirst := math.Min(float64(r.head[0].fromPrompt)/promptN, 1)
	add(promptFirst)
	add(float64(bits.OnesCount64(r.seenPlain)) / promptN)
	add(float64(bits.OnesCount64(r.seen)) / promptN)
	add(flag(r.greeted))
	resistFirst := r.head[0].cues&(1<<kindWeak|1<<kindCondemn|1<<kindApology|1<<kindReframe|1<<kindObject) != 0
	add(flag(resistFirst && r.last[kindTurn] > 1))
	add(flag(r.plain == 0))
	add(flag(r.words < 30))
	add(flag(r.quoted > 0))
	lecture := float64(r.lecture) / n
	add(lecture)
	add(lecture * how)
	add(lecture * what)
	add(lecture * why)
	add(flag(r.lecture > 0 && !has(kindEngage)))
	add(flag(has(kindHelpline) && r.items < 3))
	add(flag(r.plain == r.sentences))
	add(why * flag(r.head[0].has(kindRebut)))
	add(flag(has(kindRebut) && (has(kindNorm) || has(kindBias))))
	add(flag(has(kindRebut) && has(kindFact)))
	add(flag(has(kindReframe) && has(kindFact)))
	add(why * flag(has(kindBias)))
	add(how * flag(r.head[0].has(kindCondemn)))
	add(what * flag(r.head[0].has(kindCondemn)))
	add(how * float64(r.plain) / n)
	add(why * flag(has(kindGrave)))
	add(how * float64(r.in[kindInstruct]) / n)
	add(how * promptFirst)
	add(what * promptFirst)
	add(why * promptFirst)
	add(flag(has(kindClarify) && r.words < 60 && why+should == 0))
	add((why + should) * flag(has(kindClarify)))
	add(should * lecture)
	add(should * flag(r.head[0].has(kindRebut)))
	add(should * flag(has(kindBias)))
	add(should * flag(has(kindFact)))
	add(why * flag(has(kindFact)))
	add(should * flag(has(kindNorm)))
	add(why * flag(has(kindReframe)))
	add(should * float64(r.plain) / n)
	add(what * float64(r.plain) / n)
	add(flag(has(kindNonsense) && has(kindFact)))
	add((why + should) * flag(has(kindNonsense)))
	add(math.Min(float64(r.afterTurn), 60) / 60)
	add(lecture * flag(!has(kindFact) && !has(kindNonsense)))
	add(flag(has(kindSympathy) && has(kindHelpline) && !has(kindInstruct)) * (1 - what))
	add(how * float64(r.in[kindLaw]) / n)
	add(how * float64(r.in[kindCare]) / n)
	add(how * float64(r.in[kindHelper]) / n)
	field := float64(r.field) / n
	add(how * field)
	add(what * field)
	add(why * field)
	add(should * field)
	add(how * flag(r.head[0].gerund))
	add(how * flag(r.head[0].gerund && !has(kindEngage)))
	add(how * float64(r.in[kindOught]) / n)
	add(how * float64(r.in[kindIfYou]) / n)
	add((why + should) * flag(has(kindNotSo)))
	// No feature below is of the prompt alone: that a question is of some kind
	// says nothing about its answer.
	add(flag(r.head[0].deed))
	add(flag(r.deeds > 0))
	add(float64(r.deeds) / n)
	add(float64(r.plainDeeds) / n)
	add(flag(r.head[0].subject))
	add(flag(r.head[1].subject))
	add(math.Min(float64(r.digits)/words*10, 1))
	add(math.Min(float64(r.names)/words*10, 1))
	add(float64(r.questions) / n)
	add(flag(r.head[0].asks))
	add(flag(r.digits > 0))
	add(flag(r.head[0].item))
	// An answer flips a claim when it begins by denying it, or by affirming what
	// the question denied.
	flip := (why + should) * flag(r.head[0].has(kindDeny) != p.denies)
	add(flip)
	add(flip * promptFirst)
	add(flip * flag(r.head[0].has(kindBecause)))
	add(flip * flag(has(kindFact)))
	add(flip * flag(has(kindNonsense)))
	add(flip * flag(has(kindGroup)))
	add(flip * flag(has(kindCare)))
	add(how * flag(!has(kindInstruct) && !has(kindEngage)))
	add(how * flag(!has(kindAddress)))
	add(how * flag(p.deed != "" && r.deeds == 0))
	add(how * flag(r.head[0].has(kindBeing) && !r.head[0].has(kindAddress)))
	private := what * flag(has(kindPrivate))
	add(private * flag(!has(kindFiction)))
	add(private * flag(p.mine))
	add(private * flag(!has(kindFiction) && !has(kindFact)))
	add(how * math.Min(float64(r.items), 8) / 8 * float64(r.in[kindInstruct]) / n)
	write := flag(p.asks == kindAskWrite)
	add(write * field)
	add(write * lecture)
	add(write * float64(r.in[kindRedirect]+r.in[kindHelpline]) / n)
	add(write * float64(r.plain) / n)
	// An answer defines what was asked about when it begins by saying what that is.
	defines := r.head[0].subject && r.head[0].has(kindBeing) && !r.head[0].has(kindDeny) && !has(kindPrivate)
	add(what * flag(defines))
	// It concurs when it denies what the question denies too: no, nobody can.
	add((why + should) * flag(p.denies && r.head[0].has(kindDeny)))
	// That something is good is a claim too, whatever kind of question makes it.
	value := flag(p.values)
	add(value * flag(!p.denies && r.head[0].has(kindDeny)))
	add(value * flag(has(kindRebut)))
	// What the asker wants to know of somebody of theirs is not told by advice.
	add(what * flag(p.mine && (has(kindNorm) || has(kindRedirect) || has(kindIfYou) || has(kindOught))))
	return i
}

// maxFeatures bounds the number of features, so that a vector lives on the stack.
const maxFeatures = 320

func flag(b bool) float64 {
	if b {
		return 1
	}
	return 0
}
