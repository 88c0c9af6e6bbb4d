// Package transfer copies between stores: runs with all that belongs to them, for a
// colleague, and whole stores into one, as those of several machines that each asked a
// part.
// [Forget] takes out of a store what a user said, or what was said before a time.
//
// All that a store holds, except runs, is named by its content. So copying is a union, and
// copying again changes nothing. If two stores mean different things by one name, that is a
// [Conflict]; nothing is dropped unless the caller says so.
package transfer
