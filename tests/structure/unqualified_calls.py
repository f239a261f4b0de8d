#!/usr/bin/env python3
"""No call in the library finds a function of a user's: every call with dependent arguments is qualified.

Where a template calls `keep(y)` and the type of `y` depends on its parameters, argument-dependent lookup also finds what
is called `keep` in the namespaces of the user's axes and indices, which are template arguments of our types. So such
calls name our function's namespace. Two checks:

- clang's syntax tree (clang-query) says which calls would look there: it marks them `(ADL)`. There are none. There are
  none either of calls with an argument that other libraries may declare in the global namespace, such as an MPI_Comm.
- REGISTRY, which instantiates each operation, its run and its gradient, compiles where the user has functions of all
  names that these calls have, which accept everything, in the global namespace and in that of his axes and indices,
  declared before the library. To choose one of them, or only to consider it, is an error.

Operators are written as such: ours take our types and are found by them. Names that begin with MPI_ or an underscore
are reserved.

usage: unqualified_calls.py HEADERS FLAGS REGISTRY CLANG COMPILER... [--once] [--calls]

HEADERS includes every header; FLAGS has lines KEY=a|b. --once: each COMPILER instantiates a part, by turns; otherwise
each all. --calls: the first check alone.
"""
import re
import shutil
import subprocess
import sys
import tempfile
from collections import namedtuple
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from completion import Completion, flags

Call = namedtuple("Call", "file line column name looks")
CALL = re.compile(r"UnresolvedLookupExpr 0x\w+ <(/[^,:>]+):(\d+):(\d+).*\((no ADL|ADL)\) = '(.*?)'")
WITH_HANDLE = re.compile(r"DeclRefExpr 0x\w+ <(/[^,:>]+):(\d+):(\d+).* Function 0x\w+ '(.*?)'")
RESERVED = re.compile(r"operator\b|MPI_|_")
# Called unqualified by structured bindings, range-based for and the standard's own templates.
STANDARD = {"abs", "begin", "end", "forward", "get", "max", "min", "move", "size", "sqrt", "swap", "visit"}
LIBRARY = """isExpansionInFileMatching("/include/shardtype/")"""
# Handles of MPI and of C libraries may be pointers to structs of the global namespace.
HANDLE = """hasType(qualType(hasDeclaration(namedDecl(matchesName("^::(MPI_|fftw|FILE$|DIR$|cu[a-z]*|tm$|stat$)")))))"""
QUERY = f"""set output dump
set bind-root false
match callExpr({LIBRARY}, callee(unresolvedLookupExpr().bind("callee")))
match callExpr({LIBRARY}, hasAnyArgument(expr({HANDLE})), callee(expr(ignoringParenImpCasts(
  declRefExpr(to(functionDecl(matchesName("^::shardtype::"), unless(cxxMethodDecl())))).bind("callee")))))
""".replace("\n  ", " ")


def read(headers, options, clang):
    """The calls with dependent arguments in templates of the library."""
    query = Path(shutil.which(clang) or clang).resolve().with_name("clang-query")
    if not query.exists():
        raise SystemExit(f"{query} is not there; it is in the package clang-tools of this clang")
    with Completion(headers, options, clang) as complete:
        empty, commands = Path(complete.folder.name) / "empty.cpp", Path(complete.folder.name) / "query"
        empty.write_text("")
        commands.write_text(QUERY)
        run = subprocess.run([query, "-f", commands, empty, "--", "-std=c++20", "-w", *options, "-include-pch",
                              complete.compiled], capture_output=True, text=True, errors="replace")
    calls = {Call(file, int(line), int(column), name, looks == "ADL")
             for file, line, column, looks, name in CALL.findall(run.stdout)}
    lines = {}
    for file, line, column, name in WITH_HANDLE.findall(run.stdout):
        text = lines.setdefault(file, Path(file).read_bytes().splitlines())[int(line) - 1][int(column) - 1:]
        calls.add(Call(file, int(line), int(column), name, re.match(rb"(\w*)", text).group(1).decode() == name))
    if run.returncode != 0 or len(calls) < 1000:
        raise SystemExit(f"{query} finds {len(calls)} calls only:\n{run.stderr[:2000]}")
    return sorted(one for one in calls if not RESERVED.match(one.name))


def faults(calls):
    return [f"{one.file}:{one.line}:{one.column}: the call of {one.name} looks among the functions of the user's "
            "namespaces, too; write our namespace before it" for one in calls if one.looks]


def names(calls):
    # what begins with a capital is a type, with its constructors; the registry has a namespace `samples`
    return sorted(one for one in {call.name for call in calls} | STANDARD if one[0].islower() and one != "samples")


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
    calls = read(headers, options, clang)
    wrong = faults(calls)
    if "--calls" not in sys.argv:
        with tempfile.TemporaryDirectory() as folder, ThreadPoolExecutor(2) as pool:
            users = Path(folder) / "users.hpp"
            users.write_text(USERS.format(includes="\n".join(f"#include <{one}>" for one in OTHERS),
                                          functions="\n".join(f"USERS_FUNCTION({one})" for one in names(calls))))
            jobs = [(compiler, gradients) for k, compiler in enumerate(compilers) for gradients in (False, True)
                    if "--once" not in sys.argv or gradients == bool(k % 2) or len(compilers) == 1]
            for lines in pool.map(lambda job: instantiated(users, registry, [f"-I{root}/tests", *options], *job), jobs):
                wrong += lines
    print("\n".join(wrong[:200]), file=sys.stderr)
    print(f"{len(calls)} calls of {len({one.name for one in calls})} names, {sum(one.looks for one in calls)} unqualified")
    sys.exit(1 if wrong else 0)


if __name__ == "__main__":
    main()
