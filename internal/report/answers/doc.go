// Package answers writes the answers of a run as they are derived: as lines of JSON, and as a
// page that shows all of them, whose texts are in files beside it that it loads as they are
// needed.
package answers
