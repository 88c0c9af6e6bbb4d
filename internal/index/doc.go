// Package index keeps what is derived from a store: the figures of runs, the rows of their
// answers, and which texts have which words. The store alone holds what was paid for, so the
// index may be thrown away at any time, and is.
//
// It is one SQLite file, beside the file of the store, or in the cache under the store's ID.
// It is of one store and one format: a file of another format, of another store, or of a
// later time than the store (which was put back from a copy) is made anew. Marks tell the
// latter: what lies at some rows of the calls, ever further before the last. Nothing is
// migrated.
//
// # When it holds
//
// What is derived of a run holds under the hash of everything that it follows from but the
// calls: the resolved run, the keys of its datasets, the versions of its judges, and the
// build of the program, since any build may derive otherwise. Calls that are there never
// change; so what is derived of a run that lacks none holds as long as its key, and nobody
// looks at its calls. Of a run that lacks some, their hashes are kept: it holds while the
// store has none of them, and the same failures of them. For figures the annotations of the
// store must be the same; rows have nothing of them. Whatever is in doubt is derived, so that
// nothing is ever shown that is older than the store.
//
// # Rows
//
// A row is an answer of one sample of a target to one prompt. Rows are columns of numbers,
// cut into chunks as the walk is; what is said of few values (dataset, label, category,
// status, classes, reasons and so on) is one number, the row's kind. A filter chooses kinds
// and targets, and a page is found by a pass over the column of kinds. Counts of rows by
// sample and kind answer facets. Texts, spans and rationales are not kept: a row that is
// shown is derived again, from its prompt and the calls that its run makes for it.
//
// Words of texts are lists in segments, each of a part of the texts. A text that many rows
// have counts once.
//
// # Who writes, and what fails
//
// One process writes at a time; others read what is there, or derive and keep nothing. Rows
// are written once, under a random number: who reads rows that were made anew since finds
// none (ErrGone). An error of the file never fails a command: it goes on without, and says
// so. Every part has a checksum, and what is damaged is thrown away.
package index
