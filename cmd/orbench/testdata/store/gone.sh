#!/usr/bin/env bash
# Makes gone.db.gz, which TestGone reads: studies of kinds that are gone, and runs with
# settings that are gone. The store here was written by commit d68194c2, the last that has
# them.
#
#   cmd/orbench/testdata/store/gone.sh ORBENCH
set -euo pipefail

orbench=$(realpath "${1:?the program is not named}")
here=$(cd "$(dirname "$0")" && pwd)
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
head -7 "$here/prompts.csv" >"$scratch/prompts.csv"
cd "$scratch"
export ORBENCH_STORE=orbench.db ORBENCH_CACHE=$scratch/cache

"$orbench" eval --target sim/balanced --dataset prompts.csv --label-column label --judge lexical,llm:sim/judge --set 'variants.languages=[fr]' --set variants.translator=sim/translator --name tongues --quiet
"$orbench" eval --target sim/strict --dataset starter --limit 100 --judge lexical,llm:sim/judge --name probed --quiet
"$orbench" contrast prompts.csv --axis fiction --limit 2 --generator sim/generator --moderator sim/moderator-a --out set --name wordings --quiet
"$orbench" triggers --target sim/cautious --dataset prompts.csv --label-column label --set most=1 --calls 4 --name words --quiet
"$orbench" label draw tongues --size 8
"$orbench" label export tongues --out tongues.jsonl
perl -pi -e 's/"class":"","by":""/sprintf(q("class":"%s","by":"ana"), length($_) % 4 ? "full_answer" : "refusal")/e' tongues.jsonl
"$orbench" label import tongues tongues.jsonl
"$orbench" judge tongues --judge 'counting:unable(lexical)' --quiet
"$orbench" export tongues --format prompts --name set --out data --except starter
"$orbench" store vacuum
gzip -9 -n -c orbench.db >"$here/gone.db.gz"
