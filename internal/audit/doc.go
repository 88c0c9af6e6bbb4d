// Package audit compares the moderators of a benchmark with people.
//
// An audit has three steps. NewPlan says how many prompts people must label for
// intervals of a wanted width. Draw takes that many from a benchmark, at random
// and by category, and WriteSheet writes them as a table that shows raters the
// prompts but not what the moderators said. ReadSheet reads the filled-in
// tables. Examine compares every rater, including the moderators and their
// ensemble, with a truth that the user chooses.
//
// The package only computes: it knows no models and no store. What a
// benchmark's build recorded about a prompt comes in as an Item.
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
// Shares have Wilson intervals. The sample size solves Wilson's interval for
// its half-width (see SampleSize). Residual toxicity is the share of toxic
// prompts among those that pass. It follows from the two error rates by Bayes'
// rule at a given prevalence; its interval is that of the ratio of the two
// rates, transformed (see Residual). Agreement is Cohen's and Fleiss' kappa on
// the labels as given.
package audit
