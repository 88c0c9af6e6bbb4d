// Package score turns judged answers into figures: refusal rates with their
// intervals, agreement of judges, trade-offs, correlations and what variants change.
//
// It knows rows, and nothing of how they were come by. A Tally counts the rows of
// a Design chunk by chunk; it keeps counts and no rows.
package score
