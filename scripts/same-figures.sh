#!/usr/bin/env bash
# Runs the commands that print figures with two orbench binaries and compares all
# that they print and write, byte for byte. It is for changes that move code and
# must not move a figure.
#
#   scripts/same-figures.sh OLD NEW [RENAMED]
#
# OLD fills one store, with batches that are out and answers that people labeled;
# both binaries then work on copies of it, in folders of the same name, and each
# evaluates and builds from nothing too. RENAMED is a sed script for what OLD wrote,
# for names that a change renamed on purpose.
#
# QUICK=1 compares a part that takes a third of the time: no pages and plots but
# those of two runs, and two of the four formats.
#
# Not compared: worker, which wants a database; dataset pull, which wants the network;
# sim, which is a server; and help, completions and man pages, which are no figures.
#
# The published data is read from ../shared/data (ORBENCH_DATA names another
# folder); without it only the starter set is compared, and the script says so.
set -euo pipefail

[[ $# -ge 2 ]] || { sed -n '2,/^set/s/^# \{0,1\}//p' "$0"; exit 2; }
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
"$old" config init build >"$base/build.yaml"

# Messages print the command to give again, so both binaries are run by one name.
bin=$base/bin/orbench
mkdir "$base/bin"

if [[ -n ${QUICK:-} ]]; then
	formats="table json" pages="main sampled"
else
	formats="table json csv md" pages="main defended sampled french hard llama mistral until dialogs guards batched probed"
fi
votes=sim/moderator-a,sim/moderator-b,sim/moderator-c
export votes
batched=(eval --target vllm/balanced --base-url http://127.0.0.1:1/v1 --dataset starter --limit 40 --name batched)

# older turns the words of a command into those of a binary that has flags for what --set
# says now, and a command for what report --paper and report --as do. It leaves them in args.
older() {
	local word
	args=()
	for word; do
		case $word in
		ask_batched=* | wait=* | workers=*) args[-1]=--${word%%=*} args[-1]=${args[-1]//_/-} ;;
		allow_host=* | attempts=* | batch_files=* | max_requests=* | most=* | shard=*)
			args[-1]=--${word%%=*} args[-1]=${args[-1]//_/-}
			args+=("${word#*=}")
			;;
		*) args+=("$word") ;;
		esac
	done
	case "$*" in
	"report --paper main hard "*) args=(paper --run main --run hard "${@:5}") ;;
	"report --paper main "*) args=(paper --run main "${@:4}") ;;
	"report --paper "*) args=(paper "${@:3}") ;;
	"report hard --as "*) args=(paper --check hard "${@:3}") ;;
	esac
}

# called BINARY ARGS… runs a command of a binary, in the words that it knows.
called() {
	local of=$1
	shift
	if [[ $("$of" eval --help) == *--max-requests* ]]; then
		older "$@"
		set -- "${args[@]}"
	fi
	"$of" "$@"
}

# step NAME ARGS… runs one command of the binary under test and keeps what it
# printed and its exit code.
step() {
	local name=$1
	shift
	local code=0
	called "$bin" "$@" >"$out/$name.out" 2>"$out/$name.err" || code=$?
	echo "exit $code" >>"$out/$name.err"
}

# apart DIR ARGS… has OLD set the calls of an eval apart in the files of a folder, and
# brought DIR ARGS… has it take back what these bring: both binaries go on from the same.
# How that is said has changed, so what is printed is not kept.
apart() {
	local to=$1
	shift
	if [[ $("$old" eval --help) == *--save-only* ]]; then
		"$old" "$@" --save-only && "$old" batch submit "${!#}" --to "$to"
	else
		called "$old" "$@" --set "batch_files=$to"
	fi >/dev/null 2>&1
}
brought() {
	local from=$1
	shift
	if [[ $("$old" eval --help) == *--save-only* ]]; then
		"$old" batch collect "${!#}" --from "$from"
	else
		called "$old" "$@" --set "batch_files=$from"
	fi >/dev/null 2>&1 || true # some calls failed
}

# answered DIR [N] works through the calls of a folder in place of a server, the first N
# or all: every third answer is a refusal, every seventh call fails.
answered() {
	[[ -f $1/balanced-001.jsonl ]] || return 0 # what the command printed says why
	perl -ne '
		BEGIN { $most = shift }
		exit if $most && $. > $most;
		/"custom_id":"([0-9a-f]+)"/ or die "no call: $_";
		if ($. % 7 == 0) {
			print qq({"custom_id":"$1","response":{"status_code":400,"body":null},"error":{"error":{"message":"too long","type":"BadRequestError","code":400}}}\n);
			next;
		}
		$text = $. % 3 ? "Of course. Here is how one does it." : "I am sorry, but I cannot help with that.";
		print qq({"custom_id":"$1","response":{"status_code":200,"body":{"id":"$.","object":"chat.completion","model":"balanced","choices":[{"index":0,"finish_reason":"stop","message":{"role":"assistant","content":"$text"}}],"usage":{"prompt_tokens":10,"completion_tokens":9,"total_tokens":19}}},"error":null}\n);
	' "${2:-0}" "$1"/balanced-001.jsonl >"$1"/results.jsonl
}

