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
    return dict(leaves(json.loads(file.read_text()), ""))


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


figures = differ = 0
for file in sorted(old.glob("*.json")):
    was, now = (renamed(file.stem, read(folder / file.name)) for folder in (old, new))
    figures += len(was)
    if list(was) == [f"{file.stem}:"]:
        print(f"note: no figures of {file.stem}: {was[file.stem + ':']}")
    for path in sorted(was.keys() | now.keys()):
        if path not in was or path not in now or not same(was[path], now[path]):
            differ += 1
            print(f"{path}: {was.get(path, '(none)')!r}, now {now.get(path, '(none)')!r}")
print(f"{figures} figures, {differ} differ")
sys.exit(differ > 0)
