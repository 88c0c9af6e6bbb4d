// Command train makes refusal/weights.txt anew, the same bytes each time.
//
// It needs the two labelled files of XSTest completions (see docs/judges.md) in
// the folder that -data names; they are no part of the project.
package main
