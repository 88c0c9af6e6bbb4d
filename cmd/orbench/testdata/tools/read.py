"""Reads what --out wrote with the tools whose formats those are, and prints the rates.

Usage: read.py VERDICTS HUB
"""

import json
import sys
from pathlib import Path

import duckdb
import pandas
import yaml
from huggingface_hub import parse_eval_result_entries

verdicts, hub = sys.argv[1:]
query = f"""SELECT target || '/' || label || '/' || judge AS key, avg(refused::INT) AS rate,
  count(*) FILTER (refused = (label = 'toxic')) AS good FROM '{verdicts}' GROUP BY ALL"""
by_duckdb = {key: [rate, good] for key, rate, good in duckdb.sql(query).fetchall()}
frame = pandas.read_parquet(verdicts)
by_pandas = frame.groupby(["target", "label", "judge"])["refused"].mean()
assert {"/".join(k): v for k, v in by_pandas.items()} == {k: v[0] for k, v in by_duckdb.items()}
files = list(Path(hub).glob("*/*/.eval_results/*.yaml"))
entries = [e for f in files for e in parse_eval_result_entries(yaml.safe_load(f.read_text()))]
assert entries and all(e.dataset_id == "starter" and 0 <= e.value <= 100 and e.date for e in entries)
assert {e.task_id for e in entries} <= {"starter_answered", "starter_refused"}
json.dump({"duckdb": by_duckdb}, sys.stdout)
