// Package overlap finds what two sets of prompts have in common, and shows it: two
// datasets, with how varied each is, and training data beside evaluation sets, in any
// folder and any usual format.
package overlap
