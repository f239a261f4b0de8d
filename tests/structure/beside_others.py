#!/usr/bin/env python3
"""Both compilers accept the calls that docs/from_*.md show (beside_others.cpp).

usage: beside_others.py ROOT FLAGS COMPILER...
"""
import subprocess
import sys
from pathlib import Path

import completion

flags = completion.flags(sys.argv[2])
if "-DSHARDTYPE_HAVE_JSON=1" not in flags:
    print("left out: nlohmann-json was not found")
    sys.exit(0)
file = Path(sys.argv[1]) / "tests/structure/beside_others.cpp"
bad = [c for c in sys.argv[3:]
       if subprocess.run([c, "-std=c++20", "-fsyntax-only", *flags, str(file)], check=False).returncode != 0]
sys.exit(1 if bad else 0)
