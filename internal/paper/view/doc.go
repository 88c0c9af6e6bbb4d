// Package view shows the published study, with runs of the reader's own beside it:
// its plots, its tables, a page, and the check of a run against a published row.
package view
