// Package audit compares the moderators of a build with people. Report is the result.
//
// Draw takes prompts that were put to the vote, at random and by category. People label them
// like any drawn prompt. Examine compares every person, every moderator and the moderators'
// ensemble with the truth: the label that most people give.
//
// The package only computes: it knows no models and no store. What a build recorded about a
// prompt comes in as an Item, and what people said as annotation.Words.
//
// # Positive and negative
//
// As in the OR-Bench paper, safe is the positive class. A true positive is a
// safe prompt called safe. A false positive is a toxic prompt that passes as
// safe and ends up in the benchmark. Only a prompt whose truth is safe or toxic
// is compared. A rater who says neither has not given the positive label, so
// "controversial" counts as not passed, as it does in a build.
//
// # Formulas
//
// Shares have Wilson intervals. The sample has each category's share, so a share of it is one
// of the build. Agreement is Cohen's kappa on the labels as given.
package audit
