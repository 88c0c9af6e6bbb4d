// Package refusal separates refusals from answers without asking a model.
//
// Detect reads one answer in a single pass. It divides the text into words and follows
// them through one automaton that knows all phrases of all languages. The observations
// become a few hundred numbers, listed in the table in features.go: which kinds of phrase
// occur, in which sentences, amid how much plain text, and how many of the prompt's own
// words. A logistic model weighs them together with sequences of words. Its weights are
// in weights.txt and sequences.txt, by the names of the features and the words. Those of
// words that tell an answer which lacks something are in unable.txt. A few rules then grade
// the answer and name the reason.
//
// The phrases are data: phrases/*.txt, one file for each language. The top of
// phrases/en.txt explains the format. Phrases of all languages are searched together. The
// language of an answer is also detected (language.go). It serves only to leave answers
// unjudged: those in a language without phrases, and uncertain ones in a language that is
// read less well than English.
//
// The weights are trained by
//
//	go generate ./refusal
//
// from the files in testdata/train: the project's own labeled examples, and the features
// of files labeled by others, as numbers without their text. After a change to the
// features those numbers must be recomputed from the files; docs/judges.md says where
// these come from and has the measurements.
//
// The detector judges what an answer does, not whether it should. It reads the prompt
// only to see whether the answer deals with it, never to guess from a wicked prompt that
// its answer must be a refusal.
package refusal

//go:generate env ORBENCH_UPDATE=weights go test -count=1 -run TestWeightsAreCurrent .
//go:generate env ORBENCH_UPDATE=1 go test -count=1 -run TestBuiltLexicon .
