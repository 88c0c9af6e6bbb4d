// Package benchmark is the folder that "orbench build" writes: the configuration
// that a benchmark was built from, its manifest, and its lineage, which has a row
// for every prompt with its seed, the votes on it and the answers that chose it.
//
// Open reads the manifest of a folder, and Folder streams the lineage and holds
// it to the hash that the manifest gives. The sets themselves are files like any
// other: package dataset reads them, and takes their labels, their makers and
// their seeds from here.
package benchmark
