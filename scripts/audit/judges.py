"""The range of a new model, from the measurements of a judge on labeled answers of others."""

import csv
import functools
import math
import os

import numpy as np
from scipy import stats

from formulas import LEVEL, Z

# The measurements that the program embeds.
MEASURED = os.path.join(os.path.dirname(__file__), "..", "..", "internal", "score", "lexical.csv")

# The lattices on which the program integrates: lines over the logit of the judge's rate with
# flat priors, spreads between models with a half-normal one, and logits of a share.
MEANS, SLOPES, SPREADS, SCALE = np.arange(-2, 7.51, 0.5), np.arange(-0.25, 1.01, 0.25), np.cumsum([0.15] + [0.3] * 9), 0.75
LOGITS = -10 + 0.1 * np.arange(241)
DRAWS = 4096


def logit(k, n):
    return math.log((k + 0.5) / (n - k + 0.5))


def away(x):
    """Rounds half away from zero."""
    return np.where(np.asarray(x) < 0, np.ceil(np.asarray(x) - 0.5), np.floor(np.asarray(x) + 0.5)).astype(int)


def points(count, spread):
    return away(spread * stats.norm.ppf((np.arange(count) + 0.5) / count) / 0.1)


class Groups:
    """Shares of successes in groups [(successes, n, at)], as they predict a new group."""

    def __init__(self, groups):
        groups = [g for g in groups if g[1] > 0]
        self.at = np.array([g[2] for g in groups])
        p = 1 / (1 + np.exp(-LOGITS))
        likelihood = np.array([stats.binom.logpmf(k, n, p) for k, n, _ in groups])
        likelihood = np.exp(likelihood - likelihood.max(1, keepdims=True))
        self.lines = []
        for spread in SPREADS:
            off = points(25, spread)
            for mean in MEANS:
                for slope in SLOPES:
                    log = -(spread**2) / 2 / SCALE**2
                    center = away((mean + slope * self.at + 10) / 0.1)
                    seen = np.clip(center[:, None] + off[None, :], 0, len(LOGITS) - 1)
                    log += np.log(np.take_along_axis(likelihood, seen, 1).sum(1) + 5e-324).sum()
                    self.lines.append((mean, slope, spread, log))
        best = max(line[3] for line in self.lines)
        self.lines = [(m, s, t, math.exp(w - best)) for m, s, t, w in self.lines]

    @functools.cache
    def new(self, at):
        """The cumulated chances of the logits of a new group's share."""
        at = min(max(at, self.at.min()), self.at.max())
        chances = np.zeros(len(LOGITS))
        for mean, slope, spread, weight in self.lines:
            if weight >= 1e-3:
                center = away((mean + slope * at + 10) / 0.1)
                np.add.at(chances, np.clip(center + points(101, spread), 0, len(LOGITS) - 1), weight)
        return np.cumsum(chances / chances.sum())


def quantile(cumulated, chance):
    return 1 / (1 + np.exp(-LOGITS[np.minimum(np.searchsorted(cumulated[:-1], chance), len(LOGITS) - 1)]))


@functools.cache
def halton(base):
    """The first draws of the sequence of a base."""
    out = []
    for i in range(1, DRAWS + 1):
        x, f = 0.0, 1 / base
        while i > 0:
            x += f * (i % base)
            i //= base
            f /= base
        out.append(x)
    return np.array(out)


@functools.cache
def normal():
    return stats.norm.ppf(halton(5))


