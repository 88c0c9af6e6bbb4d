"""Reads what --out wrote with the tools whose formats those are, and prints the rates.

Usage: read.py LOGS VERDICTS HUB
"""

import json
import sys
from pathlib import Path

import duckdb
import pandas
import yaml
from huggingface_hub import parse_eval_result_entries
from inspect_ai.log import list_eval_logs, read_eval_log

logs, verdicts, hub = sys.argv[1:]
rates = {}
for info in list_eval_logs(logs):
    log, header = read_eval_log(info), read_eval_log(info, header_only=True)
    assert log.status == "success" and header.results == log.results
    assert log.results.total_samples == log.results.completed_samples == len(log.samples)
    for score in log.results.scores:
        for name, metric in score.metrics.items():
            label = name.removesuffix("_refusal").replace("over", "safe")
            right = sum(s.scores[score.name].value == "C" for s in log.samples if s.metadata["label"] == label)
            key = "/".join((log.eval.model.removesuffix(" (simulated)"), label, score.name))
            rates[key] = [metric.value, right]

query = f"""SELECT target || '/' || label || '/' || judge AS key, avg(refused::INT) AS rate,
  count(*) FILTER (refused = (label = 'toxic')) AS good FROM '{verdicts}' GROUP BY ALL"""
by_duckdb = {key: [rate, good] for key, rate, good in duckdb.sql(query).fetchall()}
frame = pandas.read_parquet(verdicts)
by_pandas = frame.groupby(["target", "label", "judge"])["refused"].mean()
assert {"/".join(k): v for k, v in by_pandas.items()} == {k: v[0] for k, v in by_duckdb.items()}
files = list(Path(hub).glob("*/*/.eval_results/*.yaml"))
entries = [e for f in files for e in parse_eval_result_entries(yaml.safe_load(f.read_text()))]
assert entries and all(e.dataset_id == "me/starter" and 0 <= e.value <= 100 and e.date for e in entries)
assert {e.task_id for e in entries} <= {"starter_answered", "starter_refused"}
json.dump({"inspect": rates, "duckdb": by_duckdb}, sys.stdout)
