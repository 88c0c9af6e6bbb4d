// Package columns writes lists of numbers as bytes, and reads them again.
package columns
