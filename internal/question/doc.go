// Package question asks a model a question about untrusted text and reads the reply from
// the place where the answer belongs.
//
// The text was written by others, who may want to influence the verdict. Two things
// prevent that. The authors cannot know, and so cannot forge, the fence and the marker of
// Delimiters. And Read accepts a verdict only from one place, and none from a reply that
// gives two. Judges, moderators and defenses define the question and the choices.
package question
