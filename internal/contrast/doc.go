// Package contrast makes contrast sets: of each prompt of a dataset, wordings that
// differ in one thing, as a generator writes them and moderators label them. It is a
// walk over the store like an evaluation: the walk says which replies are lacking, and
// the set follows from those that are there.
package contrast
