#!/usr/bin/env bash
# A step of action.yml: measures the base and the target, writes the job's summary, and
# ends with the code of the first command that failed: 4 for a gate.
set -euo pipefail

# fault TITLE MESSAGE CODE ends the step with an annotation.
fault() {
	echo "::error title=$1::$2"
	exit "$3"
}

# Arguments and gates come one a line, so that no text is split or expanded.
# lines TEXT puts the lines that are not empty into the array list.
lines() {
	local line
	list=()
	while IFS= read -r line; do
		[[ -z $line ]] || list+=("$line")
	done <<<"$1"
}
lines "${ORBENCH_ARGS:-}"
common=(--dataset "$ORBENCH_DATASET" --judge "$ORBENCH_JUDGE" --quiet ${list[@]+"${list[@]}"})
gates=()
lines "${ORBENCH_FAIL_IF:-}"
for gate in ${list[@]+"${list[@]}"}; do gates+=(--fail-if "$gate"); done
lines "${ORBENCH_REQUIRE:-}"
for gate in ${list[@]+"${list[@]}"}; do gates+=(--require "$gate"); done

base=${ORBENCH_BASE:-}
if [[ ${#gates[@]} -gt 0 && -z $base ]]; then
	fault 'Gates need a base' "say in 'base' what to compare with: a target, or a run in the store" 2
fi
out=$(mktemp -d "$RUNNER_TEMP/orbench.XXXXXX")

IFS=, read -ra datasets <<<"$ORBENCH_DATASET"
for dataset in "${datasets[@]}"; do
	[[ $dataset == starter || -e $dataset ]] || orbench dataset pull "$dataset"
done

# measure TARGET ARGS... evaluates, with the tables in the log, and sets run to the
# name of the run: one of this job, since files that an argument names may differ
# between jobs. What was paid for is remembered whatever the name.
measure() {
	local code=0
	run=ci-$GITHUB_RUN_ID-$GITHUB_RUN_ATTEMPT-$(printf '%s\n' "$@" "${common[@]}" | cksum | cut -d ' ' -f 1)
	echo "::group::orbench eval --target $1"
	orbench eval --name "$run" "${common[@]}" --target "$@" || code=$?
	echo '::endgroup::'
	[[ $code -eq 0 ]] || fault 'The evaluation did not finish' "orbench eval of $1 ended with code $code" "$code"
}

if [[ $base == */* || $base == *:* ]]; then # a target
	lines "${ORBENCH_BASE_ARGS:-}"
	measure "$base" ${list[@]+"${list[@]}"}
	base=$run
fi
lines "${ORBENCH_TARGET_ARGS:-}"
measure "$ORBENCH_TARGET" ${list[@]+"${list[@]}"} --out "$out/report"
printf '%s\n' "run=$run" "report=$out/report" "summary=$out/summary.md" >>"$GITHUB_OUTPUT"

if [[ -z $base ]]; then
	orbench report "$run" --format md >"$out/summary.md"
	cat "$out/summary.md" >>"$GITHUB_STEP_SUMMARY"
	echo gate=none >>"$GITHUB_OUTPUT"
	exit
fi
code=0 kin=()
[[ ${ORBENCH_ONE_MODEL:-false} != true ]] || kin=(--one-model)
orbench compare "$base" "$run" --format md ${kin[@]+"${kin[@]}"} ${gates[@]+"${gates[@]}"} >"$out/summary.md" 2>"$out/comparison.err" || code=$?
cat "$out/summary.md" >>"$GITHUB_STEP_SUMMARY"
cat "$out/comparison.err" >&2
case $code in
0) if [[ ${#gates[@]} -gt 0 ]]; then gate=passed; else gate=none; fi ;;
4) gate=failed ;;
*) fault 'The comparison failed' "orbench compare ended with code $code" "$code" ;;
esac
echo "gate=$gate" >>"$GITHUB_OUTPUT"
while IFS= read -r line; do
	[[ $line != 'gate '* ]] || echo "::error title=A gate of orbench::${line//%/%25}"
done <"$out/comparison.err"
exit "$code"
