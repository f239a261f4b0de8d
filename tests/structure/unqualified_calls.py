#!/usr/bin/env python3
"""No call in the library finds a function of a user's: every call with dependent arguments is qualified.

Where a template calls `keep(y)` and the type of `y` depends on its parameters, argument-dependent lookup also finds what
is called `keep` in the namespaces of the user's axes and indices, which are template arguments of our types. So such
calls name our function's namespace. Two checks:

- clang's syntax tree says which calls would look there: it marks them `(ADL)`. There are none.
- REGISTRY, which instantiates each operation, its run and its gradient, compiles where the user has functions of all
  names that the tree has, which accept everything, in the global namespace and in that of his axes and indices,
  declared before the library and again behind it. To choose one of them, or only to consider it, is an error.

Operators are written as such: ours take our types and are found by them. Names that begin with MPI_ or an underscore
are reserved.

usage: unqualified_calls.py HEADERS FLAGS REGISTRY CLANG COMPILER... [--once] [--names] [--tree]

HEADERS includes every header; FLAGS has lines KEY=a|b. --once: each COMPILER instantiates a part, by turns; otherwise
each all. --tree: the first check alone. --names prints the names instead.
"""
import re
import subprocess
import sys
import tempfile
from collections import namedtuple
from concurrent.futures import ThreadPoolExecutor
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
# Called unqualified by structured bindings, range-based for and the standard's own templates.
STANDARD = {"abs", "begin", "end", "forward", "get", "max", "min", "move", "size", "sqrt", "swap", "visit"}
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
                    name = re.match(r"(?:(?:imported|implicit|referenced|used|invalid|constexpr|consteval) )*(\w+)", text[at:])
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


def read(headers, options, clang, root):
    """The library's syntax tree."""
    with Completion(headers, options, clang) as complete:
        return Tree(complete.tree("shardtype"), root)


def faults(tree):
    return [f"{Path(file).relative_to(tree.root)}:{line}:{column}: the call of {name} looks among the functions of the "
            "user's namespaces, too; write its namespace before it"
            for file, line, column, name in sorted(tree.calls)]


def names(tree):
    """All that the library declares or calls, and what the standard library calls for a user."""
    found = {one.name for one in tree.functions} | {one[3] for one in tree.calls} | STANDARD
    # what begins with a capital is a type, with its constructors; the registry has a namespace `samples`
    return sorted(one for one in found if re.match("[a-z]", one) and not RESERVED.match(one)
                  and one not in ("operator", "main", "samples"))


# What is not the library's comes first, because the standard library itself calls some of these names unqualified.
USERS = """#pragma once
{includes}
namespace users_functions {{
template <class Name>
inline constexpr bool is_ours = false;
template <class Name, class... Ts>
struct Considered {{
  static_assert(is_ours<Name>, "a call of the library considers a function of the user's");
  using type = void;
}};
}}  // namespace users_functions
#define USERS_FUNCTION(name)                                                                        \\
  template <class... Ts> auto name(auto&&... x) -> typename users_functions::Considered<            \\
      struct OfUser_##name, Ts..., decltype(x)...>::type;                                           \\
  template <auto V, class... Ts> auto name(auto&&... x) -> typename users_functions::Considered<    \\
      struct OfUser_##name, Ts..., decltype(x)...>::type;                                           \\
  template <class T, auto V, auto... Vs> auto name(auto&&... x) -> typename users_functions::Considered< \\
      struct OfUser_##name, T, decltype(x)...>::type;
{functions}
namespace user {{
{functions}
}}  // namespace user
"""
OTHERS = ("mpi.h", "Kokkos_Core.hpp", "boost/hana.hpp", "bits/stdc++.h")


def instantiated(users, registry, options, compiler, gradients):
    """The errors of the registry beside a user's functions; with the gradients, or the runs."""
    run = subprocess.run([compiler, "-std=c++20", "-w", "-O0", "-fsyntax-only", *options, "-include", str(users),
                          *(["-DREGISTRY_GRADIENTS"] if gradients else []), str(registry)],
                         capture_output=True, text=True)
    if run.returncode == 0:
        return []
    shown = [line[:400] for line in run.stderr.splitlines()
             if "error:" in line or "include/shardtype" in line or "OfUser_" in line]
    return [f"{compiler}, {'gradients' if gradients else 'runs'}: the library does not compile beside a user's "
            "functions:", *shown[:40]]


def main():
    given = [one for one in sys.argv[1:] if not one.startswith("--")]
    headers, flag_file, registry, clang, *compilers = given
    registry = Path(registry).resolve()
    root = registry.parent.parent.parent
    options = flags(flag_file)
    tree = read(headers, options, clang, root / "include")
    if "--names" in sys.argv:
        print("\n".join(names(tree)))
        return
    wrong = faults(tree)
    if len(tree.functions) < 1000:
        wrong.append("clang dumps its syntax tree otherwise")
    if "--tree" not in sys.argv:
        with tempfile.TemporaryDirectory() as folder, ThreadPoolExecutor(2) as pool:
            users = Path(folder) / "users.hpp"
            users.write_text(USERS.format(includes="\n".join(f"#include <{one}>" for one in OTHERS),
                                          functions="\n".join(f"USERS_FUNCTION({one})" for one in names(tree))))
            jobs = [(compiler, gradients) for k, compiler in enumerate(compilers) for gradients in (False, True)
                    if "--once" not in sys.argv or gradients == bool(k % 2) or len(compilers) == 1]
            for lines in pool.map(lambda job: instantiated(users, registry, [f"-I{root}/tests", *options], *job), jobs):
                wrong += lines
    print("\n".join(wrong[:200]), file=sys.stderr)
    print(f"{len(tree.calls)} unqualified calls of {len({one[3] for one in tree.calls})} names; "
          f"{len(names(tree))} names")
    sys.exit(1 if wrong else 0)


if __name__ == "__main__":
    main()
