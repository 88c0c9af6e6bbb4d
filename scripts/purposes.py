#!/usr/bin/env python3
"""Print how many lines of code each purpose has, beside what it may have.

The ruler is ../shared/purposes: what each file of d68194c2 was for, and how many
lines each purpose may have. A file that moved keeps its purpose (git tells where it
came from), unless OTHER says why it has another. A new file has the purpose named in NEW,
or else the one that most lines of its folder, or of the folder that it came from, have.

A line counts if it is neither blank nor only a comment; tests do not count.
"""

import collections
import csv
import pathlib
import re
import subprocess
import sys

BASE = "d68194c2"
ROOT = pathlib.Path(__file__).resolve().parent.parent
RULER = ROOT.parent / "shared" / "purposes"

# The purposes of new files whose folder serves several, or none that the ruler has.
NEW = {
    "internal/facet/refused.go": "logs: masking, clusters, repeats, regression set",
    "internal/logs/mask_lists.go": "logs: masking, clusters, repeats, regression set",
    "internal/logs/mask_rules.go": "logs: masking, clusters, repeats, regression set",
    "internal/score/drawn.go": "labels: draw, correct, sheets, people",
    "internal/store/watch.go": "live fill: lanes, claims, gate, retry",
    **dict.fromkeys(("internal/versus/doc.go", "internal/versus/judge.go", "internal/versus/pairs.go", "internal/score/said.go"), "compare: paired differences, flips"),
    **dict.fromkeys(("internal/facet/doc.go", "internal/facet/facet.go"), "index: figures, rows, pages"),
    **dict.fromkeys(("internal/figure/doc.go", "internal/figure/figure.go", "internal/figure/measure.go"), "score core: rates, tallies, aggregates"),
    "internal/versus/labels.go": "compare: gates, JUnit, decide",
    "internal/run/again.go": "explain / identity (why asked again)",
    **dict.fromkeys(("internal/reply/doc.go", "internal/reply/end.go", "internal/reply/reply.go", "internal/reply/thinking.go", "internal/reply/unwrap.go", "internal/reply/withheld.go"), "one reading of replies"),
}

# Files that the ruler counts for a purpose that is gone, though they serve another.
OTHER = {
    # It finds the language that most answers are in, since a judge's known error is that in one
    # language. It never translated a prompt.
    "internal/score/language.go": "judge error in every interval",
}


def git(*args):
    return subprocess.run(["git", "-C", ROOT, *args], check=True, capture_output=True, text=True).stdout


def code_lines(path):
    text = (ROOT / path).read_text(encoding="utf-8")
    return sum(1 for line in text.splitlines() if not re.match(r"\s*(//.*)?$", line))


def rows(name):
    with open(RULER / name, encoding="utf-8", newline="") as f:
        return list(csv.reader(f, delimiter="\t"))[1:]


def main():
    if not RULER.is_dir():
        sys.exit(f"{RULER} is missing; the purposes are measured against it")
    purpose_of = {path: purpose for path, _, purpose in rows("files.tsv")}
    limits = [(purpose, int(before), limit) for purpose, before, limit in rows("purposes.tsv")]
    came_from = {}
    for line in git("diff", "--no-color", "-M40%", "-l0", "--diff-filter=R", "--name-status", BASE).splitlines():
        _, old, new = line.split("\t")
        came_from[new] = old
    files = [f for f in git("ls-files", "--cached", "--others", "--exclude-standard", "*.go").splitlines()
             if not f.endswith("_test.go") and (ROOT / f).exists()]

    # What most lines of a folder are for, of the files whose purpose is known.
    known = {f: OTHER.get(f) or purpose_of.get(came_from.get(f, f)) for f in files}
    folders = collections.defaultdict(collections.Counter)
    for f in files:
        if known[f]:
            folders[str(pathlib.Path(f).parent)][known[f]] += code_lines(f)

    now, guessed, lost = collections.Counter(), [], []
    for f in files:
        purpose = known[f] or NEW.get(f)
        if not purpose:
            folder = folders.get(str(pathlib.Path(f).parent))
            if not folder:
                lost.append(f)
                continue
            purpose = folder.most_common(1)[0][0]
            guessed.append((f, purpose))
        now[purpose] += code_lines(f)

    over = 0
    print(f"{'before':>7} {'may have':>9} {'now':>7}  purpose")
    for purpose, before, limit in limits:
        mark = ""
        if limit != "" and now[purpose] > int(limit):
            mark, over = "  over", over + 1
        print(f"{before:7,} {limit:>9} {now[purpose]:7,}  {purpose}{mark}")
    for purpose in sorted(set(now) - {p for p, _, _ in limits}):
        print(f"{0:7,} {'new':>9} {now[purpose]:7,}  {purpose}")
    total = sum(code_lines(f) for f in files)
    print(f"{sum(b for _, b, _ in limits):7,} {'':9} {sum(now.values()):7,}  sum; all files have {total:,}")
    for f, purpose in guessed:
        print(f"new, taken by its folder: {f}: {purpose}")
    for f in lost:
        print(f"new, without a purpose: {f}; name it in NEW")
    print(f"{over} purposes are over what they may have")


if __name__ == "__main__":
    main()
