#!/usr/bin/env python3
"""Computes the findings of "orbench report --paper --findings" again, from the embedded
tables and by code of its own: python3 scripts/findings.py [FOLDER OF THE TABLES].
It prints CSV: finding, models, families, estimate, low, high, p (Holm), verdict."""
import csv
import datetime
import math
import os
import sys

DATA = sys.argv[1] if len(sys.argv) > 1 else os.path.join(os.path.dirname(__file__), "..", "internal", "paper", "data")


def read(name):
    with open(os.path.join(DATA, name), encoding="utf-8") as f:
        return list(csv.DictReader(line for line in f if not line.startswith("#")))


def upper_t(t, df):
    """P(T > t) for t >= 0, by Simpson's rule over an angle: T = sqrt(df) tan(a)."""
    n, low, high = 2000, math.atan(t / math.sqrt(df)), math.pi / 2
    if low >= high:
        return 0.0
    step = (high - low) / n
    total = sum((1 if i in (0, n) else 4 if i % 2 else 2) * max(0.0, math.cos(low + i * step)) ** (df - 1) for i in range(n + 1))
    scale = math.exp(math.lgamma((df + 1) / 2) - math.lgamma(df / 2)) / math.sqrt(math.pi)
    return scale * total * step / 3


def quantile_t(df):
    low, high = 0.0, 1000.0
    for _ in range(80):
        middle = (low + high) / 2
        low, high = (middle, high) if upper_t(middle, df) > 0.025 else (low, middle)
    return low


def with_t(value, error, df):
    half = quantile_t(df) * error
    return value, value - half, value + half, 2 * upper_t(abs(value) / error, df)


def ranks(v):
    return [sum(w < x for w in v) + (sum(w == x for w in v) + 1) / 2 for x in v]


def mean(v):
    return sum(v) / len(v)


def spearman(models):
    x, y = ranks([m["hard"] for m in models]), ranks([m["toxic"] for m in models])
    a, b = mean(x), mean(y)
    top = sum((p - a) * (q - b) for p, q in zip(x, y))
    return top / math.sqrt(sum((p - a) ** 2 for p in x) * sum((q - b) ** 2 for q in y))


def families(models):
    return sorted({m["family"] for m in models})


def without_each(models, of):
    every = of(models)
    squares = sum((of([m for m in models if m["family"] != f]) - every) ** 2 for f in families(models))
    return with_t(every, math.sqrt(squares), len(families(models)) - 1)


def slope(x, y):
    def of(models):
        top = bottom = 0.0
        for f in families(models):
            part = [m for m in models if m["family"] == f]
            a, b = mean([m[x] for m in part]), mean([m[y] for m in part])
            top += sum((m[x] - a) * (m[y] - b) for m in part)
            bottom += sum((m[x] - a) ** 2 for m in part)
        return top / bottom
    return of


def varied(models, x):
    models = [m for m in models if m[x] is not None]
    return [m for m in models if len({n[x] for n in models if n["family"] == m["family"]}) > 1]


def curve(models):
    """Least squares of toxic on 1, hard and hard squared, by Gauss's elimination."""
    rows = [[sum(m["hard"] ** (i + j) for m in models) for j in range(3)] + [sum(m["toxic"] * m["hard"] ** i for m in models)] for i in range(3)]
    for i in range(3):
        for k in range(3):
            if k != i:
                factor = rows[k][i] / rows[i][i]
                rows[k] = [a - factor * b for a, b in zip(rows[k], rows[i])]
    return [rows[i][3] / rows[i][i] for i in range(3)]


def access(models):
    def side(which):
        part = [m for m in models if m["access"] == which]
        return mean([mean([m["hard"] for m in part if m["family"] == f]) for f in families(part)])
    return side("maker") - side("host")


def main():
    models = []
    for rates, public in zip(read("models.csv"), read("public.csv")):
        assert rates["model"] == public["model"] and rates["family"] == public["family"], public
        day = datetime.date.fromisoformat(public["date"])
        size = float(public["size_b"])
        models.append({
            "family": rates["family"], "hard": float(rates["hard_1k_refusal_pct"]), "toxic": float(rates["toxic_refusal_pct"]),
            "year": (day - datetime.date(1970, 1, 1)).days / 365.25, "size": math.log10(size) if size else None, "access": public["access"],
        })
    a, b, c = curve(models)
    for m in models:
        m["distance"] = m["toxic"] - (a + b * m["hard"] + c * m["hard"] ** 2)
    found = []
    value, low, high, p = without_each(models, spearman)
    found.append(["trade-off", models, models, value, max(low, -1), min(high, 1), p])
    for name, x, y in (("date", "year", "hard"), ("scale", "size", "distance")):
        part = varied(models, x)
        found.append([name, part, part, *without_each(part, slope(x, y))])
    found.append(["access", models, models, *without_each(models, access)])
    means = {f: mean([m["hard"] for m in models if m["family"] == f]) for f in families(models)}
    for f in means:
        others = [v for g, v in means.items() if g != f]
        middle = mean(others)
        spread = math.sqrt(sum((v - middle) ** 2 for v in others) / (len(others) - 1) * (1 + 1 / len(others)))
        found.append(["family " + f, [m for m in models if m["family"] == f], models, *with_t(means[f] - middle, spread, len(others) - 1)])
    order, largest = sorted(range(len(found)), key=lambda i: found[i][6]), 0.0
    for rank, i in enumerate(order):
        largest = max(largest, min(1, (len(found) - rank) * found[i][6]))
        found[i].append(largest)
    out = csv.writer(sys.stdout, lineterminator="\n")
    out.writerow(["finding", "models", "families", "estimate", "low", "high", "p", "verdict"])
    for name, some, over, value, low, high, _, p in found:
        verdict = "not to be told with these models"
        if name in ("scale", "access"):
            if low > -5 and high < 5:
                verdict = "shown"
            elif p < 0.05:
                verdict = "contradicted"
        elif p < 0.05:
            right = value < 0 if name == "date" else value > 0 if name == "trade-off" else True
            verdict = "shown" if right else "contradicted"
        out.writerow([name, len(some), len(families(over)), f"{value:.6f}", f"{low:.6f}", f"{high:.6f}", f"{p:.6f}", verdict])


main()
