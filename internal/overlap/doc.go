// Package overlap finds what two sets of prompts have in common, and shows it.
// It compares datasets, and training data in any folder and any usual format,
// with evaluation sets.
package overlap
