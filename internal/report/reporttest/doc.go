// Package reporttest makes up runs for the tests of what shows them, and reads the
// texts of drawn figures.
package reporttest
