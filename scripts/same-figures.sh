#!/usr/bin/env bash
# Compares the figures of two orbench binaries by value. It is for changes that must not
# move a figure.
#
#   scripts/same-figures.sh OLD NEW
#
# OLD fills one store. Each binary then runs the commands that show figures on a copy of
# it, and evaluates and builds from nothing. same-figures.py compares their JSON. What a
# change renamed or dropped on purpose is a line of scripts/same-figures.names.
#
# The published data is read from ../shared/data (ORBENCH_DATA names another folder);
# without it only the starter set is compared, and the script says so. KEEP=1 keeps what
# was printed.
set -euo pipefail

[[ $# -eq 2 ]] || { sed -n '2,/^set/s/^# \{0,1\}//p' "$0"; exit 2; }
old=$(realpath "$1") new=$(realpath "$2")
here=$(cd "$(dirname "$0")/.." && pwd)
data=${ORBENCH_DATA:-$here/../shared/data}
base=$(mktemp -d)
if [[ -n ${KEEP:-} ]]; then echo "kept in $base"; else trap 'rm -rf "$base"' EXIT; fi
export ORBENCH_CACHE=$base/cache ORBENCH_STORE=orbench.db
if [[ -d $data ]]; then
	# One prompt of the published file was never answered, and a replay wants all.
	grep -v "steps should I take to plan someone" "$data/xstest_prompts.csv" >"$base/xstest_prompts.csv"
	cp "$data"/{or-bench-hard-1k,xstest_completions_*,judged-korean}.csv "$base/"
else
	echo "same-figures: no $data: only the starter set is compared" >&2
fi
gold=(--gold-column final_label --gold-refusal '2_full_refusal,3_partial_refusal')
votes=sim/moderator-a,sim/moderator-b,sim/moderator-c

# step NAME ARGS… keeps what a command of the binary printed as JSON, or its error.
step() {
	local name=$1 code=0
	shift
	[[ $* == *--json* ]] || set -- "$@" --format json
	"$bin" "$@" >"$out/$name.json" 2>"$out/$name.err" || code=$?
	[[ -s $out/$name.json ]] || echo "\"exit $code: $(tail -1 "$out/$name.err" | tr '"' "'")\"" >"$out/$name.json"
}

# ask and told run a command of OLD that fills the store.
ask() { "$old" eval --quiet --name "$@" >/dev/null; }
told() { "$old" "$@" >/dev/null 2>&1; }

# labeled FILE labels an exported table as a person does who goes by the length of its rows.
labeled() { perl -pi -e 's/"class":"","by":""/sprintf(q("class":"%s","by":"ana"), length($_) % 4 ? "full_answer" : "refusal")/e' "$1"; }

fill() {
	ask main --target sim/balanced,sim/strict,sim/relaxed --dataset starter --judge lexical,paper-keywords,llm:sim/judge
	ask defended --target sim/strict --dataset starter --limit 80 --set "variants.defenses=[self-reminder,icl+response-check,smoothllm]" --set 'variants.framings=[authority]'
	ask sampled --target sim/balanced --dataset starter --set 'variants.temperatures[*].samples=4' --temperature 1
	ask until --target sim/balanced --dataset starter --until 8pp
	ask dialogs --target sim/balanced --dataset starter --limit 30 --set "variants.turns=[again,pushback-own]" --judge lexical,llm:sim/judge
	ask guards --target guard:llamaguard@sim/guard,guard:llamaguard:threshold=0.8@sim/guard --dataset starter
	for run in main defended sampled until; do
		told label draw "$run" --size 60
		told label export "$run" --out "$run.jsonl"
		labeled "$run.jsonl"
		told label import "$run" "$run.jsonl"
	done
	[[ -d $data ]] || return 0
	ask hard --target sim/balanced,sim/cautious --dataset "$base/or-bench-hard-1k.csv" --label safe
	for of in llama2orig mistralguard; do
		ask "$of" --target "replay:$base/xstest_completions_$of.csv" --dataset "$base/xstest_prompts.csv" --judge lexical,paper-keywords
	done
}

figures() {
	local run
	for run in main defended sampled until dialogs guards; do step "report-$run" report "$run"; done
	step again eval --target sim/balanced,sim/strict,sim/relaxed --dataset starter --judge lexical --dry-run
	local two=(compare main main --base-target sim/balanced --candidate-target sim/strict --judge lexical)
	step compare "${two[@]}"
	step compare-until compare until main --candidate-target sim/balanced --judge lexical --unpaired
	step paper report --paper
	step judged judge main --judge "lexical,panel:majority(lexical,paper-keywords,llm:sim/judge)" --quiet
	step stats dataset stats starter
	step moderate moderate starter --policy paper,security --moderator "$votes" --limit 60 --quiet
	for kind in sft dpo kto; do step "export-$kind" export main --target sim/strict --except starter --format "$kind" --out "$kind" --json; done
	step anew eval --target sim/balanced,sim/prudish --dataset starter --judge lexical,llm:sim/judge --store anew.db --quiet
	"$old" config init build >build.yaml
	step build build --config build.yaml --out benchmark --store build.db --quiet
	for set in hard toxic; do step "built-$set" dataset stats "benchmark/$set.csv"; done
	[[ -d $data ]] || return 0
	for run in hard llama2orig mistralguard; do step "report-$run" report "$run"; done
	step compare-runs compare llama2orig mistralguard
	step overlap compare llama2orig llama2orig --judge lexical --candidate-judge paper-keywords
	step gold judge --responses "$base/xstest_completions_llama2orig.csv" "${gold[@]}" --judge lexical,paper-keywords
	step korean judge --responses "$base/judged-korean.csv" --gold-column label --gold-refusal refused --judge lexical
}

mkdir "$base/store" && cd "$base/store" && fill
for side in old new; do
	bin=$base/orbench out=$base/$side
	# Both have one name and work in one folder, since JSON has commands and paths.
	ln -sf "${!side}" "$bin"
	rm -rf "$base/work"
	mkdir "$out" "$base/work"
	cp "$base/store/orbench.db" "$base/work"
	cd "$base/work" && figures
done
python3 "$here/scripts/same-figures.py" "$base/old" "$base/new" "$here/scripts/same-figures.names"
