// Package benchmark is the folder that "orbench build" writes: the configuration of the
// benchmark, its manifest, and its lineage. The lineage has a row for every prompt, with
// its seed, the votes on it and the answers that put it into a set.
//
// Open reads the manifest of a folder. Folder streams the lineage and checks it against
// the hash in the manifest. The sets themselves are ordinary files: package dataset reads
// them and takes their labels, models and seeds from here.
package benchmark
