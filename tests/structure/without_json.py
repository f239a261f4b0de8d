#!/usr/bin/env python3
"""Without nlohmann-json a checkpoint is refused by one sentence that names the package, and the header can be included.

usage: without_json.py ROOT FLAGS COMPILER...

FLAGS has lines KEY=a|b (cmake/ExpectError.cmake).
"""
import re
import subprocess
import sys
import tempfile
from pathlib import Path

import completion

PACKAGE = "nlohmann-json3-dev"
HEAD = """#include <shardtype/shardtype.hpp>
#include <shardtype/checkpoint/checkpoint.hpp>
using namespace shardtype;
struct X : Axis<"X"> {};
struct I : Index<"I", 8> {};
using A = Tensor<float, Dim<I, X>>;
"""
CALLS = {
    "save": 'void save(A const& a) { checkpoint::save("run", 1, a); }',
    "load": 'void load(A& a) { checkpoint::load("run", a); }',
    "save_safetensors": 'void save_safetensors(A const& a) { checkpoint::save_safetensors("a", a); }',
    "load_safetensors": 'void load_safetensors(A& a) { checkpoint::load_safetensors("a", a); }',
    "Saver": 'void saver(checkpoint::Saver& s, A const& a) { s.save(1, a); }',
}


def errors(compiler, options, text):
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "program.cpp"
        file.write_text(HEAD + text + "\n")
        run = subprocess.run([compiler, "-std=c++20", "-fsyntax-only", "-w", *options, str(file)], text=True,
                             capture_output=True)
    found = re.findall(r"\berror: (.*)$", run.stderr, re.M)
    return found if found or run.returncode == 0 else [run.stderr[:500]]


def main():
    flags = completion.flags(sys.argv[2])
    without = [one for one in flags if not one.startswith("-DSHARDTYPE_HAVE_JSON")]
    faults = []
    for compiler in sys.argv[3:]:
        if errors(compiler, without, "int unused;"):
            faults.append(f"{compiler}: the header alone is refused")
        # Saver::save is the save of the first program: in one program it would be refused once
        for names in (("save", "load", "save_safetensors", "load_safetensors"), ("Saver",)):
            said = errors(compiler, without, "\n".join(CALLS[name] for name in names))
            if len(said) != len(names) or not all(PACKAGE in one for one in said):
                faults.append(f"{compiler}, {' '.join(names)}: {said}")
        # the programs are legal where the package is there
        if without != flags:
            for said in errors(compiler, flags, CALLS["save"] + CALLS["load"]):
                faults.append(f"{compiler}, with the package: {said}")
    for fault in faults:
        print(fault, file=sys.stderr)
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
