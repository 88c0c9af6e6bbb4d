"""Compares the JSON files of two folders by value: same-figures.py OLD NEW NAMES.

A line of NAMES has a pattern for a path in OLD, such as main:runs[0].judges[0].rate, and
its path in NEW, or a dash where it is not compared.
"""

import json
import math
import pathlib
import re
import sys


def leaves(value, path):
    if isinstance(value, (dict, list)) and value:
        items = value.items() if isinstance(value, dict) else enumerate(value)
        for key, inner in items:
            yield from leaves(inner, f"{path}[{key}]" if isinstance(value, list) else f"{path}.{key}")
    else:
        yield path, value


def read(file):
    value = json.loads(file.read_text())
    if isinstance(value, dict) and "figures" in value:
        return figures(value)
    if isinstance(value, dict) and value.get("runs") and "judges" in value["runs"][0]:
        return figures_before(value)
    return dict(leaves(value, ""))


def ends(interval):
    """The ends of an interval, which are a list or an object."""
    return [interval["lo"], interval["hi"]] if isinstance(interval, dict) else interval


def figures(value):
    """A result's figures by measure and keys."""
    found = dict(leaves({k: value[k] for k in ("cost", "simulated")}, ""))
    for f in value["figures"]:
        keys = [f.get(k, "") for k in ("target", "other", "dataset", "other_dataset", "label", "category", "judge", "part")]
        path = "|".join([f["measure"], *map(str, keys)])
        found |= {path + ".n": f["n"], path + ".k": f.get("k"), path + ".value": f["value"]}
        for name in ("range", "sampling"):
            for end in "lo", "hi":
                found[f"{path}.{name}.{end}"] = f.get(name, {}).get(end)
        for name in "p", "p_holm", "p_holm_by_verdicts":
            found[f"{path}.{name}"] = f.get(name)
    return found


