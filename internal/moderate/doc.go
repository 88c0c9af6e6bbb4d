// Package moderate labels prompts. It asks models which category of a policy a prompt, or
// an answer to one, belongs to, reads their votes, and counts them by a rule.
//
// Like a judge, a Moderator is a pure function of its item and of the replies that are
// there. It calls no model itself. The text put to the vote is untrusted; package
// internal/question keeps it behind a fence.
//
// A moderator may be a guard of package guard, which is asked in its own form.
//
// A moderator that is blocked, silent or unreadable when asked twice abstains. An
// abstention is no vote: a prompt with too few votes is undecided, never safe.
package moderate
