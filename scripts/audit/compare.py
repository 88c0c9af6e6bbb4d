"""The figures of a comparison of two runs, again from their rows."""

import itertools
import json
import math

import numpy as np

import formulas as f
import judges
from gates import NO, NOT_ASKED, NOTHING, YES, Gate
from labels import REFUSALS, design, group_of, subject
from report import RATES, Report

METRICS = {"over_refusal": "safe", "toxic_refusal": "toxic"}
LOST = {"served_by_other": "served_by_other", "failed": "failed", "unanswered": "unanswered"}


class Side:
    """What a judge says of a target's answers, by prompt and label."""

    def __init__(self, report, about):
        self.judge, self.report = about["judge"], report
        self.runs = [r for r in report.runs if r.target == about["target"]]
        self.prompts = {}
        for r in self.runs:
            for row in r.rows:
                if r.label not in RATES:
                    continue
                one = self.prompts.setdefault((row["prompt"]["id"], r.label), {"rows": [], "dataset": r.dataset, "last": 0, "run": r})
                sample = max(1, row.get("sample", 1))
                if sample > one["last"]:
                    one["last"] = sample
                    one["rows"].append(row)
        for one in self.prompts.values():
            words = [self.verdict(row) for row in one["rows"]]
            one["said"] = sum(w is True for w in words), sum(w is not None for w in words)
            # The first answer with a verdict is the one that is shown and labeled.
            shown = next((i for i, w in enumerate(words) if w is not None), 0)
            one["row"], one["refused"] = one["rows"][shown], words[shown]
            status = one["row"]["status"]
            one["became"] = LOST.get(status) or ("judged" if one["refused"] is not None else "unjudged")

    def verdict(self, row):
        if row["status"] not in ("answered", "blocked"):
            return None
        c = next(v["class"] for v in row["verdicts"] if v["judge"] == self.judge)
        return c in REFUSALS if c else None

    def language(self, label, variant):
        all_of = {r.measured(variant) for r in self.runs if r.label == label}
        return all_of.pop() if len(all_of) == 1 else ""

    def labeled(self, label):
        some = [r for r in self.runs if r.label == label]
        return some[0].labeled if len(some) == 1 else None


class Counts:
    """Judged prompts of a metric or a category: of each cluster keys, and what both sides say."""

    def __init__(self, items, paired, known):
        self.paired, self.items = paired, items
        self.pairs = f.Pairs([(c[0] if c[0] is not None else c[1], a, b) for c, a, b in items if a and b]) if paired else None
        self.sides, self.several = [], False
        for side in (0, 1):
            clusters, shares = {}, []
            for i, (c, a, b) in enumerate(items):
                s = (a, b)[side]
                if not s or not s[1]:
                    continue
                shares.append(s[0] / s[1])
                self.several = self.several or s[1] > 1
                key = (c[0] if c[0] is not None else c[1]) if paired else c[side]
                k, n = clusters.get(("own", i) if key is None else key, (0, 0))
                clusters[("own", i) if key is None else key] = k + s[0], n + s[1]
            self.sides.append((list(clusters.values()), shares))
        self.clustered = known and any(len(shares) > len(c) for c, shares in self.sides)

    def estimate(self, side):
        clusters, shares = self.sides[side]
        value = math.fsum(shares) / len(shares)
        if not self.several and not self.clustered:
            return f.rate(round(sum(shares)), len(shares))
        e = f.wilson_clustered(clusters) if self.clustered else f.mean_rate(clusters)
        return value, min(value, e[1]), max(value, e[2])

    def difference(self):
        if self.paired:
            return self.pairs.difference()
        if not self.sides[0][1] or not self.sides[1][1]:
            return None
        e = f.difference(self.estimate(1), self.estimate(0))
        size, some, test = [], [], "fisher_exact"
        for clusters, shares in self.sides:
            effect = 1.0
            if self.several or self.clustered:
                effect, test = f.design_effect(clusters), "fisher_exact_design_effect"
            size.append(math.floor(len(shares) / effect + 0.5))
            some.append(math.floor(math.fsum(shares) / effect + 0.5))
        return e, f.fisher(some[0], size[0], some[1], size[1]), test


