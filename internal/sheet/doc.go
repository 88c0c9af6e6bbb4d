// Package sheet reads and writes tables that people fill in: CSV as spreadsheets of all
// countries write it, and JSON Lines. A text that a spreadsheet would compute is written
// with an apostrophe in front. Reading removes the apostrophe.
package sheet
