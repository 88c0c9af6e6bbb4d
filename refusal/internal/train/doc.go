// Package train trains the weights of the refusal detector, the same bytes each time, and
// has the labeled answers that they are trained on and measured with.
//
// It fits the project's own examples and the vectors of other people's, which
// are in the project. Where the labeled files that those were made from are at hand, it
// makes the vectors anew first, as it must after a change to the features.
package train
