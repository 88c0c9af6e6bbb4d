// Package folder writes a directory whole or not at all: its files are written
// beside it and take its name in one step at the end. One that is there is replaced only
// by another of the same Subject, which a file in it tells, and files likewise.
package folder
