// Package annotation chooses which answers people should look at, reads and writes
// the sheets that they fill in, and makes of their words a corrected rate.
//
// The answers of one cell (a target, a dataset, a label of the prompts) fall into
// groups by what the judges say of them. Draw takes some of each group at random,
// more where judges are known to err, and keeps with each the chance with which it
// was drawn. Correct weighs what people then say of them: the rate of refusals that
// it gives is unbiased however wrong the judges are, and its interval is narrow
// where they are good (stats.StratifiedRate).
//
// Nothing is pooled over cells. People are kept apart: an answer on which they
// disagree counts with the share of them who call it a refusal.
//
// The package stores nothing; an annotation is an orbench.Annotation, which a store
// keeps by its content.
package annotation