class Comparison:
    def __init__(self, said, folders, store):
        with open(said, encoding="utf-8") as file:
            self.said = json.load(file)
        reports = [Report(folder, store) for folder in folders]
        self.words = reports[0].words
        self.sides = [Side(r, self.said[name]) for r, name in zip(reports, ("base", "candidate"))]
        self.one_judge = self.sides[0].judge == self.sides[1].judge
        self.keys = list(dict.fromkeys([*self.sides[0].prompts, *self.sides[1].prompts]))

    def metric(self, label):
        paired, items, by, lost = self.said["paired"], [], {}, {}
        out = {"prompts": 0, "excluded": 0, "only_in_base": 0, "only_in_candidate": 0}
        known = False
        for key in self.keys:
            if key[1] != label:
                continue
            a, b = (s.prompts.get(key) for s in self.sides)
            out["prompts"] += 1
            if not a:
                out["only_in_candidate"] += 1
            elif not b:
                out["only_in_base"] += 1
            elif not (a["said"][1] and b["said"][1]):
                out["excluded"] += 1
            clusters = tuple((x["dataset"], x["row"]["prompt"]["cluster"]) if x and x["row"]["prompt"].get("cluster") else None for x in (a, b))
            known = known or any(clusters)
            words = [x["said"] if x else None for x in (a, b)]
            of = tuple(NOT_ASKED if not x else NOTHING if not x["said"][1] else YES if x["said"][0] >= x["said"][1] / 2 else NO for x in (a, b))
            category = (a or b)["row"]["prompt"].get("category", "")
            if NOTHING in of and not (paired and NOT_ASKED in of):
                for c in (None, category):
                    some = lost.setdefault(c, {})
                    some[of] = some.get(of, 0) + 1
            if paired and not all(w and w[1] for w in words):
                continue
            item = clusters, *words
            items.append(item)
            by.setdefault(category, []).append(item)
        sides = []
        for s in self.sides:
            became = [one["became"] for key, one in s.prompts.items() if key[1] == label]
            sides.append({"prompts": len(became), **{k: became.count(k) for k in ("judged", "unjudged", "served_by_other", "failed", "unanswered")}})
        if not paired:
            out["excluded"] = sum(s["prompts"] - s["judged"] for s in sides)
        return out, sides, Counts(items, paired, known), {c: Counts(some, paired, known) for c, some in sorted(by.items())}, lost

    def assumes(self):
        a, b = (s.runs[0] for s in self.sides)
        if self.said["base"]["run"] == self.said["candidate"]["run"]:
            return self.sides[0].report.assume(a, b)
        kin = frozenset((self.said[name]["run"], r.about["asked"]["provider"] + "/" + r.about["asked"]["model"]) for name, r in (("base", a), ("candidate", b)))
        return "one_model" if self.words.kin.get(kin) else "two_models"


def check(c, said, folders, store=None):
    """Compares what a comparison says with what is computed."""
    of = Comparison(said, folders if len(folders) == 2 else folders * 2, store)
    for want in of.said["metrics"]:
        name, label = want["metric"], want["label"]
        counted, sides, counts, categories, lost = of.metric(label)
        for k, n in counted.items():
            c.same(f"{name} {k}", n, want[k])
        for side, n in zip(("base_counts", "candidate_counts"), sides):
            for k in n:
                c.same(f"{name} {side} {k}", n[k], want[side].get(k, 0))
        figures(c, name, counts, want)
        if of.said["paired"]:
            kappa = nearest(counts.pairs, want["kappa"], want["kappa_ci95"])
            c.same(name + " kappa", kappa and kappa[0], want["kappa"])
            c.pair(name + " kappa", kappa and kappa[1:], want["kappa_ci95"])
        c.same(name + " categories", ", ".join(x or "-" for x in categories), ", ".join(x.get("category") or "-" for x in want["by_category"]))
        p, tested = [], []
        for one in want["by_category"]:
            category = one.get("category", "")
            n = categories[category]
            figures(c, f"{name} {category}", n, one)
            if n.difference():
                p.append(n.difference()[1])
                tested.append(one)
        for one, x in zip(tested, f.holm(p)):
            c.same(f"{name} {one.get('category', '')} p_holm", x, one["p_holm"])
        error(c, name, of, counts, want)
        corrected(c, name, of, label, counts, want)
        for g in of.said["gates"]:
            if g["metric"] == name and not g.get("labels"):
                gate(c, g, of, counts, categories, lost, want.get("judge_error"))


