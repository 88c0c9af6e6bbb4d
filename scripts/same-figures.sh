#!/usr/bin/env bash
# Runs the commands that print figures with two orbench binaries and compares all
# that they print and write, byte for byte. It is for changes that move code and
# must not move a figure.
#
#   scripts/same-figures.sh OLD NEW [RENAMED]
#
# OLD fills one store; both binaries then work on copies of it, in folders of the
# same name, and each evaluates and builds from nothing too. RENAMED is a sed
# script for what OLD wrote, for names that a change renamed on purpose.
#
# QUICK=1 compares a part that takes a third of the time: no pages and plots but
# those of two runs, and two of the four formats.
#
# The published data is read from ../shared/data (ORBENCH_DATA names another
# folder); without it only the starter set is compared, and the script says so.
set -euo pipefail

[[ $# -ge 2 ]] || { sed -n '2,17s/^# \{0,1\}//p' "$0"; exit 2; }
old=$(realpath "$1") new=$(realpath "$2")
renamed=${3:+$(realpath "$3")}
here=$(cd "$(dirname "$0")/.." && pwd)
data=${ORBENCH_DATA:-$here/../shared/data}
base=$(mktemp -d)
if [[ -n ${KEEP:-} ]]; then echo "kept in $base"; else trap 'rm -rf "$base"' EXIT; fi
mkdir -p "$base/old" "$base/new" "$base/work"
export ORBENCH_CACHE=$base/cache ORBENCH_STORE=orbench.db OPENAI_API_KEY=unused

if [[ -d $data ]]; then
	data=$(realpath "$data")
	cp "$data"/*.csv "$base/"
	# One prompt of the published file was never answered, and a replay wants all.
	grep -v "steps should I take to plan someone" "$data/xstest_prompts.csv" >"$base/xstest_prompts.csv"
else
	echo "same-figures: no $data: only the starter set is compared" >&2
fi

"$old" config init experiment >"$base/experiment.yaml"

if [[ -n ${QUICK:-} ]]; then formats="table json" pages="main sampled"; else formats="table json csv md" pages="main defended sampled french hard llama mistral"; fi

# step NAME ARGS… runs one command of the binary under test and keeps what it
# printed and its exit code.
step() {
	local name=$1
	shift
	local code=0
	"$bin" "$@" >"$out/$name.out" 2>"$out/$name.err" || code=$?
	echo "exit $code" >>"$out/$name.err"
}

# fill makes the store that both binaries read.
fill() {
	step fill-starter eval --target sim/balanced,sim/strict,sim/relaxed --dataset starter --judge lexical,paper-keywords,llm:sim/judge --name main --quiet
	step fill-defense eval --target sim/strict --dataset starter --defense self-reminder,icl+response-check,smoothllm --framing authority --judge lexical --name defended --quiet --limit 80
	step fill-samples eval --target sim/balanced --dataset starter --samples 4 --temperature 1 --name sampled --quiet
	step fill-language eval --target sim/balanced --dataset starter --language fr --translator sim/translator --limit 60 --name french --quiet
	if [[ -d $data ]]; then
		step fill-hard eval --target sim/balanced,sim/cautious --dataset ../or-bench-hard-1k.csv --label safe --judge lexical --name hard --quiet
		step fill-replay eval --target replay:../xstest_completions_llama2orig.csv --response-column completion --prompt-column prompt --dataset ../xstest_prompts.csv --judge lexical,paper-keywords --name llama --quiet
		step fill-replay2 eval --target replay:../xstest_completions_mistralguard.csv --response-column completion --prompt-column prompt --dataset ../xstest_prompts.csv --judge lexical,paper-keywords --name mistral --quiet
	fi
}

# derive runs every command that prints figures.
derive() {
	local format run
	step list report --list
	for run in main defended sampled french hard llama mistral; do
		for format in $formats; do
			step "report-$run-$format" report "$run" --format "$format"
		done
		[[ " $pages " != *" $run "* ]] || step "report-$run-out" report "$run" --out "$out/report-$run"
	done
	[[ -n ${QUICK:-} ]] || step report-two report main defended --out "$out/report-two"
	for format in $formats; do
		step "compare-$format" compare main main --base-target sim/balanced --candidate-target sim/strict --judge lexical --format "$format"
		step "compare-runs-$format" compare llama mistral --format "$format" --fail-if 'over_refusal > +2pp'
		step "compare-judges-$format" compare main main --base-target sim/balanced --candidate-target sim/balanced --judge lexical --candidate-judge paper-keywords --format "$format"
		step "overlap-$format" judge llama --judge lexical,paper-keywords --overlap --format "$format"
		step "paper-$format" paper --format "$format"
		step "paper-run-$format" paper --run main --run hard --format "$format"
		step "paper-check-$format" paper --check hard --as Llama-3-8b --format "$format"
		step "dataset-compare-$format" dataset compare starter ../or-bench-hard-1k.csv --format "$format"
		step "gold-$format" judge --responses ../xstest_completions_llama2orig.csv --gold-column final_label --gold-refusal 2_full_refusal,3_partial_refusal --by type --judge lexical,paper-keywords --format "$format"
		step "korean-$format" judge --responses ../judged-korean.csv --gold-column label --gold-refusal refused --judge lexical --format "$format"
		step "calibrated-$format" report hard --calibration ../xstest_completions_mistralguard.csv --gold-column final_label --gold-refusal 2_full_refusal,3_partial_refusal --format "$format"
	done
	step compare-flips compare main main --base-target sim/balanced --candidate-target sim/strict --judge lexical --flips "$out/flips.csv" --junit "$out/junit.xml"
	step compare-unpaired compare llama hard --unpaired --candidate-target sim/cautious --format json
	[[ -n ${QUICK:-} ]] || step paper-out paper --out "$out/paper" --run main
	step judge-again judge main --judge lexical,llm:sim/judge,panel:majority\(lexical,paper-keywords,llm:sim/judge\) --quiet
	[[ -n ${QUICK:-} ]] || step judge-out judge main --judge lexical --quiet --out "$out/judged"
	step disagreements judge --responses ../xstest_completions_llama2orig.csv --gold-column final_label --gold-refusal 2_full_refusal,3_partial_refusal --judge lexical --disagreements "$out/disagreements.csv"
	step dry eval --target sim/balanced,openai/gpt-4o-mini --dataset starter --dry-run --defense response-check --judge lexical,llm:sim/judge
	step show dataset show starter --format json
	step stats dataset stats starter
	step stats-json dataset stats ../or-bench-hard-1k.csv --label safe --format json
	step experiment eval --config ../experiment.yaml --quiet --format json
	step experiment-dry eval --config ../experiment.yaml --dry-run --format json
	for format in build experiment; do
		step "template-$format" config init "$format"
		step "schema-$format" config schema "$format"
	done
}

# anew evaluates and builds from nothing.
anew() {
	step anew eval --target sim/balanced,sim/prudish --dataset starter --judge lexical,llm:sim/judge --store anew.db --quiet --format json --out "$out/anew"
	"$bin" config init build >build.yaml
	step build-dry build --config build.yaml --dry-run --store build.db
	step build build --config build.yaml --out benchmark --store build.db --quiet
	step build-json build --config build.yaml --out benchmark2 --store build.db --quiet --format json
	[[ -n ${QUICK:-} ]] || step refresh build --config build.yaml --refresh benchmark --out refreshed --store build.db --quiet
	[[ -n ${QUICK:-} ]] || step steered build --config build.yaml --target sim/balanced --generations 2 --out steered --store build.db --quiet
	cp -r benchmark "$out/"
	[[ -n ${QUICK:-} ]] || cp -r refreshed steered "$out/"
	step eval-built eval --target sim/balanced --dataset benchmark/hard.csv,benchmark/toxic.csv --store anew.db --quiet --format json
	step draw audit draw benchmark --size 60 --raters ana,ben --out sample.csv
	# Two people who label by the length of the prompt: only the same for both binaries matters.
	if [[ -s sample.csv ]]; then
		awk -F, 'NR==1{print; next} {gsub(/,,$/, length($0)%3 ? ",safe,safe" : ",toxic,safe"); print}' sample.csv >labels.csv
		cp sample.csv "$out/"
		for format in $formats; do
			step "audit-$format" audit report labels.csv --build benchmark --format "$format"
		done
	fi
	step plan audit plan --half-width 5pp --expect-fpr 16% --population 80359
	step plan-json audit plan --half-width 5pp --format json
}

# in_folder SIDE makes the folder that every side works in, by one name.
in_folder() {
	rm -rf "$base/work"
	mkdir "$base/work"
	cd "$base/work"
	out=$base/out
	rm -rf "$out"
	mkdir "$out"
}

bin=$old
in_folder
fill
cp orbench.db "$base/store.db"
cp -r "$out" "$base/old/fill"
for side in old new; do
	bin=${!side}
	in_folder
	cp "$base/store.db" orbench.db
	derive
	anew
	cd "$base"
	mv "$out" "$base/$side/figures"
	if [[ $side == new ]]; then
		bin=$new
		in_folder
		fill
		cp -r "$out" "$base/new/fill"
	fi
done

cd "$base"
# Times of the two starts of a run are no figure.
find old new -name 'list.out' -exec sed -i -E 's/[0-9]{4}-[0-9-]+[ T][0-9:]+Z?//g' {} +
# How a run was made names the program, and the time of its last paid call.
find old new -name '*.png' -exec perl -0777 -pi -e 's/.{4}iTXtDescription\0{5}.*?(?=.{4}IDAT)//s' {} +
for side in old new; do
	find $side -type f ! -name '*.png' -print0 | VERSION=$("${!side}" version | cut -d' ' -f2) xargs -0 perl -pi -e '
		($escaped = $ENV{VERSION}) =~ s/([^\w.])/\\$1/g;
		s/(?:\Q$ENV{VERSION}\E|\Q$escaped\E)(?: [0-9a-f]{12})?/VERSION/g;
		s/20\d\d-\d\d-\d\d[T ]\d\d:\d\d:\d\d(?:Z| UTC)/TIME/g'
done
# What a folder says of its files are hashes of pages and records with such names and times.
find old new -name 'folder.json' -exec sed -i -E 's/"[0-9a-f]{64}"/"HASH"/' {} +
# Progress, speed and duration in messages are none either.
find old new -name '*.err' -exec sed -i -E 's/[0-9.]+(ms|s)\b/TIME/g; s/[0-9,]+\/s/RATE/g' {} +
find old new -name 'answers.jsonl' -exec sed -i -E 's/"latency_ns":[0-9]+/"latency_ns":0/g' {} +
# Whether one of two equal requests was sent or found depends on the moment.
find old new -path '*fill*' -name '*.out' -exec sed -i -E 's/^Cost: .*/Cost: TIME/' {} +
if [[ -n $renamed ]]; then
	find old -type f \( -name '*.out' -o -name '*.err' -o -name '*.json' -o -name '*.jsonl' -o -name '*.html' -o -name '*.csv' -o -name '*.md' -o -name '*.yaml' \) -exec sed -i -E -f "$renamed" {} +
fi
files=$(find new -type f | wc -l)
if diff -rq old new >differences.txt; then
	echo "same: $files files"
else
	cat differences.txt
	echo "differ: $(wc -l <differences.txt) of $files files; see them with KEEP=1" >&2
	exit 1
fi
