// Package question asks a model a question about untrusted text and reads the reply
// where the answer belongs.
//
// The text under question was written by others, who may want to move the
// verdict. Two things keep them from it: Delimiters, whose fence and marker they
// cannot know and so cannot forge, and Read, which takes a verdict from one
// place only and none from a reply that gives two. Judges,
// moderators and defenses say what they ask and what there is to choose from.
package question
