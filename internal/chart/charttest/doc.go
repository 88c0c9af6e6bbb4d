// Package charttest reads the texts of figures, for tests, and saves the
// figures for viewing.
package charttest
