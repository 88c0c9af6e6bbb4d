// Package interchange writes the answers and figures of a study in the forms that other
// tools read. A Format makes a Writer, which takes every answer as it is derived and the
// figures at the end. Each format has a file of its own, and a row in Formats. A run and a
// judged file of recorded answers are written in the same way. JudgeLines answers another program,
// which hands over answers line by line.
//
// The package computes no figure. What it writes is untrusted text for whoever reads it.
// The same study gives the same bytes.
package interchange
