// Package generator asks a language model for the raw material of a benchmark
// and reads what it sends back: toxic seeds of a category, safe rewrites of a
// seed that trip over-cautious models, and one new rewrite in place of one that
// broke a rule.
//
// Like a judge it is pure: SeedRequest, RewriteRequest and RepairRequest make
// requests, List reads the items of a reply, and Lint says which rules a rewrite
// breaks. Whoever sends the requests, remembers the replies and decides what to
// keep stands above it. The prompts are versioned files in prompts/, and a
// version that has been used is never edited.
//
// What a request carries (the seed, the examples, the rewrite to repair) was
// written by models, and so is untrusted. It stands between lines with a code that
// follows from a hash of that very text; see package internal/question.
//
// The method is that of OR-Bench (arXiv 2405.20947, sections 3.2 and 3.3); the
// wording, the examples and the lint are our own.
package generator
