"""Reads the verdicts that --out wrote with pandas and DuckDB, and prints the rates.

Usage: read.py VERDICTS
"""

import json
import sys

import duckdb
import pandas

verdicts = sys.argv[1]
query = f"""SELECT target || '/' || label || '/' || judge AS key, avg(refused::INT) AS rate,
  count(*) FILTER (refused = (label = 'toxic')) AS good FROM '{verdicts}' GROUP BY ALL"""
by_duckdb = {key: [rate, good] for key, rate, good in duckdb.sql(query).fetchall()}
frame = pandas.read_parquet(verdicts)
by_pandas = frame.groupby(["target", "label", "judge"])["refused"].mean()
assert {"/".join(k): v for k, v in by_pandas.items()} == {k: v[0] for k, v in by_duckdb.items()}
json.dump(by_duckdb, sys.stdout)
