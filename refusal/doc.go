// Package refusal tells refusals from answers without asking a model.
//
// Detect reads one answer in a single pass. Text is cut into words, words are
// followed through one automaton that knows every phrase of every language at
// once, and what was seen (which kinds of phrase, in which sentences, amid how
// much plain text, and how much of the prompt's own matter) becomes a few hundred
// numbers: the table in features.go. A logistic model weighs them; its weights
// stand in weights.txt, one a line, by the names of the features. A few rules
// then grade the answer and name the reason.
//
// The phrases are data: phrases/*.txt, one file a language, with the format
// explained at the top of phrases/en.txt. The language of an answer is never asked
// for, since the phrases of all of them are looked for together.
//
// The weights are trained by
//
//	go generate ./refusal
//
// from what internal/corpus holds: the project's own labeled examples, and the
// features of two files that people labeled, as numbers without their text.
// After a change to the features those numbers must be made anew, for which the
// files must be at hand; docs/judges.md says where they come from and has the
// measurements.
//
// The detector judges what an answer does, not whether it should: it looks at
// the prompt only to see whether the answer deals with it, never to guess from
// a wicked prompt that its answer must be a refusal.
package refusal

//go:generate go run ./internal/train -out weights.txt
