// Package progress shows on one line how work goes: the calls of a run, or the
// stages of a build. Nothing of it is part of a result.
package progress
