// Package contamination finds training data that is in evaluation sets, or nearly: a
// model that was trained on it can no longer be measured with them. Evaluations indexes
// the sets, and Check reads any folder of training data, whoever wrote it, and compares
// its splits with each other too.
package contamination
