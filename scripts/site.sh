#!/usr/bin/env bash
# Builds the documentation site from docs with Zensical, in bin/site, with the Markdown beside
# each page and llms.txt, which lists it. It has search and pictures, asks no other server, and
# opens from the disk. It takes python3, npm and their registries.
set -euo pipefail
cd "$(dirname "$0")/.."

readonly ZENSICAL='zensical==0.0.73' SHIM='iframe-worker@1.0.4'
dir=${ORBENCH_SITE_DIR:-${XDG_CACHE_HOME:-${HOME:?set HOME or ORBENCH_SITE_DIR}/.cache}/orbench/site}
if [[ ! -e $dir/.complete-$ZENSICAL ]]; then
	python3 -m venv --clear "$dir"
	"$dir/bin/python" -m pip install --no-input --quiet --disable-pip-version-check "$ZENSICAL"
	mv "$dir/$(npm pack --silent --pack-destination "$dir" "$SHIM")" "$dir/shim.tgz"
	touch "$dir/.complete-$ZENSICAL"
fi

tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
cp -R docs scripts/zensical.toml "$tmp"
cp CHANGELOG.md "$tmp/docs/changelog.md"
cp README.md "$tmp/docs/readme.md"
# What the site has no page of is in the repository.
repository=https://$(go list -m)
sed -i -E "s#\]\(docs/#](#g; s#\]\((CITATION.cff|CONTRIBUTING.md|LICENSE|SECURITY.md)\)#](${repository}/blob/main/\1)#g; s#\]\(CHANGELOG.md\)#](changelog.md)#g; s#\]\(\.\./README.md#](readme.md#g" "$tmp"/docs/*.md
ORBENCH_PAGES="$tmp/docs" go test -count 1 -run '^TestCommandReference$' ./internal/cli >/dev/null
# --strict: a link that leads nowhere is an error.
(cd "$tmp" && "$dir/bin/zensical" build --strict)
rm -rf bin/site
mkdir -p bin
mv "$tmp/site" bin/site
# A page on the disk may start no worker, by which Zensical searches; a shim stands in, which
# Zensical else takes from a server.
tar -xzf "$dir/shim.tgz" -C "$tmp" package/shim/index.js
cp "$tmp/package/shim/index.js" bin/site/assets/javascripts/iframe-worker.js
sed -i 's#https://unpkg.com/iframe-worker/shim#assets/javascripts/iframe-worker.js#' bin/site/*.html
sed -i 's#https://unpkg.com/iframe-worker/shim#../assets/javascripts/iframe-worker.js#' bin/site/tutorial/*.html
if grep -l 'src="https\?://' bin/site/*.html bin/site/*/*.html; then
	echo "site: these pages load a script or picture from a server" >&2
	exit 1
fi
# The Markdown beside each page, and a list of it in the order of the contents: the title, and
# the first paragraph.
(cd "$tmp/docs" && cp --parents *.md tutorial/*.md "$OLDPWD/bin/site")
{
	printf '# orbench\n\n> Measures over-refusal of language models, and builds benchmarks for it.\n\n## Pages\n\n'
	for page in $(sed -n '/^nav = /,/^]/p' scripts/zensical.toml | grep -o '"[a-z/-]*\.md"' | tr -d '"'); do
		awk -v page="$page" 'NR == 1 { title = substr($0, 3) } NR == 3 { gsub(/\]\([^)]*\)|\[/, ""); print "- [" title "](" page "): " $0; exit }' "bin/site/$page"
	done
} >bin/site/llms.txt
echo "bin/site/index.html"
