#!/usr/bin/env bash
# Lists the direct modules that are behind: the version here and the newest, each with its
# date. It asks the module proxy, so it needs the network.
set -euo pipefail
cd "$(dirname "$0")/.."
go list -m -u -f '{{if and .Update (not .Indirect)}}{{.Path}} {{.Version}} {{.Time.Format "2006-01-02"}} {{.Update.Version}} {{.Update.Time.Format "2006-01-02"}}{{end}}' all |
	awk '{printf "%-45s %s (%s), newest %s (%s)\n", $1, $2, $3, $4, $5}'
