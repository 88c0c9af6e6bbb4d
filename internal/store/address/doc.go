// Package address opens the store that a store's address names. An address is the path of a
// SQLite file, or postgres://USER@HOST:PORT/DATABASE; another kind of store gets its
// scheme here, and nobody else takes a store to be a file.
package address
