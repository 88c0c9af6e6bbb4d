// Package replay answers from a file of recorded answers, as a model.Model: what
// another tool asked, or what was asked last year, is judged and counted like an
// answer that was just given.
//
// A file of recorded answers knows a prompt by its text, so system messages and
// the earlier turns of a conversation make no difference to what it answers. All
// answers are held in memory.
package replay
