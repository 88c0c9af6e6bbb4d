// Package fit trains a logistic model with a ridge penalty on rows that are mostly
// zeros, one weight after another. It is small and gives the same bits each time.
package fit
