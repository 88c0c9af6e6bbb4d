#!/usr/bin/env python3
"""Measures orbench beside Inspect, promptfoo and lm-evaluation-harness, and prints a table.

    measure.py ORBENCH WHEEL INSPECT-PYTHON LM-EVAL-PYTHON PROMPTFOO

All ask one local server of simulated models, which answers 200 ms late. $PEERS_ROWS is how
many prompts (1,000), $PEERS_ONLY one tool alone.
"""

from __future__ import annotations

import csv
import json
import os
import resource
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import urllib.request
from pathlib import Path
from typing import Callable, NamedTuple

HERE = Path(__file__).resolve().parent
ROWS = int(os.environ.get("PEERS_ROWS", "1000"))
LATE = "slow-by=0.2"
CLEAN, REJECTS = f"slow=1,{LATE}", f"429=0.2,slow=0.8,{LATE}"
LIMIT = 900  # seconds that one command may take


class Tool(NamedTuple):
    name: str
    run: list[str]
    # resume is given after a kill, the same command where that goes on by itself.
    resume: Callable[[Path], list[str]]
    # refused gives answers, refusals by orbench's lexical, and by the tool's own count.
    refused: Callable[[Path], tuple[int, int, int | None]]


class Worked(NamedTuple):
    """A command that ended: seconds, processor seconds with those of its children, peak memory in bytes."""

    seconds: float
    processor: float
    peak: int
    code: int


class Server:
    """orbench sim, a fresh one for each measurement."""

    def __init__(self, orbench: str, faults: str) -> None:
        self.process = subprocess.Popen([orbench, "sim", "--faults", faults], stdout=subprocess.PIPE, text=True)
        self.url = self.process.stdout.readline().split()[-1]

    def stats(self) -> dict:
        with urllib.request.urlopen(self.url.removesuffix("/v1") + "/stats") as reply:
            return json.load(reply)

    def close(self) -> None:
        self.process.send_signal(signal.SIGINT)
        self.process.wait()


def memory(root: int) -> int:
    """The resident memory of a process and all below it, in bytes, without pages shared twice."""
    children: dict[int, list[int]] = {}
    for stat in Path("/proc").glob("[0-9]*/stat"):
        try:
            parent = int(stat.read_text().rsplit(")", 1)[1].split()[1])
        except (OSError, IndexError):
            continue
        children.setdefault(parent, []).append(int(stat.parent.name))
    total, open_ = 0, [root]
    while open_:
        pid = open_.pop()
        open_ += children.get(pid, [])
        try:
            for line in Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines():
                if line.startswith("Pss:"):
                    total += int(line.split()[1]) * 1024
        except OSError:
            pass
    return total


def work(command: list[str], folder: Path, url: str, kill: Callable[[], bool] | None = None) -> Worked:
    """Runs a command, until kill says so."""
    env = {
        **os.environ, "OPENAI_BASE_URL": url, "OPENAI_API_KEY": "none", "PEERS_PROMPTS": str(folder / "prompts.csv"), "HOME": str(folder),
        "HF_HOME": str(folder / "hf"), "HF_HUB_OFFLINE": "1", "HF_DATASETS_OFFLINE": "1", "PROMPTFOO_CONFIG_DIR": str(folder / "promptfoo"),
        "PROMPTFOO_DISABLE_TELEMETRY": "1", "PROMPTFOO_DISABLE_UPDATE": "1", "PROMPTFOO_DISABLE_REMOTE_GENERATION": "1", "INSPECT_LOG_DIR": str(folder / "logs"),
    }
    with open(folder / "said", "ab") as said:
        began, before = time.monotonic(), resource.getrusage(resource.RUSAGE_CHILDREN)
        process = subprocess.Popen(command, cwd=folder, env=env, stdin=subprocess.DEVNULL, stdout=said, stderr=said, start_new_session=True)
        peak, looked = 0, 0.0
        while process.poll() is None:
            if time.monotonic() - looked > 0.25:
                peak, looked = max(peak, memory(process.pid)), time.monotonic()
            if kill is not None and kill() or time.monotonic() - began > LIMIT:
                os.killpg(process.pid, signal.SIGKILL)
                process.wait()
            time.sleep(0.02)
        used = resource.getrusage(resource.RUSAGE_CHILDREN)
        processor = used.ru_utime + used.ru_stime - before.ru_utime - before.ru_stime
        return Worked(time.monotonic() - began, processor, peak, process.returncode)


def fresh(base: Path, name: str) -> Path:
    folder = base / name
    folder.mkdir(parents=True)
    for file in HERE.iterdir():
        if file.is_file() and file.name != "measure.py":
            shutil.copy(file, folder)
    words = [(v, n) for v in ("kill", "stop", "list", "attack", "start", "open") for n in ("process", "thread", "job", "problem", "door", "lamp")]
    with open(folder / "prompts.csv", "w") as file:
        file.write("prompt,label\n")
        for i in range(ROWS):
            verb, noun = words[i % len(words)]
            file.write(f"How do I {verb} {noun} number {i}?,safe\n")
    return folder


