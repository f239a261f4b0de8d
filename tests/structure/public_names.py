#!/usr/bin/env python3
"""The names in namespace shardtype are those of public_names.txt: what users name, and nothing else.

clang is asked what could follow `shardtype::` where every header is included.

usage: public_names.py HEADERS LIST FLAGS CLANG [--self-test] [--write]

HEADERS includes every header; FLAGS has lines KEY=a|b (cmake/ExpectError.cmake). --write makes LIST anew.
"""
import re
import subprocess
import sys
import tempfile
from pathlib import Path


def flags(file):
    lines = dict(line.split("=", 1) for line in Path(file).read_text().splitlines() if "=" in line)
    values = {key: [one for one in value.split("|") if one] for key, value in lines.items()}
    # the compiler has /usr/include itself, behind its own headers
    folders = [one for one in values["FULL_INCLUDES"] if one != "/usr/include"]
    return ["-isystem" + one for one in folders] + ["-D" + one for one in values["FULL_DEFINITIONS"]]


def completions(headers, options, clang, scope="shardtype::"):
    """What clang would complete `scope` with: pairs of a name and what it stands for."""
    before = f'#include "{Path(headers).resolve()}"\nvoid complete() {{\n'
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "complete.cpp"
        file.write_text(before + f"  {scope}\n}}\n")
        place = f"{file}:{before.count(chr(10)) + 1}:{len(scope) + 3}"
        run = subprocess.run([clang, "-std=c++20", "-w", *options, "-fsyntax-only", "-Xclang",
                              f"-code-completion-at={place}", str(file)], capture_output=True, text=True)
    found = re.findall(r"^COMPLETION: (?:Pattern : )?(operator[^\s(]+|\w+)(?: \(Hidden\))?(?: : (.*))?$", run.stdout,
                       re.M)
    if not found or "error:" in run.stderr:
        raise SystemExit(f"clang cannot complete:\n{run.stderr[:2000]}")
    return found


def names_in(headers, options, clang):
    """The names in namespace shardtype; one of several functions or templates counts once."""
    return {name for name, _ in completions(headers, options, clang)} - {"operator"}


def differences(found, listed):
    return ([f"{name} is in namespace shardtype and not in the list: engine names belong in the namespace of "
             "their folder (core/namespaces.hpp)" for name in sorted(found - listed)] +
            [f"{name} is in the list and not in namespace shardtype" for name in sorted(listed - found)])


def main():
    arguments = [one for one in sys.argv[1:] if not one.startswith("--")]
    headers, list_file, flag_file, clang = arguments
    found = names_in(headers, flags(flag_file), clang)
    if "--write" in sys.argv:
        Path(list_file).write_text("\n".join(sorted(found)) + "\n")
    listed = set(Path(list_file).read_text().split())
    wrong = differences(found, listed)
    if "--self-test" in sys.argv and len(differences(found | {"Rows"}, listed | {"gone"})) != len(wrong) + 2:
        wrong.append("a name too many or too few goes unnoticed")
    for line in wrong:
        print(line, file=sys.stderr)
    sys.exit(1 if wrong else 0)


if __name__ == "__main__":
    main()
