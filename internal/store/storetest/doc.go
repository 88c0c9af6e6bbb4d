// Package storetest has what tests of several packages need of stores: records to put into
// them, and PostgreSQL servers of their own, started from the programs that the system's
// package has installed.
package storetest
