// Package category shows refusals by category: which of a result's targets refuse which
// categories of prompts, as one judge sees it, and which of them stand out, in tables and
// a heat map.
package category
