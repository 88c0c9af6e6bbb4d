// Package index keeps what is derived from a store: the figures of runs, the rows of their
// answers, and which texts have which words. Only the store holds what was paid for, so the
// index may be deleted at any time. Orbench itself deletes it too.
//
// It is one SQLite file in a folder of its own in the user's cache, under hashes of the
// store's ID and of its place, so two copies of a store have two. It is never beside the
// store, nor in any other folder that may have come with it: a checksum is no signature, and
// whoever sends a store could send figures too. A file that this program did not make for
// the store is deleted, and made anew: one of another format or another store, one that is a
// link, or one that is newer than its store, because the store was replaced by an older
// copy. Marks show that: the contents of some rows of the calls, ever further before the
// last. No statement is made of what a file holds, and nothing is migrated.
//
// The file place beside it has the place of the store, and the time at which the index was
// last opened. Opening an index deletes others that were not opened for thirty days, and
// those whose store is gone.
//
// # When it holds
//
// What is derived from a run is kept under a key: the hash of everything that it follows
// from, except the calls. These are the resolved run, the keys of its datasets, the
// versions of its judges, and the build of the program, since another build may derive
// other values. Stored calls never change. So if a run lacks no call, what was derived
// holds as long as its key, and its calls are not looked at. If it lacks some, their hashes
// are kept, and what was derived holds while the store has none of them and the same
// failures of them. Figures also need the same annotations in the store; rows do not
// contain annotations. Where only labels of answers have changed, these are counted anew by
// the rows, without texts. Whatever is in doubt is derived again, so nothing older than the
// store is ever shown.
//
// # Rows
//
// A walk that gives figures keeps its rows too, so that a comparison, a draw or a page after it
// reads no answers.
//
// A row is an answer of one sample of a target to one prompt. Rows are stored as columns of
// numbers, in the same chunks as the walk. Fields with few values (dataset, label,
// category, status, classes, reasons and so on) are together one number, the row's kind. A
// filter chooses kinds and samples, and a page is found by a pass over the column of kinds.
// Counts of rows by sample and kind answer facets; see package facet. Texts, spans and rationales are not
// kept: a row that is shown is derived again, from its prompt and the calls that its run
// makes for it. A comparison needs none of them, and reads the rows of both its targets.
//
// The words of texts are kept as lists in segments, each for a part of the texts.
//
// # Who writes, and what fails
//
// One process writes at a time; others read what is there, or derive and keep nothing. Rows
// are written once, under a random number, so a reader of rows that were since made anew
// finds none (ErrGone). An error of the file never fails a command: it goes on without the
// index, and says so. Every part has a checksum, and a damaged file is deleted.
package index
