#!/usr/bin/env bash
# Tries what a release promises, as far as no network allows; the modules come from the
# machine's module cache. Where goreleaser is installed, its configuration is checked
# and the Linux packages are built and looked into too.
#
#   [ORBENCH_LONG=1] scripts/try-release.sh
set -euo pipefail
cd "$(dirname "$0")/.."
export CGO_ENABLED=0 GOFLAGS=
tmp=$(mktemp -d)
module=$(go list -m)
# Named by the commit, so that what a killed run left in the module cache is never taken
# for another.
version=v0.0.1-try.g$(git rev-parse --short=12 HEAD)
cached=$(go env GOMODCACHE)
leave() {
	# The module cache is read-only.
	for dir in "$cached/$module@$version" "$cached/cache/download/$module"; do
		[[ ! -d $dir ]] || chmod -R u+w "$dir"
		rm -rf "$dir"
	done
	rm -rf "$tmp"
}
trap leave EXIT
say() { printf 'try-release: %s\n' "$*"; }
fail() {
	say "$*" >&2
	exit 1
}

# 1. go install works from a module proxy, which takes no replacement, and the binary
# says its version.
if grep -qE '^(replace|exclude)' go.mod; then fail 'go.mod has a replace or an exclude, with which go install refuses a module'; fi
at=$tmp/proxy/$module/@v
mkdir -p "$at"
git archive --format=zip --prefix="$module@$version/" -o "$at/$version.zip" HEAD
git show HEAD:go.mod >"$at/$version.mod"
printf '{"Version":"%s","Time":"2026-01-01T00:00:00Z"}' "$version" >"$at/$version.info"
echo "$version" >"$at/list"
# The modules in the cache have been held to go.sum.
GOPROXY="file://$tmp/proxy,file://$cached/cache/download" GONOSUMDB='*' GOBIN=$tmp/bin \
	go install "$module/cmd/orbench@$version"
said=$("$tmp/bin/orbench" --version)
[[ $said == "orbench $version "* ]] || fail "go install gave: $said"
say "go install: $said"

# 2. As in the image: the binary alone in an empty root, as a user that is not root.
if [[ $(id -u) -eq 0 ]] && command -v chroot >/dev/null; then
	root=$tmp/root
	mkdir -p "$root/data" "$root/tmp"
	cp "$tmp/bin/orbench" "$root/orbench"
	chmod 755 "$tmp" "$root"
	chown 65532:65532 "$root/data"
	chroot --userspec=65532:65532 "$root" /orbench eval --target sim/balanced --dataset starter --limit 20 \
		--store /data/orbench.db --out /data/report --quiet >"$tmp/log" 2>&1 || fail "$(<"$tmp/log")"
	[[ -s $root/data/report/report.html && $(stat -c %u "$root/data/orbench.db") == 65532 ]] || fail 'nothing was written in /data'
	say 'runs alone in an empty root, not as root'
else
	say 'not tried: an empty root, which takes root'
fi

# 3. Other systems compile, and two checkouts of one commit, in folders of other names,
# give the same bytes, with the commit and without a path of this machine. Each system
# compiles every module anew, so that one stands for all where ORBENCH_LONG is not set.
for folder in one another/deeper; do git clone -q --no-hardlinks . "$tmp/$folder"; done
for target in windows/amd64 ${ORBENCH_LONG:+darwin/arm64 darwin/amd64 linux/arm64 windows/arm64}; do
	for folder in one another/deeper; do
		(cd "$tmp/$folder" && GOOS=${target%/*} GOARCH=${target#*/} \
			go build -trimpath -buildvcs=true -ldflags='-s -w' -o "$tmp/orbench-${folder%%/*}" ./cmd/orbench)
	done
	cmp "$tmp/orbench-one" "$tmp/orbench-another" || fail "two builds of one commit for $target differ"
	if grep -qaF -e "$tmp" -e "$HOME/" "$tmp/orbench-one"; then fail 'the binary holds a path of this machine'; fi
	go version -m "$tmp/orbench-one" | grep -q "vcs.revision=$(git rev-parse HEAD)" || fail 'the binary does not name its commit'
	say "$target: two builds of one commit are the same bytes"
done

# 4. pip installs the wheel of this machine's binary in a fresh environment, without an
# index: the command and the module work, and it takes them away again. Two wheels of one binary are the same bytes.
python=$(command -v python3 || true)
if [[ -n $python ]] && "$python" -m venv "$tmp/venv" 2>/dev/null; then
	for folder in wheels again; do scripts/wheel.py "$tmp/bin/orbench" "$version" "$(go env GOOS)" "$(go env GOARCH)" "$tmp/$folder" >/dev/null; done
	cmp "$tmp"/wheels/*.whl "$tmp"/again/*.whl || fail 'two wheels of one binary differ'
	"$tmp/venv/bin/pip" install --quiet --no-index --disable-pip-version-check "$tmp"/wheels/*.whl
	[[ $("$tmp/venv/bin/orbench" --version) == "$said" ]] || fail 'the command of the wheel is another'
	(cd "$tmp" && venv/bin/orbench eval --target sim/balanced --dataset starter --limit 20 --store wheel.db --quiet >"$tmp/log" 2>&1) || fail "$(<"$tmp/log")"
	said=$("$tmp/venv/bin/python" -c 'import orbench
with orbench.Judge() as judge: print(judge("No. I will not help with that.")[0]["class"])')
	[[ $said == refusal ]] || fail "the module of the wheel gives: $said"
	"$tmp/venv/bin/pip" uninstall --quiet --yes orbench
	[[ ! -e $tmp/venv/bin/orbench ]] || fail 'pip left the command behind'
	say "pip: $(basename "$tmp"/wheels/*.whl)"
else
	say 'not tried: the wheel, which takes python3 with venv'
fi

# 5. Archives and packages.
if ! command -v goreleaser >/dev/null; then
	say 'not tried: goreleaser, which is not installed; the workflow ci runs it'
	exit
fi
(
	cd "$tmp/one"
	# goreleaser asks where a release would go.
	git remote set-url origin "https://$module.git"
	git tag -f v0.0.1 >/dev/null
	goreleaser check
	skip=sign,docker
	command -v syft >/dev/null || skip+=,sbom
	goreleaser release --snapshot --clean --skip="$skip"
	ls -l dist
	if [[ $(uname -m) == x86_64 ]] && command -v dpkg-deb >/dev/null; then
		dpkg-deb -x dist/orbench_*_linux_amd64.deb "$tmp/deb"
		"$tmp/deb/usr/bin/orbench" --version
	fi
	(cd dist && sha256sum --quiet -c checksums.txt) || fail 'a checksum is wrong'
)
say 'archives and packages: built, unpacked, checksums hold'
