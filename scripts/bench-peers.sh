#!/usr/bin/env bash
# Installs Inspect, lm-evaluation-harness and promptfoo from their registries, outside of the
# project, and measures orbench beside them; see scripts/peers/measure.py. The files in
# scripts/peers configure each as its documentation advises.
set -euo pipefail
cd "$(dirname "$0")/.."

readonly INSPECT='inspect_ai==0.3.285' OPENAI='openai==3.57.0' HARNESS='lm_eval[api]==0.4.13' PROMPTFOO='promptfoo@0.121.20'
dir=${ORBENCH_PEERS_DIR:-${XDG_CACHE_HOME:-${HOME:?set HOME or ORBENCH_PEERS_DIR}/.cache}/orbench/peers}
mkdir -p "$dir"
say() { printf 'bench-peers: %s\n' "$*" >&2; }

# python NAME REQUIREMENT… makes a virtual environment, once.
python() {
	local at=$dir/$1
	shift
	[[ -e $at/.complete ]] && return
	say "installing $* with pip"
	python3 -m venv --clear "$at"
	"$at/bin/python" -m pip install --no-input --quiet --disable-pip-version-check "$@"
	touch "$at/.complete"
}
python inspect "$INSPECT" "$OPENAI"
python lm-eval "$HARNESS"
if [[ ! -e $dir/promptfoo/.complete ]]; then
	say "installing $PROMPTFOO with npm"
	npm install --no-audit --no-fund --silent --prefix "$dir/promptfoo" "$PROMPTFOO"
	touch "$dir/promptfoo/.complete"
fi

tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
CGO_ENABLED=0 go build -o "$tmp/orbench" ./cmd/orbench
wheel=$(scripts/wheel.py "$tmp/orbench" v0.0.0 "$(go env GOOS)" "$(go env GOARCH)" "$tmp")
python3 scripts/peers/measure.py "$tmp/orbench" "$wheel" "$dir/inspect/bin/python" "$dir/lm-eval/bin/python" "$dir/promptfoo/node_modules/.bin/promptfoo"
