// Package stream judges answers as they come, line by line, so that one process serves
// another program.
package stream
