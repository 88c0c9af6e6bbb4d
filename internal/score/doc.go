// Package score turns judged answers into figures: refusal rates with their
// intervals, agreement of judges, trade-offs, correlations, what variants change,
// and how judges compare with people.
//
// It knows rows, and nothing of how they were come by. A Tally counts the rows of
// a Design piece by piece, and a RecordedTally those of a file of answers; both
// keep counts and no rows.
package score
