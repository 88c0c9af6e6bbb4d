// Package experiment is the form of experiment.yaml: which targets answer which
// datasets, in which variants, and who judges the answers.
//
// An Experiment holds what the file says, or what the flags of orbench eval say; both are
// checked in the same way. Expand lists its variants, from axes that are crossed or taken
// one at a time, and from a list of single combinations. This package makes no targets and
// asks no model.
package experiment
