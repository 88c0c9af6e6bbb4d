// Package storetest has records that tests of several packages put into stores.
package storetest
