#!/usr/bin/env bash
# Builds the documentation site from README.md and docs with Material for MkDocs, in
# bin/site. It has search and pictures, asks no other server, and opens from the disk. It takes python3,
# npm and their registries.
set -euo pipefail
cd "$(dirname "$0")/.."

readonly MATERIAL='mkdocs-material==9.8.2' SHIM='iframe-worker@1.0.4'
dir=${ORBENCH_SITE_DIR:-${XDG_CACHE_HOME:-${HOME:?set HOME or ORBENCH_SITE_DIR}/.cache}/orbench/site}
if [[ ! -e $dir/.complete-$MATERIAL ]]; then
	python3 -m venv --clear "$dir"
	"$dir/bin/python" -m pip install --no-input --quiet --disable-pip-version-check "$MATERIAL"
	mv "$dir/$(npm pack --silent --pack-destination "$dir" "$SHIM")" "$dir/shim.tgz"
	touch "$dir/.complete-$MATERIAL"
fi

tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
cp -R docs "$tmp/docs"
sed 's#](docs/#](#g' README.md >"$tmp/docs/index.md"
cp CHANGELOG.md "$tmp/docs/changelog.md"
sed -i 's#](docs/#](#g' "$tmp/docs/changelog.md"
# What the site has no page of is in the repository.
repository=https://$(go list -m)
sed -i -E "s#\]\(\.\./([^)]*)\)#](${repository}/tree/main/\1)#g; s#\]\((CITATION.cff|CONTRIBUTING.md|LICENSE|SECURITY.md)\)#](${repository}/blob/main/\1)#g; s#\]\(CHANGELOG.md\)#](changelog.md)#g" "$tmp"/docs/*.md
ORBENCH_PAGES="$tmp/docs" go test -count 1 -run '^TestCommandReference$' ./internal/cli >/dev/null
cp scripts/mkdocs.yml "$tmp/mkdocs.yml"
# --strict: a link that leads nowhere is an error.
NO_MKDOCS_2_WARNING=1 "$dir/bin/mkdocs" build --quiet --strict --config-file "$tmp/mkdocs.yml" --site-dir "$PWD/bin/site"
# A page on the disk may start no worker, by which Material searches; a shim stands in, which
# Material else takes from a server. All pages are in one folder.
tar -xzf "$dir/shim.tgz" -C "$tmp" package/shim/index.js
cp "$tmp/package/shim/index.js" bin/site/assets/javascripts/iframe-worker.js
sed -i 's#https://unpkg.com/iframe-worker/shim#assets/javascripts/iframe-worker.js#' bin/site/*.html
if grep -l 'src="https\?://' bin/site/*.html; then
	echo "site: these pages load a script or picture from a server" >&2
	exit 1
fi
echo "bin/site/index.html"
