// Package scoretest makes up results and the rows behind them, for tests of what shows
// them.
package scoretest