def gate(c, said, of, counts, categories, lost, judge_error):
    """A gate that goes by verdicts."""
    name, known = "gate " + said["gate"], any(any(i[0]) for i in counts.items)
    g = Gate(said["gate"], judge_error, of.said["paired"], lambda items: Counts(items, of.said["paired"], known))
    n, lost = (categories[g.category] if g.category else counts), lost.get(g.category, {})
    status, e, wide, missing, bears = g.result(n, lost)
    c.same(name + " status", status, said["status"])
    c.same(name + " figure", e and e[0], said["figure"] and said["figure"]["value"])
    c.interval(name, e and e[1:], said["figure"], 1e-9)
    c.interval(name + " range", wide, said.get("with_judge_error"), 1e-6)
    c.same(name + " missing", missing, said.get("missing", 0))
    c.same(name + " bears", bears, said.get("bears", 0))
    if of.said["paired"] and not g.of_rate:
        equal, twice = g.chances(n, lost)
        c.same(name + " equal_passes", equal, said["chances"]["equal_passes"])
        c.same(name + " twice_caught", twice, said["chances"]["twice_caught"])


def whole(x, said):
    """Rounded; a half, as it is said to be, since sums of shares are not exact."""
    return said if abs(x - said) <= 0.5 + 1e-9 else math.floor(x + 0.5)


def nearest(pairs, said, interval):
    """The kappa of the rounded counts; of halves the one that is said."""
    cells = [{math.floor(x + 0.5 - 1e-9), math.floor(x + 0.5 + 1e-9)} for x in (pairs.both, pairs.only_a, pairs.only_b, pairs.neither)]
    every = [f.kappa(np.array(t, float).reshape(2, 2)) for t in itertools.product(*cells)]
    if said is None:
        return None if None in every else every[0]
    return min((k for k in every if k), key=lambda k: sum(abs(x - y) for x, y in zip(k, (said, *interval))), default=None)


def figures(c, name, n, want):
    for side, key in ((0, "base"), (1, "candidate")):
        clusters, shares = n.sides[side]
        size, said = len(shares), want[key]
        refused = whole(math.fsum(shares), said["refused"])
        c.same(f"{name} {key} n", size, said["n"])
        c.same(f"{name} {key} refused", refused, said["refused"])
        e, clustered = f.rate(refused, size), None
        in_clusters = len(clusters) if n.clustered else 0
        if size and (n.several or n.clustered) and in_clusters not in (1, size):
            clustered = n.estimate(side)
            if n.several:
                e = clustered
        c.same(f"{name} {key} clusters", in_clusters, said.get("clusters", 0))
        c.same(f"{name} {key} rate", e and e[0], said["rate"])
        c.pair(f"{name} {key} ci95", e and e[1:], said["ci95"])
        c.pair(f"{name} {key} ci95_clustered", clustered and clustered[1:], said.get("ci95_clustered"))
    d = n.difference()
    if n.paired:
        for key, x in (("only_base_refused", n.pairs.only_a), ("only_candidate_refused", n.pairs.only_b)):
            c.same(f"{name} {key}", whole(x, want[key]), want[key])
    if d is None or want["difference"] is None:
        c.same(name + " difference", d and d[0][0], want["difference"])
        return
    estimate(c, name + " difference", d[0], want["difference"])
    c.same(name + " p", d[1], want["p"])
    c.same(name + " p ratio", d[1] / want["p"] if want["p"] else 1.0, 1.0, 1e-6)
    c.same(name + " test", d[2], want["test"])


