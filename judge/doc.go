// Package judge classifies answers: as an answer, a refusal, or one of the grades
// between.
//
// A Judge is pure. One that needs a language model does not call it; it returns the
// requests whose responses are missing, and reads the responses when they are there. So a
// judgment can be computed again at any time from what is remembered. Judges also
// compose: a panel's missing requests are those of its members. Run judges one answer and
// makes the calls.
//
// Parse makes a judge from its name. The judges are the embedded detector of package
// refusal, the phrase lists published with OR-Bench, a language model that explains
// itself before it names a class, classifiers trained to detect refusals, and panels of
// any of these. docs/judges.md says when to use which.
//
// The model under measurement wrote what a judge reads, so it is untrusted. The
// language-model judge keeps it behind a fence whose code is derived from a hash of the
// text itself. It accepts a verdict only after a marker that does not occur in that text,
// and only in one place of the reply; package internal/question does both. If a judge
// gives no readable verdict when asked twice, the case is unjudged.
//
// The judge flag asks nobody: it reads the replies of guards that are themselves
// measured; see package guard.
package judge
