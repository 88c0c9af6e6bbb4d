// Package truncation counts the answers that the token limit cut, so that rates over
// them are not taken for rates over whole answers.
package truncation