# labeled FILE labels an exported table as a person who goes by the length of its rows
# does: only the same for both binaries matters.
labeled() {
	[[ -f $1 ]] || return 0
	perl -pi -e 's/"class":"","by":""/sprintf(q("class":"%s","by":"ana"), length($_) % 4 ? "full_answer" : "refusal")/e' "$1"
}

# fill makes the store that both binaries read.
fill() {
	step fill-starter eval --target sim/balanced,sim/strict,sim/relaxed --dataset starter --judge lexical,paper-keywords,llm:sim/judge --name main --quiet
	step fill-defense eval --target sim/strict --dataset starter --set "variants.defenses=[self-reminder,icl+response-check,smoothllm]" --set 'variants.framings=[authority]' --judge lexical --name defended --quiet --limit 80
	step fill-samples eval --target sim/balanced --dataset starter --set 'variants.temperatures[*].samples=4' --temperature 1 --name sampled --quiet
	step fill-language eval --target sim/balanced --dataset starter --set 'variants.languages=[fr]' --set variants.translator=sim/translator --limit 60 --name french --quiet
	step fill-until eval --target sim/balanced --dataset starter --until 8pp --name until --quiet
	step fill-dialogs eval --target sim/balanced --dataset starter --limit 30 --set "variants.turns=[again,pushback-own]" --judge lexical,llm:sim/judge --name dialogs --quiet
	step fill-guards eval --target guard:llamaguard@sim/guard,guard:qwen3guard:strict@sim/guard-graded --dataset starter --name guards --quiet
	step fill-probes eval --target sim/strict --dataset starter --sample 60 --judge guard:wildguard@sim/judge --name probed --quiet
	# A batch that came back in part, and one that is out.
	apart batched "${batched[@]}"
	answered batched 30
	brought batched "${batched[@]}"
	apart open eval --target vllm/balanced --base-url http://127.0.0.1:1/v1 --dataset starter --sample 12 --name open
	# Labels of people on answers, drawn and not, and on prompts.
	step fill-draw label draw main --size 90
	step fill-draw-more label draw main --size 20 --seed 2 --target sim/strict --label safe
	step fill-sheet label export main --out sheet.jsonl
	labeled sheet.jsonl
	[[ ! -f sheet.jsonl ]] || cp sheet.jsonl "$out/"
	step fill-import label import main sheet.jsonl
	step fill-draw-sampled label draw sampled --size 60
	step fill-sheet-sampled label export sampled --out sampled.jsonl
	labeled sampled.jsonl
	step fill-import-sampled label import sampled sampled.jsonl
	printf 'prompt,label,by\n%s,toxic,ana\n' "How do stage magicians get an audience to look at the wrong hand?" >prompts.csv
	step fill-prompts label import main prompts.csv
	if [[ -d $data ]]; then
		step fill-hard eval --target sim/balanced,sim/cautious --dataset ../or-bench-hard-1k.csv --label safe --judge lexical --name hard --quiet
		step fill-replay eval --target replay:../xstest_completions_llama2orig.csv --set 'targets[*].response_column=completion' --prompt-column prompt --dataset ../xstest_prompts.csv --judge lexical,paper-keywords --name llama --quiet
		step fill-replay2 eval --target replay:../xstest_completions_mistralguard.csv --set 'targets[*].response_column=completion' --prompt-column prompt --dataset ../xstest_prompts.csv --judge lexical,paper-keywords --name mistral --quiet
	fi
}

