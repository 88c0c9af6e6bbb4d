// Package transfer copies between stores: runs with all that belongs to them, for a
// colleague, and whole stores into one, as those of several machines that each asked a
// part.
//
// All that a store holds is named by its content, apart from the names of runs, so that
// copying is a union and doing it again changes nothing. Where two stores say different
// things by one name, that is a [Conflict]: nobody's word is dropped unasked.
package transfer