def figures_before(value):
    """The figures of a result from before they were one list, as figures gives them. A judge that
    nobody checked had a range where some answers were unjudged; it has none now. Samples of a
    target had rates of their own; they have one together."""
    found = dict(leaves({k: value[k] for k in ("cost", "simulated")}, ""))
    sampled = {p["target"] for p in value.get("propensities", [])}

    def add(measure, keys, value=None, interval=None, range_=None, **more):
        names = ("target", "other", "dataset", "other_dataset", "label", "category", "judge", "part")
        path = "|".join([measure, *(str(keys.get(k, "")) for k in names)])
        found[path + ".value"] = value
        for name, of in (("sampling", interval), ("range", range_)):
            if of:
                found.update({f"{path}.{name}.lo": ends(of)[0], f"{path}.{name}.hi": ends(of)[1]})
        found.update({f"{path}.{name}": v for name, v in more.items()})

    def estimate(measure, keys, e, **more):
        if e:
            add(measure, keys, e["value"], e, **more)

    def interval(rate):
        return next((rate[k] for k in ("ci95_sequence", "ci95_stopped", "ci95_clustered", "ci95") if rate.get(k)), None)

    for run in value["runs"]:
        target = re.sub(r"(,| \[)? ?sample \d+\]$", lambda m: "]" if m[1] == "," else "", run["target"])
        if target in sampled:
            continue
        of = {"target": run["target"], "dataset": run["dataset"], "label": run["label"]}
        rate = {"safe": "over_refusal", "toxic": "toxic_refusal"}.get(run["label"], "refusal")
        for j in run["judges"]:
            by = of | {"judge": j["judge"]}
            add(rate, by, j["rate"], interval(j), j.get("judge_error") and j["range"], n=j["judged"], k=j["refused"])
            for category, c in j["by_category"].items():
                if "p_holm" in c:
                    found["|".join([rate, run["target"], "", run["dataset"], "", run["label"], category, j["judge"], ""]) + ".p_holm"] = c["p_holm"]
            for measure, part in (("class", j["by_class"]), ("source", j["by_source"])):
                for name, k in part.items():
                    if k:
                        found["|".join([measure, run["target"], "", run["dataset"], "", run["label"], "", j["judge"], name]) + ".k"] = k
        if run.get("labeled"):
            estimate(rate, of, run["labeled"]["rate"])
    for p in value.get("propensities", []):
        rate = {"safe": "over_refusal", "toxic": "toxic_refusal"}.get(p["label"], "refusal")
        of = {k: p[k] for k in ("target", "dataset", "label", "judge")}
        estimate(rate, of, None if p.get("ci95_sequence") or p.get("ci95_stopped") else p["mean"])
        for name in "never", "sometimes", "always":
            found["|".join([name + "_refused", p["target"], "", p["dataset"], "", p["label"], "", p["judge"], ""]) + ".k"] = p[name]
    for c in value.get("changes", []):
        of = {"target": c["target"], "other": c["base"], "dataset": c["dataset"], "label": c["label"], "judge": c["judge"]}
        estimate("change", of, c["difference"], n=c["prompts"]) if "p" in c else None
    for t in value["trade_offs"]:
        of = {"target": t["target"], "dataset": t["safe_dataset"], "other_dataset": t["toxic_dataset"], "judge": t["judge"]}
        estimate("youden_j", of, (t.get("clustered") or t)["youden_j"])
    for f in value.get("persistence", []):
        of = {"target": f["target"], "other": f["alone"], "dataset": f["dataset"], "label": f["label"], "judge": f["judge"]}
        for measure, name in (("refused_alone", "alone"), ("refused_last", "last"), ("taken_back", "taken_back"), ("withdrawn", "withdrawn")):
            add(measure, of, f[name + "_rate"]["rate"], interval(f[name + "_rate"]))
    for f in value.get("detection", []):
        estimate("auc", {"target": f["target"], "dataset": f["dataset"]}, f["auc"])
    for f in value.get("prompt_pairs", []):
        of = {"target": f["target"], "dataset": f["safe_dataset"], "other_dataset": f["toxic_dataset"], "judge": f["judge"]}
        for name in "told_apart", "over_refused", "under_refused", "reversed":
            estimate("pairs_" + name, of, f[name]["share"], k=f[name]["pairs"])
        for name in "d_prime", "criterion":
            estimate(name, of, f[name])
    return found


def same(a, b):
    if isinstance(a, float) or isinstance(b, float):
        return isinstance(a, (int, float)) and isinstance(b, (int, float)) and math.isclose(a, b, rel_tol=1e-12)
    return type(a) is type(b) and a == b


old, new, names = map(pathlib.Path, sys.argv[1:])
renames = [line.split() for line in names.read_text().splitlines() if line and line[0] != "#"]
renames = [(re.compile(pattern), to) for pattern, to in renames]


def renamed(name, found):
    """The values by the paths of NEW, without those that are not compared."""
    result = {}
    for path, value in found.items():
        path = f"{name}:{path.lstrip('.')}"
        for pattern, to in renames:
            if pattern.search(path):
                path = None if to == "-" else pattern.sub(to, path)
                break
        if path:
            result[path] = value
    return result


compared = differ = 0
for file in sorted(old.glob("*.json")):
    was, now = (renamed(file.stem, read(folder / file.name)) for folder in (old, new))
    compared += len(was)
    if any(path.startswith(file.stem + ":over_refusal|") for path in now):
        now = {path: now[path] for path in now if path in was}  # it has more than before
    if list(was) == [f"{file.stem}:"]:
        print(f"note: no figures of {file.stem}: {was[file.stem + ':']}")
    for path in sorted(was.keys() | now.keys()):
        if path not in was or path not in now or not same(was[path], now[path]):
            differ += 1
            print(f"{path}: {was.get(path, '(none)')!r}, now {now.get(path, '(none)')!r}")
print(f"{compared} figures, {differ} differ")
sys.exit(differ > 0)
