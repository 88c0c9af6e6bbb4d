// Package folder writes a directory whole or not at all. Its files are written to a draft
// beside it, which takes its name in one step at the end. An existing directory is
// replaced only by one of the same Subject, which a file in it records. The same holds
// for files.
package folder