def estimate(c, name, e, want, tolerance=1e-9):
    c.same(name, e[0], want["value"], tolerance)
    c.interval(name, e[1:], want, tolerance)


def error(c, name, of, counts, want):
    d, wide = counts.difference(), None
    if d and of.one_judge:
        sides = [(whole(math.fsum(shares), want[key]["refused"]), len(shares)) for key, (_, shares) in zip(("base", "candidate"), counts.sides)]
        variant = of.said["base"]["run"] == of.said["candidate"]["run"] and of.assumes() != "two_models"
        language = of.sides[0].language(want["label"], variant)
        if language != of.sides[1].language(want["label"], variant):
            language = ""
        wide = judges.between(of.sides[0].judge, want["label"], language, of.assumes(), *sides, d[0])
    said = want.get("judge_error")
    c.same(name + " judge_error", 1 if wide else None, 1 if said else None)
    if not wide or not said:
        return
    c.same(name + " assumes", of.assumes(), said["assumes"])
    c.interval(name + " range", wide, said["difference"], 1e-6)
    below, above = judges.known(of.sides[0].judge, want["label"], language).moves(*sides[1])
    c.same(name + " rate below", below, said["rate"]["below"], 1e-6)
    c.same(name + " rate above", above, said["rate"]["above"], 1e-6)
    if of.assumes() != "two_models":
        c.same(name + " least_youden", judges.least_youden(of.sides[0].judge, language), said["least_youden"])


def corrected(c, name, of, label, counts, want):
    said = want.get("corrected")
    pairs = Labeled(of, label, counts, want).estimates() if of.words.any and of.one_judge else None
    if not pairs:
        a, b = (s.labeled(label) for s in of.sides)
        pairs = {"base": a, "candidate": b, "difference": f.difference(b, a)} if a and b else None
    c.same(name + " corrected", 1 if pairs else None, 1 if said else None)
    if not pairs or not said:
        return
    for k in ("base", "candidate", "difference"):
        estimate(c, f"{name} corrected {k}", pairs[k], said[k], 1e-6 if pairs.get("bounded") else 1e-9)
    for k, n in pairs.get("counts", {}).items():
        c.same(f"{name} corrected {k}", n, said.get(k, 0))
    if "p" in pairs:
        c.same(name + " corrected p", pairs["p"], said.get("p", 0))


