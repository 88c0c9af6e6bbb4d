package postgres

import (
	"cmp"
	"regexp"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/orbench/orbench"
	"github.com/orbench/orbench/internal/untrusted"
)

// settings are the beginning of an address that is a list of settings, such as host=db
// dbname=answers.
var settings = regexp.MustCompile(`^\s*(?i:host|hostaddr|port|dbname|user|password|passfile|service|sslmode)\s*=`)

// Is reports whether the address of a store is one of this package's.
func Is(address string) bool {
	scheme, _, is := strings.Cut(strings.ToLower(address), "://")
	return is && (scheme == "postgres" || scheme == "postgresql") || settings.MatchString(address)
}

const (
	// usualSchema is where the tables lie, unless the address says search_path=NAME.
	usualSchema = "orbench"
	// connections is how many a handle has at most, unless the address says
	// pool_max_conns=N: a server usually takes 100 in all.
	connections = 4
	// connectTime bounds an attempt to connect.
	connectTime = 10 * time.Second
)

// schemas are the names that a schema may have.
var schemas = regexp.MustCompile(`^[a-z_][a-z0-9_]{0,62}$`)

// parse reads an address, and gives the schema of the store.
func parse(address string) (*pgxpool.Config, string, error) {
	bad := func(problem string, err error) error {
		return &orbench.InputError{
			File: untrusted.Shown(address), Problem: problem, Hint: "write postgres://USER@HOST:5432/DATABASE for `store`", Err: err,
		}
	}
	config, err := pgxpool.ParseConfig(address)
	if err != nil {
		return nil, "", bad("is not the address of a Postgres database", nil)
	}
	settings := config.ConnConfig.RuntimeParams
	schema := cmp.Or(settings["search_path"], usualSchema)
	if !schemas.MatchString(schema) {
		return nil, "", bad("search_path must name one schema, in small letters, digits and _", nil)
	}
	settings["search_path"] = pgx.Identifier{schema}.Sanitize()
	settings["application_name"] = cmp.Or(settings["application_name"], "orbench")
	if !strings.Contains(address, "pool_max_conns=") {
		config.MaxConns = connections
	}
	config.ConnConfig.ConnectTimeout = cmp.Or(config.ConnConfig.ConnectTimeout, connectTime)
	return config, schema, nil
}
