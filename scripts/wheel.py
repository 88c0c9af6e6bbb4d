#!/usr/bin/env python3
"""Packs a binary of orbench and python/orbench as a wheel: pip installs the command and the module.

    scripts/wheel.py BINARY VERSION GOOS GOARCH DIR

VERSION is a tag of the repository, such as v1.2.3 or v1.2.3-rc.1. The same binary gives
the same bytes. The format is that of
https://packaging.python.org/en/latest/specifications/binary-distribution-format/.
"""

import base64
import hashlib
import re
import stat
import sys
import zipfile
from pathlib import Path

# The platforms of pip. The binary for Linux needs no C library, so it runs beside each;
# Go 1.26 needs macOS 12.
PLATFORMS = {
    "linux/amd64": "manylinux_2_17_x86_64.manylinux2014_x86_64.musllinux_1_1_x86_64",
    "linux/arm64": "manylinux_2_17_aarch64.manylinux2014_aarch64.musllinux_1_1_aarch64",
    "darwin/amd64": "macosx_12_0_x86_64",
    "darwin/arm64": "macosx_12_0_arm64",
    "windows/amd64": "win_amd64",
    "windows/arm64": "win_arm64",
}


def python_version(tag: str) -> str:
    """The version as PEP 440 has it: 1.2.3, 1.2.3rc1, or 1.2.3.dev0+WORDS for any other."""
    found = re.fullmatch(r"v?(\d+\.\d+\.\d+)(?:-(?:(alpha|beta|rc)\.?(\d+)|(.+)))?", tag)
    if not found:
        sys.exit(f"wheel.py: {tag} is not a version such as v1.2.3")
    number, stage, count, words = found.groups()
    if stage:
        return number + {"alpha": "a", "beta": "b", "rc": "rc"}[stage] + count
    if words:
        return f"{number}.dev0+" + ".".join(re.findall(r"[a-z0-9]+", words.lower()))
    return number


def main() -> None:
    if len(sys.argv) != 6:
        sys.exit(__doc__)
    binary, tag, goos, goarch, out = sys.argv[1:]
    if f"{goos}/{goarch}" not in PLATFORMS:
        sys.exit(f"wheel.py: no wheel is made for {goos}/{goarch}")
    root = Path(__file__).resolve().parent.parent
    version, platform = python_version(tag), PLATFORMS[f"{goos}/{goarch}"]
    name = f"orbench-{version}"
    info = f"{name}.dist-info"
    command = "orbench.exe" if goos == "windows" else "orbench"
    tags = "".join(f"Tag: py3-none-{p}\n" for p in platform.split("."))
    metadata = f"""Metadata-Version: 2.4
Name: orbench
Version: {version}
Summary: Measures over-refusal of language models, and builds benchmarks for it.
License-Expression: Apache-2.0
License-File: LICENSE
Project-URL: Source, https://github.com/orbench/orbench
Requires-Python: >=3.8
Description-Content-Type: text/markdown

"""
    # Inspect looks for its extensions in this group.
    entry_points = "[inspect_ai]\norbench = orbench.scorer\n"
    files = [
        *((f"orbench/{p.name}", p.read_bytes(), 0o644) for p in sorted((root / "python/orbench").iterdir()) if p.is_file()),
        (f"{name}.data/scripts/{command}", Path(binary).read_bytes(), 0o755),
        (f"{info}/METADATA", (metadata + (root / "README.md").read_text("utf-8")).encode(), 0o644),
        (f"{info}/WHEEL", f"Wheel-Version: 1.0\nGenerator: orbench\nRoot-Is-Purelib: false\n{tags}".encode(), 0o644),
        (f"{info}/entry_points.txt", entry_points.encode(), 0o644),
        (f"{info}/licenses/LICENSE", (root / "LICENSE").read_bytes(), 0o644),
    ]
    record = ""
    for path, data, _ in files:
        digest = base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()
        record += f"{path},sha256={digest},{len(data)}\n"
    files.append((f"{info}/RECORD", f"{record}{info}/RECORD,,\n".encode(), 0o644))
    Path(out).mkdir(parents=True, exist_ok=True)
    wheel = Path(out) / f"{name}-py3-none-{platform}.whl"
    with zipfile.ZipFile(wheel, "w", zipfile.ZIP_DEFLATED) as archive:
        for path, data, mode in files:
            entry = zipfile.ZipInfo(path, (1980, 1, 1, 0, 0, 0))
            entry.external_attr = (stat.S_IFREG | mode) << 16
            entry.create_system = 3  # Unix, whose permissions pip keeps
            entry.compress_type = zipfile.ZIP_DEFLATED
            archive.writestr(entry, data)
    print(wheel)


main()
