// Package provenance says what figures were made with: the settings of runs, and
// in which of them runs that stand together differ.
package provenance
