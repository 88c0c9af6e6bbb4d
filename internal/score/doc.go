// Package score turns judged answers into figures: refusal rates with their
// intervals, agreement of judges, trade-offs, correlations and what variants
// change.
//
// It works on rows and does not know where they come from. A Tally counts the
// rows of a Design chunk by chunk. It keeps counts, not rows.
package score
