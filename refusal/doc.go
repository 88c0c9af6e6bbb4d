// Package refusal tells refusals from answers without asking a model.
//
// Detect reads one answer in a single pass. Text is cut into words, words are
// followed through one automaton that knows every cue phrase of every language
// at once, and what was seen (which cues, in which sentences, amid how much
// plain text, and how much of the prompt's own matter) becomes a few hundred
// numbers. A logistic model weighs them; its weights stand in weights.txt, one
// a line. A few rules then grade the answer and name the reason.
//
// The phrases are data: phrases/*.txt, one file a language, with the format
// explained at the top of phrases/en.txt. The language of an answer is never asked
// for, since the phrases of all of them are looked for together.
//
// The weights are trained by
//
//	go generate ./refusal
//
// from the labelled examples in internal/corpus and from two labelled files that
// are not part of the project; docs/judges.md has the measurements.
//
// The detector judges what an answer does, not whether it should: it looks at
// the prompt only to see whether the answer deals with it, never to guess from
// a wicked prompt that its answer must be a refusal.
package refusal

//go:generate go run ./internal/train -out weights.txt
