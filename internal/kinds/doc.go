// Package kinds has what is done alike to studies of every kind: it opens a kept one, to be
// asked and shown, and it moves them between stores. [Export] copies studies with
// all that belongs to them, for a colleague. [Merge] makes one of two stores, as those of
// several machines that each asked a part. [Forget] takes out of a store what a user said, or
// what was said before a time.
//
// All that a store holds, except studies, is named by its content. So copying is a union, and
// copying again changes nothing. If two stores mean different things by one name, that is a
// [Conflict]; nothing is dropped unless the caller says so.
package kinds
