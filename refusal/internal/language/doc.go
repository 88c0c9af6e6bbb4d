// Package language tells the language of a text by its script and by the commonest
// words of some 60 languages, and says of each whether the refusal detector reads it.
package language
