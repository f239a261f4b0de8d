#!/usr/bin/env python3
"""How many mechanisms there are: specialisations of templates for one operation, and headers in linalg/.

What an operation is stands in its struct (rule, element, extents, fill, steps, pull). Each specialisation of another
template for it (Run, Vjp, Resolve and the like) is one more place that a new operation has to know, so that their number
may fall and not grow; so may the number of headers of one family of factorisations.

usage: mechanisms.py ROOT [--self-test]
"""
import re
import sys
from collections import Counter
from pathlib import Path

MOST_SPECIALISATIONS = 77
MOST_HEADERS = {"linalg": 48}
SPECIALISED = re.compile(r"^\s*(?:struct|class|inline constexpr [\w:]+)\s+(\w+)<\s*(?:ResultOf<)?(?:\w+::)*op::", re.M)


def specialisations(texts):
    """How often each template is specialised for types in namespace op, or for their results."""
    return Counter(name for text in texts for name in SPECIALISED.findall(re.sub(r"//[^\n]*", "", text)))


def main():
    base = Path(sys.argv[1]) / "include/shardtype"
    counted = specialisations(path.read_text() for path in base.rglob("*.[hi]pp"))
    total, found = sum(counted.values()), []
    print(f"{total} specialisations: " + ", ".join(f"{name} {number}" for name, number in counted.most_common()))
    if total > MOST_SPECIALISATIONS:
        found.append(f"{total} specialisations of templates for operations, at most {MOST_SPECIALISATIONS}: can the "
                     "operation say it in its struct?")
    for folder, most in MOST_HEADERS.items():
        headers = len(list((base / folder).glob("*.[hi]pp")))
        print(f"{headers} headers in {folder}/")
        if headers > most:
            found.append(f"{headers} headers in {folder}/, at most {most}")
    if "--self-test" in sys.argv:
        planted = ["template <class I>\nstruct Run<op::New<I>> {};", "struct Vjp<shardtype::op::New> : Pulled {};",
                   "template <>\ninline constexpr bool is_reduction<op::New> = true;"]
        if sum(specialisations(planted).values()) != len(planted):
            found.append("a planted specialisation goes unnoticed")
        if specialisations(["// struct Run<op::New> {};", "using R = Run<op::New>;"]):
            found.append("what is no specialisation is counted")
    for line in found:
        print(line, file=sys.stderr)
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
