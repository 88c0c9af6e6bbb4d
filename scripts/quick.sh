#!/usr/bin/env bash
# Tests what changed: the packages of changed Go files and of what they embed, the
# changed stories and tests of cmd/orbench, and the checks of documents and layers. All of the project is built,
# but packages that only import a changed one are not tested.
#
#   scripts/quick.sh [BASE]
#
# What changed is what differs from BASE, by default the last commit; with nothing
# uncommitted, what the last commit changed.
set -euo pipefail
cd "$(dirname "$0")/.."

base=${1:-HEAD}
changed=$(git diff --name-only --diff-filter=d "$base"; git ls-files --others --exclude-standard)
if [[ -z $changed && $# -eq 0 ]]; then
	base=HEAD~1
	changed=$(git diff --name-only --diff-filter=d "$base")
fi
if [[ -z $changed ]]; then
	echo "nothing differs from $base"
	exit
fi

packages=() stories=() all=""
tests='TestLayers|TestLinks|TestDocsSayForWhom|TestPackageComments|TestOnlyCommandsNameFlags|TestFuzzTargets|Documented'
while IFS= read -r file; do
	case $file in
	cmd/orbench/testdata/script/*.txtar)
		story=${file##*/}
		stories+=("${story%.txtar}")
		continue
		;;
	cmd/orbench/*_test.go)
		tests+=$(grep -ohE '^func Test[A-Z]\w+' "$file" | sed 's/^func /|/' | grep -vE 'TestMain|TestScript' | tr -d '\n' || true)
		continue
		;;
	action.yml | scripts/action/*) tests+='|TestAction' ;;
	go.mod) all=yes ;;
	esac
	# The package of a file is the nearest folder with Go files, so that testdata and
	# embedded files count too.
	dir=${file%/*}
	[[ $dir != "$file" ]] || dir=.
	while [[ $dir == */* ]] && ! compgen -G "$dir/*.go" >/dev/null; do dir=${dir%/*}; done
	compgen -G "$dir/*.go" >/dev/null || continue
	[[ $dir == . && $file != *.go ]] || packages+=("./$dir")
done <<<"$changed"

go build ./...
if [[ -n $all ]]; then
	go vet ./...
fi
mapfile -t packages < <(printf '%s\n' ${packages[@]+"${packages[@]}"} | grep -vxE '(\./cmd/orbench)?' | sort -u)
if [[ ${#packages[@]} -gt 0 ]]; then
	go test -vet=off "${packages[@]}"
fi
if [[ ${#stories[@]} -gt 0 ]]; then
	go test -vet=off ./cmd/orbench -run "TestScript/^($(IFS='|'; echo "${stories[*]}"))\$"
fi
go test -vet=off ./cmd/orbench -run "$tests"
