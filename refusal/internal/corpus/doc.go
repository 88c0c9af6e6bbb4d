// Package corpus reads the labeled answers that the refusal detector's weights
// are trained on and measured with.
package corpus
