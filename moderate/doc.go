// Package moderate decides what a prompt is: it asks models which category of a
// policy a prompt, or an answer to one, belongs to, reads their votes, and counts
// them by a rule.
//
// Like a judge, a Moderator is a pure function of its item and of the replies
// that are there; it calls no model itself. What it puts to the vote is untrusted
// text, which package internal/question keeps behind a fence.
//
// A moderator that is blocked, silent or unreadable when asked twice abstains. An
// abstention is no vote: a prompt short of votes is undecided, and never safe.
package moderate
