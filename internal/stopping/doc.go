// Package stopping says in which order prompts are asked, and when enough of them are,
// for a run that ends by itself.
//
// The prompts of each label of each dataset are drawn in blocks, balanced over the
// categories, until a confidence sequence of every rate is as narrow as was asked for;
// see stats.Sequence. The blocks follow from the seed and the datasets alone, and where
// they end from what came out of them, so the same answers give the same end.
package stopping
