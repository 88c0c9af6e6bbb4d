// Package provider holds the table of providers: where each one listens, which
// environment variable has its key, and which dialect it speaks. The table is
// data (providers.json, embedded); a user's file of the same form adds entries
// or replaces them, so that a new provider needs no code.
//
// A target is written provider/model. ParseTarget splits it, Table.Lookup finds the entry,
// and Provider.Resolve gives the address and the key to use, or says which setting is
// missing. The names sim and replay are no entries: they mean the built-in simulation and
// recorded answers.
//
// The fields of an entry are those of Provider.
package provider
