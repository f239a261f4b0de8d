#!/usr/bin/env python3
"""Operands are judged in two places: execute/call.hpp, and where elementwise functions take theirs.

Judging is to ask whether an operand is poisoned or pending, and to name the refusal of what is not accepted.
Other headers of the layers that operations live in call one of these two (`call`, `start`, `judged_t`, `fuse`).
Expressions of automatic mode are no tensors: lazy/ judges its own, and shard_map_lazy.hpp its arguments.

usage: judged_once.py ROOT [--self-test]
"""
import re
import sys
from pathlib import Path

FOLDERS = ["execute", "ops", "manual", "random", "io", "visualize"]
ALLOWED = {"execute/call.hpp", "ops/run_elementwise.hpp"}
OF_EXPRESSIONS = {"manual/shard_map_lazy.hpp"}
JUDGING = re.compile(r"\bany_poisoned<|\bis_pending<|\brefusal<|\bPoisoned\(refus")


def code_of(text):
    return re.sub(r"//[^\n]*", "", text)


def offences(headers):
    """(header, line) of every judgement, of headers as name -> text."""
    return [(name, number) for name, text in headers.items() if name not in ALLOWED | OF_EXPRESSIONS
            for number, line in enumerate(code_of(text).splitlines(), 1)
            if JUDGING.search(line) and "refused<Code::G01" not in line]


def main():
    base = Path(sys.argv[1]) / "include/shardtype"
    headers = {path.relative_to(base).as_posix(): path.read_text()
               for folder in FOLDERS for path in sorted((base / folder).glob("*.[hi]pp"))}
    found = [f"{name}:{number}: operands are judged in {' and '.join(sorted(ALLOWED))} only"
             for name, number in offences(headers)]
    found += [f"{name} judges nothing; is the front door still written there?"
              for name in sorted(ALLOWED) if not JUDGING.search(code_of(headers.get(name, "")))]
    if "--self-test" in sys.argv:
        for planted in ("if constexpr (any_poisoned<A>) {}", "return Poisoned(refusal<R, A>{});"):
            if not offences({"ops/new.hpp": planted}):
                found.append(f"this goes unnoticed: {planted}")
    for line in found:
        print(line, file=sys.stderr)
    sys.exit(1 if found else 0)


if __name__ == "__main__":
    main()
