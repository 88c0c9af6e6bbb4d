#!/usr/bin/env bash
# Writes what packages install beside the binary into a folder: the completions of shells,
# which the binary writes.
#
#   scripts/completions.sh DIR
set -euo pipefail
[[ $# -eq 1 ]] || { sed -n '2,5s/^# \{0,1\}//p' "$0"; exit 2; }
mkdir -p "$1/completions"
binary=$(mktemp)
trap 'rm -f "$binary"' EXIT
go build -o "$binary" ./cmd/orbench
"$binary" completion bash >"$1/completions/orbench.bash"
"$binary" completion zsh >"$1/completions/_orbench"
"$binary" completion fish >"$1/completions/orbench.fish"
