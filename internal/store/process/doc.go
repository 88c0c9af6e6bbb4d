// Package process tells whether the process that holds a claim in a store is no more.
package process
