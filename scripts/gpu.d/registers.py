#!/usr/bin/env python3
"""Writes the table of the registers and spills of kernels into a page, from what ptxas -v says.

usage: registers.py PAGE MOST ARCH LOG...

The table is between `<!-- registers: begin -->` and `<!-- registers: end -->` of PAGE. Fails if a kernel spills, or has
more than MOST registers; of CUB's kernels, whose registers CUB chooses, only if one spills.
"""
import re
import subprocess
import sys
from collections import Counter
from pathlib import Path

BEGIN, END = "<!-- registers: begin -->", "<!-- registers: end -->"
KERNEL = re.compile(
    r"Compiling entry function '(?P<name>\w+)'"
    r"(?:(?!Compiling entry).)*?(?P<stores>\d+) bytes spill stores, (?P<loads>\d+) bytes spill loads"
    r"(?:(?!Compiling entry).)*?Used (?P<registers>\d+) registers", re.S)


def plain_names(mangled):
    """The names without parameters and without what Kokkos puts around a functor."""
    text = subprocess.run(["c++filt"], input="\n".join(mangled), capture_output=True, text=True, check=True).stdout
    names = []
    for line in text.splitlines():
        line = line.removeprefix("void ")
        ours = None if line.startswith("cub::") else re.search(r"shardtype::(?:\w+::)*\w+(?=[<,> (])", line)
        other = re.search(r"(?:\w+::)*\w+(?=[<(])", line)
        names.append((ours or other or re.match(".*", line)).group())
    return names


def main():
    if len(sys.argv) < 5:
        sys.exit(__doc__)
    page, most, arch = Path(sys.argv[1]), int(sys.argv[2]), sys.argv[3]
    found = [match for log in sys.argv[4:] for match in KERNEL.finditer(Path(log).read_text(errors="replace"))]
    if not found:
        sys.exit("registers.py: ptxas reported no kernel in " + ", ".join(sys.argv[4:]))
    text = page.read_text()
    if BEGIN not in text or END not in text:
        sys.exit(f"registers.py: {page} has no {BEGIN} and {END}")
    # of the instances of a template the one with the most registers
    rows, counts = {}, Counter()
    for name, match in zip(plain_names([m["name"] for m in found]), found):
        row = (int(match["registers"]), int(match["stores"]) + int(match["loads"]))
        counts[name] += 1
        rows[name] = max(rows.get(name, row), row)
    lines = [f"Kernels for {arch}, by `scripts/gpu registers`: {len(found)} instances, at most "
             f"{max((row[0] for name, row in rows.items() if not name.startswith('cub::')), default=0)} registers, {sum(row[1] > 0 for row in rows.values())} with spills.", "",
             "| kernel | instances | registers, at most | bytes spilled |", "|---|---|---|---|"]
    for name, (registers, spilled) in sorted(rows.items(), key=lambda row: (-row[1][0], row[0])):
        lines.append(f"| `{name}` | {counts[name]} | {registers} | {spilled} |")
    head, rest = text.split(BEGIN, 1)
    tail = rest.split(END, 1)[1]
    page.write_text(head + BEGIN + "\n" + "\n".join(lines) + "\n" + END + tail)
    bad = [f"{name}: {registers} registers, {spilled} bytes spilled"
           for name, (registers, spilled) in rows.items()
           if spilled > 0 or (registers > most and not name.startswith("cub::"))]
    if bad:
        sys.exit("registers.py: more than is allowed\n" + "\n".join(bad))


main()
