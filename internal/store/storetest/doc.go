// Package storetest is the suite that every backend passes: what is put
// is found again by another handle, records are never changed, two writers lose
// nothing, and a Store over the backend groups its commits.
package storetest