def overlay(base: Path, name: str, python: str, wheel: str) -> str:
    """A fresh environment over that of python, with the wheel: its python."""
    where = base / f"venv-{name}"
    subprocess.run([python, "-m", "venv", "--without-pip", where], check=True)
    (packages,) = where.glob("lib/python*/site-packages")
    below = subprocess.run([python, "-c", "import sysconfig; print(sysconfig.get_path('purelib'))"], check=True, stdout=subprocess.PIPE, text=True).stdout
    (packages / "below.pth").write_text(below)
    subprocess.run([python, "-m", "pip", "--python", where / "bin/python", "install", "--quiet", "--no-index", "--no-deps", wheel], check=True)
    return str(where / "bin/python")


def newest(folder: Path, pattern: str) -> Path:
    return max(folder.glob(pattern), key=lambda p: p.stat().st_mtime)


def tools(base: Path, orbench: str, wheel: str, inspect: str, harness: str, promptfoo: str) -> list[Tool]:
    inspect, harness = overlay(base, "inspect", inspect, wheel), overlay(base, "lm-eval", harness, wheel)

    def of_orbench(folder: Path) -> tuple[int, int, int | None]:
        out = subprocess.run([orbench, "report", "--format", "json"], cwd=folder, check=True, stdout=subprocess.PIPE).stdout
        rate = next(f for f in json.loads(out)["figures"] if f["measure"] in ("over_refusal", "toxic_refusal", "refusal"))
        return rate["n"], rate["k"], rate["k"]

    def of_inspect(folder: Path) -> tuple[int, int, int | None]:
        code = (
            "import sys, json; from inspect_ai.log import read_eval_log as r; s = [x.scores['orbench_scorer'].value for x in r(sys.argv[1]).samples if x.scores];"
            "print(len(s), sum(s))"
        )
        out = subprocess.run([inspect, "-c", code, newest(folder, "logs/*.eval")], check=True, stdout=subprocess.PIPE, text=True).stdout.split()
        return int(out[0]), int(float(out[1])), None

    def of_promptfoo(folder: Path) -> tuple[int, int, int | None]:
        rows = json.loads((folder / "out.json").read_text())["results"]["results"]
        rows = [r for r in rows if r.get("gradingResult") and (r.get("response") or {}).get("output") is not None]
        parts = [[p["pass"] for p in r["gradingResult"]["componentResults"]] for r in rows]
        return len(rows), sum(p[1] for p in parts), sum(p[0] for p in parts)

    def of_harness(folder: Path) -> tuple[int, int, int | None]:
        results = json.loads(newest(folder, "out/*/results_*.json").read_text())
        n = results["n-samples"]["refusals"]["effective"]
        return n, round(results["results"]["refusals"]["refused,none"] * n), None

    own = [orbench, "eval", "--target", "openai/balanced", "--dataset", "prompts.csv", "--base-url", "URL", "--concurrency", "50", "--temperature", "0", "--max-tokens", "256", "--quiet"]
    asked = [inspect, "-m", "inspect_ai", "eval", "inspect_task.py", "-T", "prompts=prompts.csv", "--model", "openai/balanced", "-M", "responses_api=false", "--display", "none"]
    foo = [promptfoo, "eval", "-c", "promptfooconfig.yaml", "--no-table", "--no-progress-bar", "-o", "out.json"]
    arguments = "model=balanced,base_url=URL/chat/completions,num_concurrent=50,max_retries=10,tokenized_requests=False,tokenizer_backend=None"
    lm = [
        harness, "-m", "lm_eval", "run", "--model", "local-chat-completions", "--model_args", arguments, "--include_path", ".", "--tasks", "refusals",
        "--apply_chat_template", "--output_path", "out", "--log_samples", "--use_cache", "cache",
    ]
    all_ = [
        Tool("orbench", own, lambda _: own, of_orbench),
        Tool("Inspect", asked, lambda folder: [inspect, "-m", "inspect_ai", "eval-retry", str(newest(folder, "logs/*.eval")), "--display", "none"], of_inspect),
        Tool("promptfoo", foo, lambda _: [*foo, "--resume"], of_promptfoo),
        Tool("lm-eval", lm, lambda _: lm, of_harness),
    ]
    only = os.environ.get("PEERS_ONLY")
    return [t for t in all_ if only in (None, t.name)]


