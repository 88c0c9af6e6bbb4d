// Package settings reads settings that people write in YAML files: strictly, so
// that a misspelled setting is an error and not a silence, and with the line of
// whatever is wrong. It also writes the JSON Schema of such a file, with which
// editors check it as one types.
//
// What a file means is the business of the package that owns its form; a Fault is
// how that package says which setting makes no sense. Nearest finds the name that a
// misspelled one most likely means, for the errors that say "did you mean".
package settings
