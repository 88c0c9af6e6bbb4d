// Package caption says what tables, plots and pages call the runs of a result: their
// targets, their datasets, and what judges see in them.
package caption