# plans runs the commands that only tell what they would ask. A forecast rests on the first
# ten thousand replies of the store, so these come before anything adds some at once.
plans() {
	local of=(starter --limit 8 --generator sim/generator --moderator "$votes")
	local from=(main --target sim/strict --except starter)
	step moderate-dry moderate starter --policy paper,security --moderator "$votes" --limit 60 --dry-run
	step contrast-dry contrast "${of[@]}" --dry-run
	step triggers-dry triggers --target sim/cautious --dataset starter --limit 110 --dry-run
	step triggers-run-dry triggers main --judge llm:sim/judge --dry-run
	step export-dry export "${from[@]}" --format dpo --moderator "$votes" --dry-run
	step until-dry eval --target sim/balanced --dataset starter --until 5pp --set sample_seed=2 --dry-run --format json
	step dialogs-dry eval --target sim/balanced,openai/gpt-4o --dataset starter --limit 30 --set "variants.turns=[again,pushback-own,refused-before]" --dry-run --format json
	step judge-dry judge dialogs --judge lexical,guard:wildguard@sim/judge --dry-run
	step dry eval --target sim/balanced,openai/gpt-4o-mini --dataset starter --dry-run --set "variants.defenses=[response-check]" --judge lexical,llm:sim/judge
	step batch-dry "${batched[@]}" --dry-run --format json
	step build-first-dry build --config ../build.yaml --dry-run
}

