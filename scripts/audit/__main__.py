#!/usr/bin/env python3
"""Computes the figures of a report or a comparison again, from what was exported, by code of
its own.

  scripts/audit report FOLDER [STORE]          what "orbench report --out FOLDER" wrote
  scripts/audit compare FILE STORE FOLDER...   what "orbench compare --format json" printed, of
                                               runs that one folder reports, or one each

Labels come from the SQLite file STORE. It prints how many numbers it compared, and each that
differs: closed forms by more than 1e-9, a range of a new model by more than 1e-6, a drawn
interval by more than three Monte Carlo errors. It needs NumPy and SciPy."""

import sys

import numpy as np

import compare
import formulas
from report import KEYS, Report

# Not computed again: what provider and server say, which no figure rests on.
TOLD = {"served_by", "blocked_for", "read", "reread", "finding"}
OF_JUDGES = {"judge_recall", "judge_specificity"}


class Check:
    def __init__(self):
        self.compared, self.faults = 0, []

    def same(self, what, got, want, tolerance=1e-9):
        self.compared += 1
        if got is None or want is None:
            fine = got is None and want is None
        elif isinstance(want, str):
            fine = got == want
        else:
            fine = abs(got - want) <= tolerance * max(1.0, abs(want))
        if not fine:
            self.faults.append(f"{what}: {want} is said, {got} is computed")

    def interval(self, what, got, want, tolerance):
        if not got or not want:
            self.same(what, 1.0 if got else None, 1.0 if want else None)
            return
        for end, x in zip(("lo", "hi"), got):
            self.same(f"{what} {end}", x, want[end], tolerance)

    def pair(self, what, got, want, tolerance=1e-9):
        self.interval(what, got, want and {"lo": want[0], "hi": want[1]}, tolerance)

    def drawn(self, what, points, want, draws=20000):
        """A bootstrapped interval of 2,000 resamples: each end within three errors of its
        quantile in a larger sample."""
        x, y, measure = (np.array(v) if isinstance(v, list) else v for v in points)
        n, rng, values = len(x), np.random.default_rng(1), []
        while len(values) < draws:
            i = rng.integers(0, n, n)
            v = formulas.correlation(x[i].tolist(), y[i].tolist(), measure)
            if v is not None:
                values.append(v)
        values = np.array(values)
        if np.ptp(values) < 1e-12:
            self.same(what, None, want["value"])
            return
        self.same(what + " value", formulas.correlation(x.tolist(), y.tolist(), measure), want["value"])
        tail = (1 - formulas.LEVEL) / 2
        if measure == "pearson":
            tail = formulas.stats.norm.cdf(formulas.stats.t.ppf(tail, n - 1) * np.sqrt(n / (n - 1)))
        error = 3 * np.sqrt(tail * (1 - tail) * (1 / 2000 + 1 / draws))
        for end, q in (("lo", tail), ("hi", 1 - tail)):
            self.compared += 1
            low, high = np.quantile(values, max(0, q - error)), np.quantile(values, min(1, q + error))
            if not low - 1e-9 <= want["sampling"][end] <= high + 1e-9:
                self.faults.append(f"{what} {end}: {want['sampling'][end]} is said, {low} to {high} is drawn")


def key_of(figure, keys):
    return (figure, *(str(keys.get(k) or "") for k in KEYS if not k.endswith("sha256")))


def report(check, folder, store=None):
    r = Report(folder, store, most=0.1)
    said = {}
    for one in r.said["figures"]:
        said.setdefault(key_of(one["measure"], one), []).append(one)
    for one in r.all():
        key = key_of(one["measure"], one["keys"])
        name = " ".join(str(k) for k in key if k)
        if not said.get(key):
            check.faults.append(f"{name}: computed, and not said")
            continue
        want = said[key].pop(0)
        one_figure(check, name, one, want)
    for key, left in said.items():
        if left and key[0] not in TOLD:
            check.faults.append(f"{' '.join(k for k in key if k)}: said, and not computed")


def one_figure(check, name, got, want):
    check.same(name + " n", got["n"], want["n"])
    check.same(name + " k", got["k"], want.get("k"))
    loose = 1e-6 if got["measure"] in OF_JUDGES else 1e-9
    if "drawn" in got:
        check.drawn(name, got["drawn"], want)
    else:
        check.same(name + " value", got["value"], want["value"], loose)
        check.interval(name + " sampling", got.get("sampling"), want.get("sampling"), loose)
    check.interval(name + " range", got.get("range"), want.get("range"), 1e-6)
    for p in ("p", "p_holm", "p_holm_by_verdicts"):
        x, y = got.get(p), want.get(p)
        check.same(f"{name} {p}", x, y, 1e-6 if p == "p_holm" else 1e-9)
        if x and y and p != "p_holm":
            check.same(f"{name} {p} ratio", x / y, 1.0, 1e-6)
    check.same(name + " test", got.get("test"), want.get("test"))
    check.same(name + " assumes", got.get("assumes"), want.get("assumes"))
    missing = {k: n for k, n in (got.get("missing") or {}).items() if n}
    for why in missing | {k: n for k, n in (want.get("missing") or {}).items() if n}:
        check.same(f"{name} missing {why}", missing.get(why, 0), (want.get("missing") or {}).get(why, 0))


def main(args):
    check = Check()
    if len(args) in (2, 3) and args[0] == "report":
        report(check, *args[1:])
    elif len(args) in (4, 5) and args[0] == "compare":
        compare.check(check, args[1], args[3:], args[2])
    else:
        print(__doc__, file=sys.stderr)
        return 2
    for fault in check.faults:
        print(fault)
    print(f"{check.compared:,} numbers compared, {len(check.faults)} differ")
    return 1 if check.faults else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
