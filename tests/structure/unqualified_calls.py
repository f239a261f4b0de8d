#!/usr/bin/env python3
"""No call in the library finds a function of a user's: every call with dependent arguments is qualified.

Where a template calls `keep(y)` and the type of `y` depends on its parameters, argument-dependent lookup also finds what
is called `keep` in the namespaces of the user's axes and indices, which are template arguments of our types. So such
calls name our function's namespace. clang's syntax tree says which calls would look there: it marks them `(ADL)`.

Operators are written as such: ours take our types and are found by them. Names that begin with MPI_ or an underscore
are reserved.

usage: unqualified_calls.py HEADERS FLAGS CLANG [--names]

HEADERS includes every header; FLAGS has lines KEY=a|b. --names prints the functions of the library instead.
"""
import re
import sys
from collections import namedtuple
from pathlib import Path

from completion import Completion, flags

# A call: where it is; the namespace around it; the namespaces of the functions that ordinary lookup finds, of which those
# of a using-declaration in a function are None.
Call = namedtuple("Call", "file line column name around found")
Function = namedtuple("Function", "name space file line")

HEAD = re.compile(r"([| `-]*)(\w+) (?:0x([0-9a-f]+) )?(?:(?:parent|prev) 0x\w+ )*")
PLACE = re.compile(r"(?:(<[\w -]+>|/[^\s,<>:]+):(\d+):|line:(\d+):|col:|<invalid sloc>)(\d*)")
CALLEE = re.compile(r"\(ADL\) = '(.*?)'(.*)")
RESERVED = re.compile(r"operator\W|MPI_|_")
FUNCTIONS = ("FunctionDecl", "FunctionTemplateDecl")


class Tree:
    """What the library's declarations say, read from the lines of clang's dump."""

    def __init__(self, lines, root):
        self.root = str(Path(root).resolve()) + "/"
        self.calls, self.functions, self.spaces = {}, [], set()
        self.file, self.line = "", 0
        declared = {}  # address -> namespace
        inside = []    # depth and name of each namespace around
        unknown = []
        for text in lines:
            head = HEAD.match(text)
            if head is None:
                inside = [] if text.startswith("Dumping ") else inside
                continue
            depth, kind, at = head.end(1), head.group(2), head.end()
            if text[at] == "<":
                begin, at = self.range(text, at + 1)
            while inside and inside[-1][0] >= depth:
                inside.pop()
            if kind.endswith("Decl"):
                place, at = self.place(text, at)
                if kind == "NamespaceDecl":
                    words = [one for one in text[at:].split() if one not in ("nested", "inline")]
                    inside.append((depth, words[-1] if words else ""))
                    self.spaces.add("::".join(name for _, name in inside))
                elif kind in FUNCTIONS:
                    space = "::".join(name for _, name in inside)
                    declared[head.group(3)] = space
                    # directly in a namespace, or the friend of a class
                    name = re.match(r"(?:(?:imported|implicit|referenced|used|invalid|constexpr) )*(\w+)", text[at:])
                    if name and (place or begin)[0].startswith(self.root):
                        self.functions.append(Function(name.group(1), space, *(place or begin)[:2]))
            elif kind == "UnresolvedLookupExpr" and begin[0].startswith(self.root) and "(ADL)" in text:
                name, found = CALLEE.search(text).groups()
                if not RESERVED.match(name):
                    unknown.append((*begin, name, "::".join(name for _, name in inside), found.split()))
        for file, line, column, name, around, found in unknown:
            spaces = {declared.get(one[2:]) for one in found if one.startswith("0x")}
            call = Call(file, line, column, name, around, frozenset(spaces))
            self.calls[call[:4]] = call

    def place(self, text, at):
        """The place that is written at `at`, and what follows it; None where there is none."""
        match = PLACE.match(text, at)
        if match is None:
            return None, at
        if match.group(1):
            self.file, self.line = match.group(1), int(match.group(2))
        elif match.group(3):
            self.line = int(match.group(3))
        return (self.file, self.line, int(match.group(4) or 0)), match.end() + 1

    def range(self, text, at):
        begin, at = self.place(text, at)
        if begin and text[at - 1] == ",":
            _, at = self.place(text, at + 1)
        return begin or ("", 0, 0), text.find("> ", at - 1) + 2


def read(complete, root):
    """The library's syntax tree; `complete` has compiled the headers."""
    return Tree(complete.tree("shardtype"), root)


def faults(tree):
    return [f"{Path(file).relative_to(tree.root)}:{line}:{column}: the call of {name} finds a user's function of that "
            "name by its arguments; it names its namespace" for file, line, column, name in sorted(tree.calls)]


def main():
    headers, flag_file, clang = [one for one in sys.argv[1:] if not one.startswith("--")]
    root = Path(__file__).resolve().parent.parent.parent / "include"
    with Completion(headers, flags(flag_file), clang) as complete:
        tree = read(complete, root)
    if "--names" in sys.argv:
        print("\n".join(sorted({one.name for one in tree.functions})))
        return
    found = faults(tree)
    print("\n".join(found), file=sys.stderr)
    print(f"{len(found)} unqualified calls of {len({one[3] for one in tree.calls})} names; "
          f"{len({one.name for one in tree.functions})} functions")
    sys.exit(1 if found else 0)


if __name__ == "__main__":
    main()
