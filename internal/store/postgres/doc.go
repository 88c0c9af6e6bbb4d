// Package postgres is the store in a PostgreSQL database, through pgx, for work
// that several machines share.
//
// A commit is on the server's disk when it returns. The records of a group go in one
// statement, as arrays, so that one round trip and one flush serve all of them. Claims are
// made one after another under an advisory lock, and end by the server's clock, so that
// machines whose clocks differ agree.
//
// What a connection that breaks leaves undone is done again on another, for some minutes:
// all that the store does can be repeated. So a server that is restarted, or a network that
// is cut, loses no answer that was paid for.
//
// What the server ends since another transaction is in its way is done again by Pool, through
// which the queue of workers speaks to it too.
//
// Contents are bytes (bytea), whatever the encoding of the database, and every row has a
// checksum. To read them with psql: convert_from(response, 'UTF8')::json.
package postgres
