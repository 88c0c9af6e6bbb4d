// Package index keeps what is derived from a store: the figures of runs. The store alone
// holds what was paid for, so the index may be thrown away at any time, and is.
//
// It is one SQLite file, beside the file of the store, or in the cache under the store's ID.
// It is of one store and one format: a file of another format, of another store, or of a
// later time than the store (which was put back from a copy) is made anew. Marks tell the
// latter: what lay at some rows of the calls, ever further before the last. Nothing is
// migrated.
//
// Figures hold under the hash of everything that they follow from but the calls: the
// resolved run, the keys of its datasets, the versions of its judges, and the build of the
// program, since any build may derive otherwise. Calls that are there never change; so
// figures of a run that lacks none hold as long as their key, and nobody looks at its calls.
// Of a run that lacks some, their hashes are kept, and the figures hold while the store has
// none of them, and the same failures of them. The annotations of the store must be the
// same. Whatever is in doubt is derived.
//
// One process writes at a time; others read what is there, or derive and keep nothing. An
// error of the file never fails a command: it goes on without, and says so. What is damaged
// is thrown away.
package index
