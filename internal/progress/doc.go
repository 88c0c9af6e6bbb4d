// Package progress shows the progress of work on one line: the calls of a run,
// or the stages of a build. Nothing in it is part of a result.
package progress
