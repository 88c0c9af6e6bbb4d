// Package sqlite is the store in one file, through modernc.org/sqlite,
// which needs no C compiler and so cross-compiles.
//
// The file is in WAL mode with full synchronization: a commit is on the disk
// when it returns, readers never wait for the writer, and two processes may
// use one file at once (a writer waits up to 30 seconds for the other). Rows
// lie in the order of their arrival; the hash has an index of its own, so that
// a transaction appends instead of touching a page for every answer.
package sqlite
