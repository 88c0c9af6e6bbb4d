// Package orbench holds the nouns that everything else is written in: prompts
// and their labels, what an answer can be (a Class), what a judge says of one (a
// Verdict), and the kinds of error that a user can correct.
//
// It does no input or output and imports the standard library only. The rule
// that the whole project rests on stands in docs/architecture.md: a call to a
// model is paid for once and remembered; every figure is computed again from
// what is remembered.
package orbench
