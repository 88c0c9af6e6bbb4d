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
compared=()
lines "${ORBENCH_COMPARE_ARGS:-}"
for arg in ${list[@]+"${list[@]}"}; do compared+=("$arg"); done
[[ ${ORBENCH_ONE_MODEL:-} != true ]] || compared+=(--one-model)
[[ -z ${ORBENCH_JUNIT:-} ]] || compared+=(--junit "$ORBENCH_JUNIT")
if [[ ${#gates[@]} -gt 0 && -z $base ]]; then
	fault 'Gates need a base' "say in 'base' what to compare with: a target, or a run in the store" 2
fi
out=$(mktemp -d "$RUNNER_TEMP/orbench.XXXXXX")

IFS=, read -ra datasets <<<"$ORBENCH_DATASET"
for dataset in "${datasets[@]}"; do
	[[ $dataset == starter || -e $dataset ]] || orbench dataset pull "$dataset"
done

# measure SIDE OUT TARGET ARGS... evaluates, with the tables in the log, writes the report to
# the folder OUT unless it is empty, and sets run to the name of the run. That is the same in
# every job, so no folder of this job is part of it. The run is replaced, since files that an
# argument names may differ between jobs. What was paid for is remembered whatever the name.
measure() {
	local code=0
	run=ci-$1-$(printf '%s\n' "${@:3}" "${common[@]}" | cksum | cut -d ' ' -f 1)
	echo "::group::orbench eval --target $3"
	orbench eval --name "$run" --replace "${common[@]}" ${2:+--out "$2"} --target "${@:3}" || code=$?
	echo '::endgroup::'
	[[ $code -eq 0 ]] || fault 'The evaluation did not finish' "orbench eval of $3 ended with code $code" "$code"
}

# runs_weights TARGET ARGS... reports whether the target is a server that runs weights: other
# ones may be behind its address in every job.
runs_weights() {
	local provider=${1%%/*} arg
	provider=${provider##*@}
	[[ $provider =~ ^(ollama|vllm|vllm-classify|lmstudio|llamacpp|tei)$ ]] && return
	[[ $provider != litellm ]] || return
	for arg in "${@:2}" "${common[@]}"; do
		[[ ! $arg =~ ^--base-url=(https?:|"$provider"=) ]] || return 0
	done
	return 1
}

if [[ $base == */* || $base == *:* ]]; then # a target
	lines "${ORBENCH_BASE_ARGS:-}"
	measure base '' "$base" ${list[@]+"${list[@]}"}
	base=$run
fi
lines "${ORBENCH_TARGET_ARGS:-}"
! runs_weights "$ORBENCH_TARGET" ${list[@]+"${list[@]}"} || list+=(--fresh)
measure target "$out/report" "$ORBENCH_TARGET" ${list[@]+"${list[@]}"}
printf '%s\n' "run=$run" "report=$out/report" "summary=$out/summary.md" >>"$GITHUB_OUTPUT"

if [[ -z $base ]]; then
	orbench report "$run" --format md >"$out/summary.md"
	cat "$out/summary.md" >>"$GITHUB_STEP_SUMMARY"
	echo gate=none >>"$GITHUB_OUTPUT"
	exit
fi
code=0
orbench compare "$base" "$run" --format md ${gates[@]+"${gates[@]}"} ${compared[@]+"${compared[@]}"} >"$out/summary.md" 2>"$out/comparison.err" || code=$?
cat "$out/summary.md" >>"$GITHUB_STEP_SUMMARY"
cat "$out/comparison.err" >&2
case $code in
0) if [[ ${#gates[@]} -gt 0 ]]; then gate=passed; else gate=none; fi ;;
4) if grep -q '^gate failed:' "$out/comparison.err"; then gate=failed; else gate=undecided; fi ;;
*) fault 'The comparison failed' "orbench compare ended with code $code" "$code" ;;
esac
echo "gate=$gate" >>"$GITHUB_OUTPUT"
[[ $gate != undecided || ${ORBENCH_ALLOW_UNDECIDED:-} != true ]] || exit 0
while IFS= read -r line; do
	[[ $line != 'gate '* ]] || echo "::error title=A gate of orbench::${line//%/%25}"
done <"$out/comparison.err"
exit "$code"
