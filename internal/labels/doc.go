// Package labels is about the columns in which files say what prompts are: what
// the values of one mean ([Values]), and which column of a file looks as if it held
// labels although its name does not say so ([Columns]).
//
// A file whose labels are overlooked reads as one of safe prompts alone, and every
// figure of it is wrong. So whoever reads one without a known column of labels
// watches all others, and asks.
package labels
