// Package similar finds texts that say nearly the same: near duplicates, and how
// varied a collection is. It works on plain strings and uses the standard
// library only.
//
// Texts are compared by their shingles: the set of all runs of three words,
// after case and punctuation are left out. The similarity of two texts is the
// Jaccard index of their sets, from 0 for nothing in common to 1 for equal sets.
// Changing one word in the middle of a text of twelve gives 7/13.
//
// An Index finds near duplicates among texts that arrive one by one, and
// NearDuplicates among those at hand. Both are exact, not a sketch: they find
// what comparing every pair would find. They are fast because a pair that is
// alike enough must share one of its rarest shingles. Order the shingles of every
// text from rare to common; two sets of a and b shingles with Jaccard index t or
// more share at least
//
//	m = t/(1+t) * (a+b)
//
// of them, so the first one that they share stands among the first a-m+1 of one
// and the first b-m+1 of the other (Chaudhuri, Ganti and Kaushik 2006; Xiao et
// al. 2008). Only texts that meet in an index of such shingles are compared.
//
// This holds for any order of the shingles that all texts share, so an order
// that is out of date costs time and never a pair. An Index puts the shingles it
// has just met first, and orders all of them anew, by their number in the kept
// texts, when looking them up has cost more than ordering them.
//
// DiversityOf says how varied a collection is: distinct-n, Self-BLEU, near
// duplicates, how texts begin, and their lengths.
package similar
