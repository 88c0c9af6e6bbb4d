// Package postgrestest starts a PostgreSQL server of their own for tests, from the
// programs that the system's package has installed.
package postgrestest
