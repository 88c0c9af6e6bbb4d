// Package overlap finds what two sets of prompts have in common, and shows it.
// It compares two datasets and how varied each is. It also compares training
// data with evaluation sets, in any folder and any usual format.
package overlap
