"""Figures and verdicts as data frames."""

from __future__ import annotations

import json
import os
import subprocess
import tempfile
import warnings
from typing import (
    TYPE_CHECKING,
    Any,
    Dict,
    Iterable,
    List,
    Mapping,
    Optional,
    Sequence,
    Union,
)

from ._process import Judge, OrbenchError, command, judges_of

if TYPE_CHECKING:
    import pandas


def judge(
    texts: Iterable[str], prompts: Optional[Iterable[str]] = None, judge: Union[str, Sequence[str]] = "lexical", **options: Any
) -> pandas.DataFrame:
    """Judges answers: a row for each verdict, in the order of the texts and the judges.

    prompts are what the texts answer, as many as these; judges that are models need
    them. options are those of ``orbench judge``; see eval.
    """
    frame = _frame()
    texts = list(texts)
    asked = [""] * len(texts) if prompts is None else list(prompts)
    if len(asked) != len(texts):
        raise ValueError(f"{len(texts)} texts and {len(asked)} prompts: give as many of both")
    rows: List[Dict[str, Any]] = []
    with Judge(judge, *_arguments(options)) as by:
        futures = [by.submit(text, prompt) for text, prompt in zip(texts, asked)]
        for number, (text, prompt, future) in enumerate(zip(texts, asked, futures)):
            try:
                verdicts = future.result()
            except OrbenchError as e:
                raise OrbenchError(str(e) if e.code is not None else f"texts[{number}]: {e}", e.code) from None
            for verdict in verdicts:
                rows.append({"prompt": prompt or None, "response": text, **dict.fromkeys(_VERDICT), **verdict})
    return frame(rows, ["prompt", "response", *_VERDICT])


_VERDICT = ["judge", "class", "refused", "score", "reason", "span", "rationale", "simulated"]


def read(path: Union[str, os.PathLike[str]], judge: Union[str, Sequence[str]] = "lexical", **options: Any) -> pandas.DataFrame:
    """Reads answers that exist, and judges them: a row for each verdict.

    path is a file of answers, another tool's log or a folder of logs (docs/datasets.md);
    or a store of orbench, whose own verdicts are read and judge is not used: those of the
    run that the option name names, or else of its newest. Other options are those of
    ``orbench judge``; see eval.
    """
    path = os.fspath(path)
    if os.path.isfile(path):
        with open(path, "rb") as file:
            if file.read(16) == b"SQLite format 3\0":
                name = options.pop("name", None)
                return _run(["report", *([name] if name else []), "--store", path, *_arguments(options)])
    return _run(["judge", "--responses", path, *judges_of(judge), *_arguments(options)])


def eval(
    target: Union[str, Sequence[str]], dataset: Union[str, Sequence[str]] = "starter", judge: Union[str, Sequence[str]] = "lexical", **options: Any
) -> pandas.DataFrame:
    """Asks models, and judges their answers: a row for each verdict.

    options are those of ``orbench eval --help``: ``limit=100`` is ``--limit 100``,
    ``max_cost=2`` is ``--max-cost 2``, ``replace=True`` is ``--replace``. A list gives
    the option repeatedly, and a dict as NAME=VALUE: ``set={"timeout": "10m"}``. What was
    paid for is kept in ``store``, orbench.db in the working folder unless named.
    """
    names = [x if isinstance(x, str) else ",".join(x) for x in (target, dataset)]
    return _run(["eval", "--target", names[0], "--dataset", names[1], *judges_of(judge), *_arguments(options)])


def _arguments(options: Mapping[str, Any]) -> List[str]:
    arguments: List[str] = []
    for name, value in options.items():
        flag = "--" + name.replace("_", "-")
        if isinstance(value, Mapping):
            value = [f"{k}={v}" for k, v in value.items()]
        for one in value if isinstance(value, (list, tuple)) else [value]:
            if one is not None:
                text = str(one).lower() if isinstance(one, bool) else os.fspath(one) if isinstance(one, os.PathLike) else str(one)
                arguments.append(f"{flag}={text}")
    return arguments


def _run(arguments: List[str]) -> pandas.DataFrame:
    """Runs a command that writes verdicts, and reads these."""
    frame = _frame()
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "verdicts.jsonl")
        done = subprocess.run(
            [command(), *arguments, "--out", path], stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, encoding="utf-8",
        )
        said = done.stderr.strip()
        if done.returncode not in (0, 1) or not os.path.exists(path):
            raise OrbenchError(said or f"orbench ended with code {done.returncode}", done.returncode)
        if done.returncode == 1:
            warnings.warn("answers are missing: " + said, stacklevel=3)
        with open(path, encoding="utf-8") as file:
            rows = [json.loads(line) for line in file]
    return frame(rows, list(rows[0]) if rows else None)


def _frame() -> Any:
    try:
        import pandas
    except ImportError:
        raise ImportError("data frames need pandas: pip install pandas (orbench.Judge works without)") from None
    return lambda rows, columns: pandas.DataFrame(rows, columns=columns).convert_dtypes()
