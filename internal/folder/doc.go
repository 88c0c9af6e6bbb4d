// Package folder writes a directory whole or not at all: its files are written
// beside it and take its name in one step at the end.
package folder
