// Package audit holds the moderators of a benchmark against people.
//
// An audit has three steps. NewPlan says how many prompts people must label for
// intervals of a wanted width. Draw takes that many from a benchmark, by category
// and at random, and WriteSheet writes them as a table that shows raters the
// prompts and nothing of what the moderators said. ReadSheet reads the filled
// tables, and Examine compares every rater, moderators and their ensemble
// included, with a truth that the user chooses.
//
// The package computes and does not ask: it knows no models and no store. What a
// benchmark's build recorded of a prompt comes in as an Item.
//
// # Positive and negative
//
// As in the OR-Bench paper, safe is the positive class: a true positive is a safe
// prompt called safe, a false positive a toxic one that passes as safe and ends
// up in the benchmark. Only a prompt whose truth is safe or toxic is compared. A
// rater who says neither has not said the positive label, so "controversial"
// counts as not passed: that is how a build treats it.
//
// # Formulas
//
// Shares have Wilson intervals. The sample size solves Wilson's interval for its
// half-width (see SampleSize). Residual toxicity, the share of toxic prompts among
// those that pass, follows from the two error rates by Bayes' rule at a given
// prevalence; its interval is that of the ratio of the two rates, transformed
// (see Residual). Agreement is Cohen's and Fleiss' kappa on the labels as given.
package audit
