// Package words lists which texts have which words, so that a search reads short lists in
// place of all texts. It keeps no texts, and no places within them: there are no phrases
// and no rank. Package index keeps the lists of a store, and a folder of a report has its
// own.
package words
