// Package interchange writes the verdicts of a study as flat rows, in the formats of files
// that other tools read. Verdicts takes every answer as it is derived. A run and a judged
// file of recorded answers are written in the same way.
//
// The package computes no figure. What it writes is untrusted text for whoever reads it.
// The same study gives the same bytes.
package interchange
