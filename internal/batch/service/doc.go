// Package service speaks to the batch services of providers, and reads and writes the
// files of calls that they, and programs that do without a service, work through.
//
// It carries bytes: what a call's body and its reply mean is the dialect's business, and
// what is out where is that of package batch.
package service
