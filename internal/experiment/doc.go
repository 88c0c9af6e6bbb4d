// Package experiment is the form of experiment.yaml: which targets answer which
// datasets, in which variants, and who judges the answers.
//
// An Experiment is what the file says, or what the flags of orbench eval say: both are
// made into one and checked alike. Expand lists its variants, from axes that are
// crossed or taken one at a time, and from a list of single combinations. Making
// targets of them, and asking anybody anything, is not done here.
package experiment
