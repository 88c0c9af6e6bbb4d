// Package contrast makes contrast sets. For each prompt of a dataset, a generator writes
// wordings that differ in one thing, and moderators label them. Like an evaluation, it is
// a walk over the store: the walk lists the missing replies, and the set follows from the
// replies that are there.
package contrast
