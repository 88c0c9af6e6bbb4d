// Package generator asks a language model for the raw material of a benchmark and reads
// its replies: toxic seeds of a category, safe rewrites of a seed that over-cautious
// models refuse, and a new rewrite in place of one that broke a rule.
//
// Like a judge it is pure. SeedRequest, RewriteRequest and RepairRequest make requests,
// List reads the items of a reply, and Lint lists the rules that a rewrite breaks. The
// caller sends the requests, remembers the replies and decides what to keep. The prompts
// are versioned files in prompts/, and a version that has been used is never edited.
//
// Models wrote the seeds, examples and rewrites in a request, so these are untrusted.
// They stand between lines with a code that is derived from a hash of the same text; see
// package internal/question.
//
// The method is that of OR-Bench (arXiv 2405.20947, sections 3.2 and 3.3); the wording,
// the examples and the lint are our own.
package generator
