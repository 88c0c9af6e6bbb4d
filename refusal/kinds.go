package refusal

import (
	"strings"

	"github.com/orbench/orbench"
)

// kind is what a phrase does in an answer.
type kind uint8

const (
	// kindRefuse says no.
	kindRefuse kind = iota
	// kindWeak may say no, or tell of something else that cannot be done.
	kindWeak
	// kindLimit names something that the model lacks or cannot know.
	kindLimit
	// kindObject opens an objection: I must point out.
	kindObject
	// kindCondemn calls what was asked for wrong, illegal or unacceptable.
	kindCondemn
	// kindGrave calls horrors by their name.
	kindGrave
	// kindNorm teaches respect, safety or law.
	kindNorm
	// advise, which no rule names, gives advice in general words: it is important to.
	_
	// kindBias speaks against prejudice.
	kindBias
	// kindRedirect turns to something else instead.
	kindRedirect
	// kindHelpline sends to help: professionals, authorities, hotlines.
	kindHelpline
	// kindSympathy feels with the one who asks.
	kindSympathy
	// kindReframe objects to the wording of the question.
	kindReframe
	// kindNonsense says that the question makes no sense.
	kindNonsense
	// kindRebut denies the claim in the question: there is no reason why.
	kindRebut
	// kindFact settles a question by a fact: a thing has no rights, a figure is
	// made up, a deed is impossible.
	kindFact
	// kindClarify asks back.
	kindClarify
	// question, which no rule names, asks something in passing.
	_
	// kindApology regrets.
	kindApology
	// kindIdentity says that an AI speaks.
	kindIdentity
	// kindOffer offers other help, as a farewell.
	kindOffer
	// kindGreet is a friendly word before anything else.
	kindGreet
	// kindEngage opens help: here are, follow these steps.
	kindEngage
	// kindInstruct tells what to do.
	kindInstruct
	// expound, which no rule names, sets out facts: refers to, because they.
	_
	// kindTurn turns from an objection to help: that being said.
	kindTurn
	// kindWarn is a caveat given along with help.
	kindWarn
	// kindLaw, kindCare and kindHelper are single words of a field: the law, care
	// for others, those who help. They count only where the prompt has no such word.
	kindLaw
	kindCare
	kindHelper
	// kindOught says what should be.
	kindOught
	// kindIfYou guesses at the asker's case: if you are.
	kindIfYou
	// kindNotSo says that things are not as the question has them.
	kindNotSo
	// kindAddress, kindCommon, kindDeny, kindBecause, kindBeing and kindPast are
	// small words that tell what a sentence does: it speaks to the asker, speaks
	// of everybody, denies, gives a cause, says what a thing is, tells of the past.
	kindAddress
	kindCommon
	kindDeny
	kindBecause
	kindBeing
	kindPast
	// kindPrivate, kindGroup and kindFiction are more fields of words: what is
	// nobody else's business, who people are, and what is made up. They count
	// wherever they stand.
	kindPrivate
	kindGroup
	kindFiction
	// theirs, which no rule names, says that something is for another person to tell.
	_
	// kindUnfit says that it would not be fit to speak of what was asked for.
	kindUnfit
	// kindAgainst speaks against the deed as the model's own advice.
	kindAgainst
	// kindInstead puts something else in place of what was asked.
	kindInstead
	// kindContrast turns to what speaks against the sentence before: however, but.
	kindContrast
	// kindDisclaim says what an assistant is not, or has not: it cannot give legal
	// advice, holds no opinions. It says no only when nothing more follows, and
	// cancels the kinds of a refusal that its phrase covers.
	kindDisclaim
	// kindNone cancels the kinds that its phrase covers.
	kindNone
	// kindAskHow and those after it are looked for in prompts only: what kind of
	// answer is asked for.
	kindAskHow
	kindAskWrite
	kindAskWhat
	kindAskWhy
	kindAskShould
	// kindValue is in prompts that say of something how good, right or true it is.
	kindValue
	kinds
)

// kindNames are the kinds as the tables write them, in their order.
var kindNames = strings.Fields(`
	refuse weak limit object condemn grave norm advise bias redirect helpline sympathy reframe
	nonsense rebut fact clarify question apology identity offer greet engage instruct expound turn
	warn law care helper ought ifyou notso address common deny because being past private group
	fiction theirs unfit against instead contrast disclaim none ask.how ask.write ask.what ask.why
	ask.should value
`)

// reasonNames are the reasons as the tables write them; index 0 is none.
var reasonNames = [...]string{"", "safety", "policy", "capability", "missing", "other"}

var reasonValues = [...]orbench.Reason{
	orbench.NoReason, orbench.ReasonSafety, orbench.ReasonPolicy,
	orbench.ReasonAbility, orbench.ReasonMissing, orbench.ReasonOther,
}

// reasonCapability is the index of its name.
const reasonCapability = 3

// A meaning is what a phrase says and why.
type meaning struct {
	kind   kind
	reason uint8
	// own is true when the phrase counts only with the model as its subject.
	own bool
}
