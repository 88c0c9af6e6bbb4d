// Package settings reads settings from YAML files that people write. It is strict: a
// misspelled setting is an error, and every error has the line.
//
// The package that owns a file's form decides what the file means. It reports an invalid
// setting with a Fault. Nearest finds the name that a misspelled one most likely means,
// for errors that say "did you mean".
package settings
