// Package scoretest makes up results and the rows behind them, for tests of the
// packages that show them.
package scoretest