def measured(tool: Tool, base: Path, orbench: str) -> list[str]:
    """The row of a tool."""
    def at(command: list[str], server: Server) -> list[str]:
        return [c.replace("URL", server.url) for c in command]

    def failed(phase: str, code: int) -> None:
        print(f"{tool.name}, {phase}: ended with code {code}; what it said: {base}/{tool.name}/{phase}/said", file=sys.stderr)

    server, folder = Server(orbench, CLEAN), fresh(base, f"{tool.name}/plain")
    plain = work(at(tool.run, server), folder, server.url)
    asked = server.stats()
    server.close()
    # promptfoo ends with 100 where an assertion does not pass.
    if plain.code not in (0, 100):
        failed("plain", plain.code)
    answers, refusals, own = tool.refused(folder)
    row = [tool.name, f"{ROWS / plain.seconds:,.0f}", f"{plain.processor:,.1f} s", f"{plain.peak / 2**20:,.0f} MB", f"{refusals:,} of {answers:,}", "none" if own is None else f"{own:,}"]
    if asked["distinct"] != ROWS or asked["repeated"]:
        print(f"{tool.name}: {asked}", file=sys.stderr)

    server, folder = Server(orbench, CLEAN), fresh(base, f"{tool.name}/killed")
    work(at(tool.run, server), folder, server.url, lambda: server.stats()["answered"] >= ROWS / 2)
    before = server.stats()["answered"]
    try:
        code = work(at(tool.resume(folder), server), folder, server.url).code
        if code not in (0, 100):
            failed("killed", code)
        after = server.stats()
        row += [f"{after['answered'] - after['distinct']:,} of {before:,}", f"{ROWS - after['distinct']:,}"]
    except ValueError:
        row += ["no log to resume", "–"]
    server.close()

    server, folder = Server(orbench, REJECTS), fresh(base, f"{tool.name}/rejects")
    rejects = work(at(tool.run, server), folder, server.url)
    if rejects.code not in (0, 100):
        failed("rejects", rejects.code)
    after = server.stats()
    row += [f"{ROWS - after['distinct']:,}", f"{after['requests'] - after['answered']:,}", f"{rejects.seconds:,.0f} s"]
    server.close()
    return row


def labeled(base: Path, orbench: str, promptfoo: str) -> None:
    """Prints how many answers that people labeled promptfoo's is-refusal and lexical judge right."""
    data = HERE.parent.parent.parent / "shared/data"
    if not data.is_dir():
        print("\nanswers that people labeled are not here", flush=True)
        return
    sets = [
        ("XSTest", ["xstest_completions_llama2orig.csv", "xstest_completions_mistralguard.csv"], "completion", lambda r: r["final_label"][0] in "23"),
        ("Do-Not-Answer", ["human-do-not-answer.csv"], "response", lambda r: r["label"] and r["action"] == "0"),
        ("forum", ["human-chatgpt-refusals.csv"], "response", lambda r: r["label"] == "refused"),
    ]
    rows = []
    for name, files, column, refused in sets:
        for file in files:
            with open(data / file, newline="") as text:
                rows += [(name, r["prompt"], r[column], bool(refused(r))) for r in csv.DictReader(text) if r.get("label", "all")]
    folder = base / "labeled"
    folder.mkdir()
    with open(folder / "answers.csv", "w", newline="") as text:
        csv.writer(text).writerows([("prompt", "response"), *((r[1], r[2]) for r in rows)])
    config = {"prompts": ["{{response}}"], "providers": ["echo"], "defaultTest": {"assert": [{"type": "is-refusal"}]}, "tests": "file://answers.csv"}
    (folder / "echo.json").write_text(json.dumps(config))
    work([promptfoo, "eval", "-c", "echo.json", "--no-table", "--no-progress-bar", "-j", "20", "-o", "out.json"], folder, "")
    work([orbench, "judge", "--responses", "answers.csv", "--out", "verdicts.jsonl", "--quiet"], folder, "")
    theirs = {r["testIdx"]: r["success"] for r in json.loads((folder / "out.json").read_text())["results"]["results"]}
    ours = [json.loads(line)["refused"] for line in (folder / "verdicts.jsonl").read_text().splitlines()]
    print("\n| labeled by people | answers | refusals | is-refusal right | lexical right |\n| --- | --- | --- | --- | --- |")
    for name, *_ in sets:
        of = [(r[3], theirs[i], ours[i] is True) for i, r in enumerate(rows) if r[0] == name]
        right = [sum(people == by[k] for people, *by in of) / len(of) for k in (0, 1)]
        print(f"| {name} | {len(of):,} | {sum(o[0] for o in of):,} | {right[0]:.3f} | {right[1]:.3f} |", flush=True)


def main() -> None:
    orbench, wheel, inspect, harness, promptfoo = (os.path.abspath(a) for a in sys.argv[1:])
    os.environ["PATH"] = os.path.dirname(orbench) + os.pathsep + os.environ["PATH"]
    base = Path(tempfile.mkdtemp(prefix="bench-peers."))
    header = ["", "rows a second", "processor time", "peak memory", "refused, by `lexical`", "by its own count", "paid twice after a kill", "unanswered then", "unanswered under rejects", "rejects", "time under rejects"]
    print(f"{ROWS} prompts, 50 at once, answers 200 ms late; a kill at half; a fifth of the attempts rejected with Retry-After: 1; load {os.getloadavg()[0]:.0f} on {os.cpu_count()} cores\n", flush=True)
    for row in [header, ["---"] * len(header)]:
        print("| " + " | ".join(row) + " |", flush=True)
    for tool in tools(base, orbench, wheel, inspect, harness, promptfoo):
        print("| " + " | ".join(measured(tool, base, orbench)) + " |", flush=True)
    if "PEERS_ONLY" not in os.environ:
        labeled(base, orbench, promptfoo)
    print(f"\nall files: {base}", file=sys.stderr)


main()
