#!/usr/bin/env bash
# Installs the Debian packages that the tests need and that are missing.
set -euo pipefail

missing=()
command -v chromium >/dev/null || missing+=(chromium)
command -v python3 >/dev/null || missing+=(python3)
python3 -c 'import venv, ensurepip' 2>/dev/null || missing+=(python3-venv)
# Debian keeps the server off the PATH.
command -v postgres >/dev/null || compgen -G '/usr/lib/postgresql/*/bin/postgres' >/dev/null || missing+=(postgresql)
command -v sqlite3 >/dev/null || missing+=(sqlite3)
# A story recovers a torn store. The sqlite3 of Debian lacks .recover, the one in fossil has it.
sqlite3 :memory: 'SELECT count(*) FROM sqlite_dbpage' >/dev/null 2>&1 || command -v fossil >/dev/null || missing+=(fossil)
[ ${#missing[@]} -eq 0 ] && exit 0

if ! command -v apt-get >/dev/null; then
	echo "system.sh: install these by your system's own means: ${missing[*]}" >&2
	exit 1
fi
sudo=""
if [ "$(id -u)" -ne 0 ]; then
	sudo="sudo"
fi
$sudo apt-get update -qq
DEBIAN_FRONTEND=noninteractive $sudo apt-get install -y -qq --no-install-recommends "${missing[@]}" >/dev/null
