#!/usr/bin/env bash
# A step of action.yml: puts orbench on the PATH of the steps that follow. A version
# such as v1.2.3 is a release, fetched and held to its checksum; for anything else, a
# branch or a commit, the action's own source is built.
set -euo pipefail

version=${ORBENCH_VERSION:-}
releases=${ORBENCH_RELEASES:-https://github.com/orbench/orbench/releases/download}
bin=$(mktemp -d "$RUNNER_TEMP/orbench-bin.XXXXXX")

# fault TITLE MESSAGE ends the step with an annotation.
fault() {
	echo "::error title=$1::$2"
	exit 1
}

if [[ $version =~ ^v[0-9]+\.[0-9]+\.[0-9]+(-[0-9A-Za-z.]+)?$ ]]; then
	case $RUNNER_OS in
	Linux) os=linux end=tar.gz ;;
	macOS) os=darwin end=tar.gz ;;
	Windows) os=windows end=zip ;;
	*) fault 'No release' "there is no release of orbench for $RUNNER_OS" ;;
	esac
	case $RUNNER_ARCH in
	X64) arch=amd64 ;;
	ARM64) arch=arm64 ;;
	*) fault 'No release' "there is no release of orbench for $RUNNER_ARCH" ;;
	esac
	archive=orbench_${version#v}_${os}_$arch.$end
	for file in "$archive" checksums.txt; do
		curl -fsSL --retry 3 -o "$bin/$file" "$releases/$version/$file" ||
			fault 'No release' "$releases/$version/$file cannot be fetched; is $version a release?"
	done
	wanted=$(awk -v name="$archive" '$2 == name {print $1}' "$bin/checksums.txt")
	if command -v sha256sum >/dev/null; then
		have=$(sha256sum "$bin/$archive")
	else
		have=$(shasum -a 256 "$bin/$archive")
	fi
	[[ -n $wanted && ${have%% *} == "$wanted" ]] ||
		fault 'Wrong checksum' "$archive is not what checksums.txt of $version says it is"
	if [[ $end == zip ]]; then
		unzip -q "$bin/$archive" -d "$bin"
	else
		tar -xzf "$bin/$archive" -C "$bin"
	fi
else
	CGO_ENABLED=0 go build -C "$GITHUB_ACTION_PATH" -trimpath -o "$bin/" ./cmd/orbench
fi
echo "$bin" >>"$GITHUB_PATH"
"$bin/orbench" version
