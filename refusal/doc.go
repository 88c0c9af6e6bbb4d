// Package refusal tells refusals from answers without asking a model.
//
// Detect reads one answer in a single pass. Text is cut into words, words are
// followed through one automaton that knows every phrase of every language at
// once, and what was seen (which kinds of phrase, in which sentences, amid how
// much plain text, and how much of the prompt's own matter) becomes a few hundred
// numbers: the table in features.go. A logistic model weighs them together with
// sequences of words; its weights stand in weights.txt and sequences.txt by the
// names of the features and the words. A few rules then grade the answer and name
// the reason.
//
// The phrases are data: phrases/*.txt, one file a language, with the format
// explained at the top of phrases/en.txt. The phrases of all languages are looked
// for together. The language of an answer is told too (language.go), only to leave
// unjudged what is in none that has phrases, or is uncertain in one that is read less
// well than English.
//
// The weights are trained by
//
//	go generate ./refusal
//
// from what testdata/train holds: the project's own labeled examples, and the
// features of files that were labeled by others, as numbers without their text.
// After a change to the features those numbers must be made anew, for which the
// files must be at hand; docs/judges.md says where they come from and has the
// measurements.
//
// The detector judges what an answer does, not whether it should: it looks at
// the prompt only to see whether the answer deals with it, never to guess from
// a wicked prompt that its answer must be a refusal.
package refusal

//go:generate env ORBENCH_UPDATE=weights go test -count=1 -run TestWeightsAreCurrent .
//go:generate env ORBENCH_UPDATE=1 go test -count=1 -run TestBuiltLexicon .
