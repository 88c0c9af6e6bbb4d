// Package pages reads what is left of a damaged SQLite file: every row on every page
// that can be made out, whatever became of the pages that lead there.
//
// SQLite finds rows from the first page on, through pages that list others, and gives up
// where one of them is damaged: a store of which it cannot read the first page is lost to
// it, though all rows may be there. But each row lies whole on its page, with its types,
// so that pages can be read one by one. What is found may be an old version of a row,
// or nonsense that looks like one: whoever reads must be able to tell by the row itself.
//
// The format is that of https://www.sqlite.org/fileformat2.html.
package pages