class Labeled:
    """Pairs of answers of which people labeled some, drawn for the comparison."""

    def __init__(self, of, label, counts, want):
        self.of, self.words, self.counts, self.want = of, of.words, counts, want
        self.pairs, names = [], []
        items = []
        for key in of.keys:
            a, b = (s.prompts.get(key) for s in of.sides)
            if key[1] != label:
                continue
            if a and b:
                cluster = next(((x["dataset"], x["row"]["prompt"]["cluster"]) for x in (a, b) if x["row"]["prompt"].get("cluster")), None)
                items.append((cluster, a["said"], b["said"]))
            if not (a and b and a["refused"] is not None and b["refused"] is not None):
                continue
            one = {"said": (a["refused"], b["refused"]), "subjects": (subject(a["row"]), subject(b["row"])), "withheld": [], "unsure": False}
            cells = []
            for x, s in ((a, of.sides[0]), (b, of.sides[1])):
                v = next(v for v in x["row"]["verdicts"] if v["judge"] == s.judge)
                one["withheld"].append(v["class"] in ("blocked", "empty"))
                one["unsure"] = one["unsure"] or group_of([v], False) in (3, 7)
                cells.append(design(Report.named(x["run"]), x["run"].about))
            if cells not in names:
                names.append(cells)
            self.pairs.append(one)
        self.effect = f.Pairs(items).design_effect() if items else 1.0
        self.design = "".join(f"pairs of {a} and {b}; " for a, b in names)

    def settled(self, p):
        return p["subjects"][0] == p["subjects"][1] or all(p["withheld"])

    def shown(self, p):
        return [s for s, w in zip(p["subjects"], p["withheld"]) if not w]

    def people(self, p):
        """What people say of both answers; None where it is not known."""
        x, y = (1.0 if w else self.words.refused(s) for s, w in zip(p["subjects"], p["withheld"]))
        flipped = p["said"][0] != p["said"][1]
        if flipped and x is not None and y is None and abs(x - p["said"][0]) >= 0.5:
            return x, x
        if flipped and y is not None and x is None and abs(y - p["said"][1]) >= 0.5:
            return y, y
        return (x, y) if x is not None and y is not None else None

    def chances(self):
        """The chance of each pair in a draw of pairs."""
        out = []
        for p in self.pairs:
            all_of = [self.words.chance.get((self.design, s), 0) for s in self.shown(p)]
            out.append(0 if not all_of or min(all_of) == 0 else all_of[0])
        return out

    def estimates(self):
        strata, people, counts = {}, set(), dict.fromkeys(("labels", "flips", "labeled_flips", "others", "labeled_others"), 0)
        same = []
        for p, chance in zip(self.pairs, self.chances()):
            flipped = p["said"][0] != p["said"][1]
            if self.settled(p):
                same.append(float(p["said"][0]))
                continue
            key = flipped, p["said"][1], p["unsure"]
            labels = strata.setdefault(key, {"size": 0, "rows": []})
            labels["size"] += 1
            counts["flips" if flipped else "others"] += 1
            words = self.people(p)
            if words is None or not chance:
                continue
            labels["rows"].append((*words, 1 / chance, float(p["said"][0]), float(p["said"][1])))
            counts["labeled_flips" if flipped else "labeled_others"] += 1
            for s in self.shown(p):
                counts["labels"] += bool(self.words.all(s))
                people |= set(self.words.all(s))
        counts["people"] = len(people)
        if not counts["labels"]:
            return None
        parts = []
        for flipped in (True, False):
            kinds = [joined([strata[k] for k in sorted(strata) if k[0] == flipped and k[1] == now]) for now in (False, True)]
            parts += [Stratum(flipped, s) for s in joined(kinds[0] + kinds[1])]
        parts.append(Stratum(False, {"size": len(same), "rows": [(x, x, 1.0, x, x) for x in same]}, settled=True))
        parts = [s for s in parts if s.size]
        whole = all(s.n > 0 for s in parts)
        error = self.want.get("judge_error")
        out = {"counts": counts}
        if not whole and not (error and counts["labeled_flips"] + counts["labeled_others"]):
            return None
        out.update(self.by_judge(parts, error))
        out["bounded"] = bool(error)
        out["p"] = self.test(parts)
        return out

    def test(self, parts):
        """The normal test that nothing differs; an audit counts only against the flips."""
        total = sum(s.size for s in parts)

        def part(flipped):
            d = changed = variance = 0.0
            for s in parts:
                if s.flipped == flipped and s.n > 0:
                    w, n = s.size / total, s.n + 1
                    mean = (s.newly - s.nolonger) * s.n / n
                    d += w * (s.newly - s.nolonger)
                    changed += w * s.squares
                    variance += w * w * ((s.squares * s.n + 1) / n - mean * mean) / n * (1 - s.n / s.size)
            return d, changed, variance

        d, changed, variance = part(True)
        audit, also, more = part(False)
        if audit * d < 0:
            d, changed, variance = d + audit, changed + also, variance + more
        variance += self.effect * (changed + 2 / total - d * d) / total
        return math.erfc(abs(d) / math.sqrt(2 * variance))

    def by_judge(self, parts, error):
        """The judge's figures, corrected by the labels. What labels leave open is bounded by how
        far the judge is known to be off."""
        total = sum(s.size for s in parts)
        judged, _, _ = self.counts.difference()
        said = np.array([p["said"] for p in self.pairs], float)
        by_verdicts = f.tango(((said[:, 0] - said[:, 1]) > 0).sum(), ((said[:, 1] - said[:, 0]) > 0).sum(), total)
        value, low, high = judged
        if all(s.n > 0 for s in parts):
            now = f.tango(sum(s.size * s.nolonger for s in parts), sum(s.size * s.newly for s in parts), total)
            by = (now[2] - now[1]) / (by_verdicts[2] - by_verdicts[1])
            low, high = value - by * (value - low), value + by * (high - value)
        agree = all(s.off_squares == 0 for s in parts)

        def end(e, off, below, above):
            moved, spread = 0.0, [0.0, 0.0]
            for flipped in (True, False):
                kind = [s for s in parts if s.flipped == flipped and not s.settled]
                size, mean, variance = sum(s.size for s in kind), 0.0, 0.0
                for s in kind:
                    w, far, added = s.size / total, off(s) if s.n > 0 else 0.0, s.size / size
                    mean += w * far
                    variance += w * w * ((s.off_squares * s.n + added) / (s.n + added) - far * far * s.n / (s.n + added)) / max(s.n, 0.5) * max(0.0, 1 - s.n / s.size)
                weight = 0.0
                for i, side in enumerate((below, above)):
                    known = max(side * side / f.Z**2, mean * mean - 4 * variance)
                    of = known / (known + variance) if error and variance > 0 else 1.0
                    weight = max(weight, of)
                    spread[i] += of * variance
                moved += weight * mean
            v = e[0] + moved
            return v, v - math.hypot(e[0] - e[1], f.Z * math.sqrt(spread[0])), v + math.hypot(e[2] - e[0], f.Z * math.sqrt(spread[1]))

        def within(e, least):
            return tuple(min(1.0, max(least, x)) for x in e)

        def left(whole, part):
            return math.sqrt(max(0.0, whole * whole - part * part))

        below = above = 0.0
        moves = {"below": 0.0, "above": 0.0}
        if error:
            moves, reach = error["rate"], error["difference"]
            below, above = left(value - reach["lo"], value - low), left(reach["hi"] - value, high - value)
        d = within(end((value, low, high), lambda s: s.off[1] - s.off[0], below, above), -1)
        if agree and error:
            d = d[0], max(d[1], error["difference"]["lo"]), min(d[2], error["difference"]["hi"])
        out = {"difference": d}
        for side, key in enumerate(("base", "candidate")):
            p = said[:, side].mean()
            out[key] = within(end((p, *f.wilson(p, total)), lambda s: s.off[side], moves["below"], moves["above"]), 0)
        # Both rates move alike until they differ by the difference.
        value = min(1 - max(0.0, d[0]), max(-min(0.0, d[0]), (out["base"][0] + out["candidate"][0] - d[0]) / 2))
        for key, v in (("base", value), ("candidate", value + d[0])):
            out[key] = v, min(out[key][1], v), max(out[key][2], v)
        return out


def joined(strata):
    """One stratum of several if any has pairs but no label."""
    if all(s["rows"] for s in strata):
        return strata
    return [{"size": sum(s["size"] for s in strata), "rows": [r for s in strata for r in s["rows"]]}]


class Stratum:
    """Pairs with the means of their labels, and as many as say as much with equal weights."""

    def __init__(self, flipped, of, settled=False):
        self.flipped, self.size, self.settled = flipped, of["size"], settled
        self.n, rows = 0.0, np.array(of["rows"], float).reshape(-1, 5)
        self.newly = self.nolonger = self.squares = self.off_squares = 0.0
        self.off = 0.0, 0.0
        if not len(rows):
            return
        before, after, w, was, now = rows.T
        self.n = float(len(rows)) if settled else w.sum() ** 2 / (w * w).sum()

        def mean(x):
            return (w * x).sum() / w.sum()

        self.squares = mean((after - before) ** 2)
        self.newly, self.nolonger = mean(np.maximum(0, after - before)), mean(np.maximum(0, before - after))
        if not settled:
            a, b = before - was, after - now
            self.off, self.off_squares = (mean(a), mean(b)), mean(np.maximum((b - a) ** 2, np.maximum(a * a, b * b)))
