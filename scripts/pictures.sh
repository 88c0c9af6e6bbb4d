#!/usr/bin/env bash
# Makes the pictures of the tutorial anew in docs/images: it runs the commands of
# docs/tutorial in a folder of its own, and photographs the pages of orbench serve. It takes
# bin/orbench (make build), chromium, curl and pngquant.
set -euo pipefail
cd "$(dirname "$0")/.."
for program in bin/orbench chromium curl pngquant; do
	command -v "$program" >/dev/null || { echo "pictures: $program is not here" >&2; exit 1; }
done
root=$PWD
export PATH="$PWD/bin:$PATH" NO_COLOR=1
tmp=$(mktemp -d)
trap 'kill $(jobs -p) 2>/dev/null || true; rm -rf "$tmp"' EXIT
cd "$tmp"
export HOME=$tmp ORBENCH_CACHE=$tmp/cache

# run gives the commands of a page to bash.
run() {
	{ cat "$root/cmd/orbench/testdata/person.sh"; sed -n '/^```sh$/,/^```$/{/^```/d;p}' "$root/docs/tutorial/$1.md"; } | bash -eu >/dev/null 2>&1
}

# take photographs an address for a page of the tutorial, so high.
take() {
	chromium --headless --no-sandbox --disable-gpu --hide-scrollbars --window-size="1120,$3" \
		--virtual-time-budget=4000 --screenshot="$tmp/$1.png" "$2" >/dev/null 2>&1
	pngquant --force --quality 40-80 --output "$root/docs/images/tutorial-$1.png" "$tmp/$1.png"
}

# watch serves the store, until it is called again.
watch() {
	kill $(jobs -p) 2>/dev/null || true
	orbench serve --as ben --addr 127.0.0.1:0 >address 2>/dev/null &
	until at=$(grep -o 'http://127.0.0.1:[0-9]*' address); do sleep 0.1; done
}

run measure
watch
take measure "$at/?study=before" 560
run read
take read "$at/answers?study=before&label=safe&verdict=refused" 640
run label
take label "$at/label?study=before&person=ben" 580
run compare
watch
take compare "$at/compare?study=before&study=after" 640
run gate
take gate "file://$tmp/reports/gate/compare.html" 580
run build
watch
# The first look at a build goes through all of it.
until curl -s "$at/?study=my-benchmark" | grep -q 'Dropped by'; do sleep 0.1; done
take build "$at/?study=my-benchmark" 640
run share
cp reports/both/tradeoff.svg "$root/docs/images/tutorial-share.svg"
ls -l "$root"/docs/images/tutorial-*
