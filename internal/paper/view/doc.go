// Package view shows the published study beside the reader's own runs: its
// plots, its tables, a page, and a comparison of a run with a published row.
package view