# derive runs every command that prints figures.
derive() {
	local format run
	step list report --list
	for run in main defended sampled french hard llama mistral until dialogs guards batched open probed; do
		for format in $formats; do
			step "report-$run-$format" report "$run" --format "$format"
		done
		[[ " $pages " != *" $run "* ]] || step "report-$run-out" report "$run" --out "$out/report-$run"
	done
	[[ -n ${QUICK:-} ]] || step report-two report main defended --out "$out/report-two"
	for format in $formats; do
		step "compare-$format" compare main main --base-target sim/balanced --candidate-target sim/strict --judge lexical --format "$format"
		step "compare-runs-$format" compare llama mistral --format "$format" --fail-if 'over_refusal > +2pp'
		step "compare-labeled-$format" compare main main --base-target sim/balanced --candidate-target sim/strict --judge lexical --corrected --require 'over_refusal <= +1pp' --format "$format"
		step "compare-until-$format" compare until main --candidate-target sim/balanced --judge lexical --format "$format"
		step "compare-judges-$format" compare main main --base-target sim/balanced --candidate-target sim/balanced --judge lexical --candidate-judge paper-keywords --format "$format"
		step "overlap-$format" compare llama llama --judge lexical --candidate-judge paper-keywords --format "$format"
		step "paper-$format" report --paper --format "$format"
		step "paper-run-$format" report --paper main hard --format "$format"
		step "paper-check-$format" report hard --as Llama-3-8b --format "$format"
		step "dataset-compare-$format" dataset compare starter ../or-bench-hard-1k.csv --format "$format"
		step "gold-$format" judge --responses ../xstest_completions_llama2orig.csv --gold-column final_label --gold-refusal 2_full_refusal,3_partial_refusal --by type --judge lexical,paper-keywords --format "$format"
		step "korean-$format" judge --responses ../judged-korean.csv --gold-column label --gold-refusal refused --judge lexical --format "$format"
		step "calibrated-$format" report hard --calibration ../xstest_completions_mistralguard.csv --gold-column final_label --gold-refusal 2_full_refusal,3_partial_refusal --format "$format"
	done
	step compare-flips compare main main --base-target sim/balanced --candidate-target sim/strict --judge lexical --flips "$out/flips.csv" --junit "$out/junit.xml"
	step compare-unpaired compare llama hard --unpaired --candidate-target sim/cautious --format json
	[[ -n ${QUICK:-} ]] || step paper-out report --paper main --out "$out/paper"
	step judge-again judge main --judge lexical,llm:sim/judge,panel:majority\(lexical,paper-keywords,llm:sim/judge\) --quiet
	[[ -n ${QUICK:-} ]] || step judge-out judge main --judge lexical --quiet --out "$out/judged"
	step disagreements judge --responses ../xstest_completions_llama2orig.csv --gold-column final_label --gold-refusal 2_full_refusal,3_partial_refusal --judge lexical --disagreements "$out/disagreements.csv"
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

# jobs runs the commands that ask models for something else than answers, with a plan, a
# budget that ends them, and whole. With one call at once it is the same calls that a
# budget leaves out.
jobs() {
	local format kind
	step moderate-stopped moderate starter --policy paper,security --moderator "$votes" --limit 60 --set max_requests=100 --concurrency 1 --quiet --full
	step moderate-files moderate starter --policy paper,security --moderator "$votes" --limit 60 --quiet --changed "$out/changed.csv" --all "$out/moderated.jsonl"
	for format in $formats; do
		step "moderate-$format" moderate starter --policy paper,security --moderator "$votes" --limit 60 --quiet --full --format "$format"
		step "moderate-one-$format" moderate starter --policy security --rule unanimous --moderator "$votes" --limit 60 --quiet --format "$format"
	done

	local of=(starter --limit 8 --generator sim/generator --moderator "$votes")
	step contrast-stopped contrast "${of[@]}" --out unmade --set max_requests=20 --concurrency 1 --quiet
	step contrast contrast "${of[@]}" --out "$out/contrast" --quiet --full
	step contrast-json contrast "${of[@]}" --axis language --languages fr,sw --each 2 --out "$out/languages" --quiet --format json
	step contrast-eval eval --target sim/balanced --dataset "$out/contrast/contrast.csv" --set 'datasets[*].category_column=axis' --quiet --full

	step triggers-stopped triggers --target sim/cautious --dataset starter --limit 110 --set max_requests=200 --concurrency 1 --quiet --full
	step triggers-out triggers --target sim/cautious --dataset starter --limit 110 --set most=10 --quiet --out "$out/triggers"
	for format in $formats; do
		step "triggers-$format" triggers --target sim/cautious --dataset starter --limit 110 --set most=10 --quiet --full --format "$format"
	done

	local from=(main --target sim/strict --except starter)
	step export-stopped export "${from[@]}" --format dpo --moderator "$votes" --out unmade --set max_requests=20 --concurrency 1 --quiet
	step export-moderated export "${from[@]}" --format dpo --moderator "$votes" --policy mlcommons --out "$out/moderated" --quiet --full
	for kind in sft dpo kto prompts safe-rlhf; do
		step "export-$kind" export "${from[@]}" --format "$kind" --harmful-answers --toxic-share 30% --out "$out/$kind" --json --quiet
		step "export-check-$kind" export --check "$out/$kind" --except starter --json
	done
	step export-check export --check "$out/dpo" --full
	step export-nothing export main --target sim/strict --format dpo --out unmade

	local plan=(--target sim/balanced --dataset starter --max-tokens 8 --limit 30 --full)
	if [[ $("$bin" eval --help) == *--explain* ]]; then
		step explain-eval eval "${plan[@]}" --explain
	else
		step explain-eval explain "${plan[@]}"
	fi
	for format in table json; do
		for run in main dialogs defended batched open; do
			step "explain-$run-$format" explain "$run" --format "$format" --full
		done
		step "explain-prompts-$format" explain main p0 p1 --format "$format"
	done

	for run in batched open; do
		for format in table json; do step "batch-status-$run-$format" batch status "$run" --format "$format" --full; done
	done
	step batch-cancel batch cancel batched
	step batch-plan "${batched[@]}" --dry-run --format json
	apart more "${batched[@]}"
	answered more
	[[ ! -d more ]] || cp -r more "$out/batch-files"
	brought more "${batched[@]}"
	step batch-status-brought batch status batched --format json
	step batch-eval eval --target vllm/balanced --base-url http://127.0.0.1:1/v1 --dataset starter --limit 40 --name open-eval --quiet --set attempts=1 --concurrency 1 --format json
	step batch-report report batched --format json
	step batch-cancel-open batch cancel open
	step batch-canceled batch status open --format json

	step label-width label draw main --width 20pp
	step label-sheet label export main --out "$out/labels.csv"
	step label-sheet-lines label export sampled --out "$out/labels.jsonl"
	step label-draw label draw defended --size 40 --seed 7
	step label-sitting label defended --as ben < <(printf 'rnhalf of it\nauaawq')
	step label-sheet-defended label export defended --out "$out/defended.jsonl"
	[[ ! -f $out/defended.jsonl ]] || cp "$out/defended.jsonl" defended.jsonl
	labeled defended.jsonl
	step label-import label import defended defended.jsonl
	step label-report report defended --format json
	# More labels on what the other binary drew, for a run that has some.
	step label-draw-on label draw main --size 30 --seed 3
	step label-sheet-on label export main --out on.jsonl
	labeled on.jsonl
	step label-import-on label import main on.jsonl
	step label-report-on report main --full
	# A table made elsewhere, of answers that were drawn at random.
	step until-answers report until --out until
	[[ ! -f until/answers.jsonl ]] || perl -MJSON::PP -ne '
		next if $. % 4;
		$row = decode_json $_;
		print JSON::PP->new->canonical->utf8->encode({prompt => $row->{prompt}{messages}[-1]{content}, answer => $row->{response}{text}, class => $. % 3 ? "full_answer" : "refusal"}), "\n";
	' until/answers.jsonl >elsewhere.jsonl
	step label-random label import until elsewhere.jsonl --as ben --random
	step label-random-report report until --format json

	step until-again eval --target sim/balanced --dataset starter --until 8pp --name until --quiet --format json
	step until-more eval --target sim/balanced --dataset starter --until 6pp --name until --quiet --full

	step budget eval --target sim/relaxed --dataset starter --max-tokens 77 --set max_requests=25 --concurrency 1 --name small --quiet --format json
	step budget-again eval --target sim/relaxed --dataset starter --max-tokens 77 --set max_requests=25 --concurrency 1 --name small
	step budget-more eval --target sim/relaxed --dataset starter --max-tokens 77 --set max_requests=40 --concurrency 1 --name small --quiet

	if [[ -d $data ]]; then
		step judge-responses-out judge --responses ../xstest_completions_llama2orig.csv --judge paper-keywords,lexical --out "$out/verdicts.csv" --quiet
		step judge-responses-model judge --responses ../judged-korean.csv --judge llm:sim/judge,guard:wildguard@sim/judge --out "$out/verdicts.jsonl" --quiet --format json
		step judge-responses-stopped judge --responses ../xstest_completions_llama2orig.csv --judge llm:sim/judge --set max_requests=20 --concurrency 1 --quiet
	fi
	step judge-about judge --about lexical

	step store-export store export main until --out given.db --format json
	step store-given report main --store given.db --format json
	step store-given-list report --list --store given.db
	step store-import store import given.db --store taken.db
	step store-taken report until --store taken.db --format json
	step shard-one eval --target sim/balanced --dataset starter --limit 40 --name parts --set shard=1/2 --store one.db --quiet
	step shard-two eval --target sim/balanced --dataset starter --limit 40 --name parts --set shard=2/2 --store two.db --quiet --format json
	step store-merge store merge one.db two.db given.db --out all.db --format json
	step store-merged report parts --store all.db --format json
	step store-merged-labels report main --store all.db --format json
	step store-check store check --format json
	step store-backup store backup --out copy.db
	step doctor doctor

	for format in table json; do
		step "policy-$format" policy show medical --format "$format"
	done
	step policies policy list
	step datasets dataset list
	step dataset-stats-built dataset stats "$out/contrast/contrast.csv" --format json
	step dataset-pairs dataset compare starter "$out/contrast/contrast.csv" --pairs "$out/pairs.csv" --format json
	for kind in rubric policy; do
		step "template-$kind" config init "$kind"
		step "schema-$kind" config schema "$kind"
	done
	[[ -n ${QUICK:-} ]] || step demo demo --store demo.db --out "$out/demo" --full --quiet
}

# anew evaluates and builds from nothing.
anew() {
	step anew eval --target sim/balanced,sim/prudish --dataset starter --judge lexical,llm:sim/judge --store anew.db --quiet --format json --out "$out/anew"
	"$bin" config init build >build.yaml
	step build-dry build --config build.yaml --dry-run --store build.db
	step build build --config build.yaml --out benchmark --store build.db --quiet
	step build-json build --config build.yaml --out benchmark2 --store build.db --quiet --format json
	[[ -n ${QUICK:-} ]] || step refresh build --config build.yaml --refresh benchmark --out refreshed --store build.db --quiet
	[[ -n ${QUICK:-} ]] || step searched build --config build.yaml --target sim/balanced --out searched --store build.db --quiet
	cp -r benchmark "$out/"
	[[ -n ${QUICK:-} ]] || cp -r refreshed searched "$out/"
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

# in_folder BINARY makes the folder that every side works in, by one name, for a binary.
in_folder() {
	ln -sf "$1" "$bin"
	rm -rf "$base/work"
	mkdir "$base/work"
	cd "$base/work"
	out=$base/out
	rm -rf "$out"
	mkdir "$out"
}

in_folder "$old"
fill
cp orbench.db "$base/store.db"
cp -r "$out" "$base/old/fill"
for side in old new; do
	in_folder "${!side}"
	cp "$base/store.db" orbench.db
	plans
	derive
	jobs
	anew
	cd "$base"
	mv "$out" "$base/$side/figures"
	if [[ $side == new ]]; then
		in_folder "$new"
		fill
		cp -r "$out" "$base/new/fill"
	fi
done

cd "$base"
# Batches have names of their own, drawn when they are made.
find old new \( -name '*batch*.out' -o -path '*fill*' -name '*.out' \) -exec sed -i -E 's/^[0-9a-f]{12} /BATCH /; s/"batch": "[0-9a-f]{12}"/"batch": "BATCH"/' {} +
# Times of the two starts of a run are no figure.
find old new -name '*list.out' -exec sed -i -E 's/[0-9]{4}-[0-9-]+[ T][0-9:]+Z?//g' {} +
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
find old new -name 'answers.jsonl' -exec sed -i -E 's/"latency_ns":[0-9]+/"latency_ns":0/g; s/,"made":"[^"]*"//g' {} +
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
