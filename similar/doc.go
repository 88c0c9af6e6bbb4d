// Package similar finds near duplicates: texts that say nearly the same. It also measures
// how varied a collection is. It works on plain strings and uses the standard library
// only.
//
// Texts are compared by their shingles: the set of all runs of three words, ignoring case
// and punctuation. The similarity of two texts is the Jaccard index of their sets, from 0
// for nothing in common to 1 for equal sets. Changing one word in the middle of a text of
// twelve gives 7/13.
//
// An Index finds near duplicates among texts that arrive one by one, and NearDuplicates
// among texts that are all there. Both are exact: they find what comparing every pair
// would find. They are fast because a sufficiently similar pair must share one of its
// rarest shingles. Order the shingles of every text from rare to common. Two sets of a
// and b shingles with a Jaccard index of t or more share at least
//
//	m = t/(1+t) * (a+b)
//
// of them. So the first shingle that they share is among the first a-m+1 of one and the
// first b-m+1 of the other (Chaudhuri, Ganti and Kaushik 2006; Xiao et al. 2008). Only
// texts that share an entry in an index of such shingles are compared.
//
// This holds for any order of the shingles that all texts share. So an outdated order
// costs time but never misses a pair. An Index puts new shingles first. It reorders all
// of them by their number in the kept texts once looking them up has cost more than
// reordering.
//
// DiversityOf measures how varied a collection is: distinct-n, Self-BLEU, near
// duplicates, how texts begin, and their lengths.
package similar
