// Command train makes refusal/weights.txt anew, the same bytes each time.
//
// It fits the project's own examples and the vectors of other people's, which
// are in the project. Where the labeled files that those were made from are in
// the folder that -data names, it makes the vectors anew first, as it must after
// a change to the features.
package main
