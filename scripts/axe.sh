#!/usr/bin/env bash
# Fetches axe-core, which finds faults of accessibility in pages, for tests: `env` prints
# ORBENCH_AXE=FILE. Where npm is not there, it prints nothing, and the tests say so.
set -euo pipefail
version=4.14.1
dir="${XDG_CACHE_HOME:-$HOME/.cache}/orbench/axe/$version"
file="$dir/package/axe.min.js"
if [ ! -f "$file" ]; then
	command -v npm >/dev/null || exit 0
	mkdir -p "$dir"
	(cd "$dir" && npm pack --silent "axe-core@$version" >/dev/null && tar xzf "axe-core-$version.tgz") || exit 0
fi
echo "ORBENCH_AXE=$file"
