// Package provenance records how figures were made: the settings of runs, and
// the settings in which runs shown together differ.
package provenance
