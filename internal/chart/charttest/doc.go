// Package charttest reads what stands in figures, for tests, and keeps the figures to look
// at.
package charttest
