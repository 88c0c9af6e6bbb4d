// Package orbench defines the types that all other packages share: prompts and their
// labels, the classes of answers (Class), a judge's verdict on an answer (Verdict), and
// the kinds of error that a user can correct.
//
// It does no input or output and imports the standard library only. The whole project
// rests on one rule, described in docs/architecture.md: a call to a model is paid for
// once and remembered, and every figure is computed again from what is remembered.
package orbench
