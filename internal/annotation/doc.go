// Package annotation chooses the answers that people should label, reads and
// writes the sheets that they fill in, and computes a corrected rate from their
// labels.
//
// A cell is a target, a dataset and a label of the prompts. The answers of a
// cell are divided into groups by what the judges say of them. Draw takes some
// answers of each group at random, more from groups where judges are known to
// err, and keeps for each the chance with which it was drawn. Tally weighs
// people's labels by these chances. The resulting rate of refusals is unbiased
// however wrong the judges are, and its interval is narrow if they are good
// (stats.StratifiedRate).
//
// Nothing is pooled over cells. People are kept apart: an answer on which they
// disagree counts with the share of those who call it a refusal.
//
// The package stores nothing. An annotation is an orbench.Annotation, which a
// store keeps by its content.
package annotation