def carry(rate, recall, specificity):
    """The interval of a true rate where a judge gives (value, low, high), by Rogan and Gladen."""
    value, low, high = rate
    r, s = quantile(recall, halton(2)), quantile(specificity, halton(3))
    off = normal() / Z
    judged = value + np.where(off > 0, off * (high - value), off * (value - low))
    with np.errstate(divide="ignore", invalid="ignore"):
        share = (judged + s - 1) / (r + s - 1)
    under, over = judged < 1 - s, judged >= r
    over &= ~under
    below = np.sort(np.where(under, 0.0, share)[~over])
    above = np.sort(np.where(over, 1.0, share)[~under])
    lo = hi = value
    if len(below):
        lo = min(lo, below[int((1 - LEVEL) / 2 * len(below))])
    if len(above):
        hi = max(hi, above[int((1 + LEVEL) / 2 * len(above))])
    return lo, hi


class Known:
    """What measurements of a judge say of models that nobody measured."""

    def __init__(self, rows):
        models = {}
        self.answers = 0
        for r in rows:
            n = sum(int(r[c]) for c in ("tp", "fp", "fn", "tn"))
            if r["sample"] != "fitted" and n > 0:
                model = models.setdefault(r["model"].split(" +")[0], dict.fromkeys(("tp", "fp", "fn", "tn"), 0))
                for c in model:
                    model[c] += int(r[c])
                self.answers += n
        recall, specificity = [], []
        for m in models.values():
            at = logit(m["tp"] + m["fp"], sum(m.values()))
            recall.append((m["tp"], m["tp"] + m["fn"], at))
            specificity.append((m["tn"], m["tn"] + m["fp"], at))
        self.enough = min(sum(g[1] > 0 for g in recall), sum(g[1] > 0 for g in specificity)) >= 5
        if self.enough:
            self.recall, self.specificity = Groups(recall), Groups(specificity)

    def predict(self, refused, n, rate):
        """The interval of a rate, with what is predicted of recall and specificity."""
        at = logit(refused, n)
        recall, specificity = self.recall.new(at), self.specificity.new(at)
        three = [tuple(float(quantile(c, q)) for q in (0.5, (1 - LEVEL) / 2, (1 + LEVEL) / 2)) for c in (recall, specificity)]
        return carry(rate, recall, specificity), three[0], three[1]

    def moves(self, refused, n):
        """How far below and above the judge's rate the true one may lie, by its error alone."""
        p = refused / max(1, n)
        low, high = self.predict(refused, n, (p, p, p))[0]
        return p - low, high - p


@functools.cache
def measured():
    with open(MEASURED, encoding="utf-8") as f:
        return list(csv.DictReader(f))


@functools.cache
def known(judge, label, language):
    rows = [r for r in measured() if r["judge"] == judge and r["language"] == language and r["label"] == label]
    k = Known(rows)
    return k if k.enough else None


@functools.cache
def least_youden(judge, language):
    """The least recall plus specificity less 1 of a set with 20 refusals and 20 answers."""
    all_of = []
    for r in measured():
        tp, fp, fn, tn = (int(r[c]) for c in ("tp", "fp", "fn", "tn"))
        if r["judge"] == judge and r["language"] == language and r["label"] != "any" and r["sample"] != "fitted" and tp + fn >= 20 and fp + tn >= 20:
            all_of.append(tp / (tp + fn) + tn / (fp + tn) - 1)
    return min(all_of, default=0.0)


def between(judge, label, language, assumes, a, b, d):
    """The interval (value, low, high) of a difference widened by the judge's error, of two
    sides [refused, n]; None where nobody checked the judge."""
    if judge == "flag":
        return None
    k, least = known(judge, label, language), least_youden(judge, language)
    if k is None or assumes != "two_models" and least <= 0:
        return None
    value, low, high = d
    if assumes == "two_models":
        (below_a, above_a), (below_b, above_b) = k.moves(*a), k.moves(*b)
        low, high = value - math.hypot(value - low, math.hypot(below_b, above_a)), value + math.hypot(high - value, math.hypot(above_b, below_a))
    else:
        manner = 0.0 if assumes == "one_target" else 0.06 if label == "toxic" else 0.02
        low, high = min(low, low / least) - manner, max(high, high / least) + manner
    return max(-1.0, low), min(1.0, high)
