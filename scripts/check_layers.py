#!/usr/bin/env python3
"""Checks the shape of include/shardtype and prints every offender.

- A header includes only its own layer or an earlier one; the top folders may use each other, in no
  circle. In ops/ and the top folders a prefix of the file's name is the layer: types_* (in ops/ all but run_*) is
  behind check/, settings.hpp is in runtime/, kernels_* in kernels/, run_* behind execute/.
- The types layer (core, rules, plan, check, ops/ and types_*, types.hpp) never includes MPI or Kokkos.
- MPI collectives are called in runtime/comm only, other MPI functions in runtime/ only; io/ may
  call MPI_File_* and what describes a file access (types, infos, error texts, rank and size).
- A header that names what MPI or Kokkos define includes them, itself or by headers of ours.
- Kokkos::parallel_* and the headers of BLAS, LAPACK and FFTW occur in kernels/ only.
- The variables of the running program are in runtime/run_time.hpp; elsewhere only the caches of plans, and
  private members of a class.
- Headers are short: the median is at most 150 lines, none has more than 600.
- What holds for headers holds for the definitions in *.ipp files. One unit of src/ compiles each of them, and of the
  headers only its own includes it.
- The two umbrellas hold includes and pragmas only.

usage: check_layers.py [ROOT] | --self-test
"""
import re
import statistics
import sys
import tempfile
from pathlib import Path

LAYERS = ["core", "rules", "plan", "check", "ops", "runtime", "kernels", "tensor", "overlap", "execute", "run_", "lazy",
          "manual"]
TOP = ["autodiff", "nn", "fft", "linalg", "train", "pipeline", "checkpoint", "random", "io", "visualize", "freeze"]
TYPES = {"core", "rules", "plan", "check", "ops"}
PREFIXES = {"types_": "ops", "settings": "runtime", "kernels_": "kernels", "run_": "run_"}
UMBRELLAS = {"shardtype.hpp", "types.hpp"}
MEDIAN_LINES, MAX_LINES = 150, 600

RANK = {name: number for number, name in enumerate(LAYERS)}
RANK.update({name: len(LAYERS) for name in TOP})

INCLUDE = re.compile(r'^[ \t]*#[ \t]*include[ \t]*[<"]([^>"]+)[>"]', re.M)
COLLECTIVE = re.compile(
    r"\bMPI_(?:I?(?:allgather|allreduce|alltoall|barrier|bcast|exscan|gather|reduce|scan|scatter|"
    r"sendrecv)|I?neighbor_)\w*\s*\(", re.I)
# Conversions such as MPI_Offset(n) are no calls.
MPI_CALL = re.compile(r"\bMPI_(?!(?:Offset|Aint|Count)\b)[A-Z]\w*\s*\(")
# What file access needs and what sends nothing by itself.
MPI_FILE = re.compile(r"\bMPI_(?:(?:File|Type|Info)_\w+|Error_(?:class|string)|Comm_(?:rank|size))\s*\(")
PARALLEL = re.compile(r"\bKokkos::(?:Experimental::)?parallel_\w+")
OTHERS = {"mpi.h": re.compile(r"\bMPI_\w+"), "Kokkos_Core.hpp": re.compile(r"\bK(?:okkos::|OKKOS_)\w+")}
LIBRARY_HEADERS = re.compile(r"^(?:cblas|lapacke?|fftw3\S*|cublas\S*|cusolver\S*|cufft\S*)\.h$")

# A variable at namespace scope that is no constant.
VARIABLE = re.compile(r"(?m)^(?:inline|static|thread_local|SHARDTYPE_INLINE)(?: (?:inline|static|thread_local))* (?!constexpr\b|const\b|constinit const\b)"
                      r"[\w:<>, *&]+?\b\w+(?: = [^;()]*|\{[^;]*\})?;")
RUN_TIME = "runtime/run_time.hpp"
CACHES = re.compile(r".* (?:plan_cache|program_cache);")

TOKEN = re.compile(r"""
    //[^\n]* | /\*.*?\*/                                  # comments
  | R"(?P<d>[^()\\ ]*)\(.*?\)(?P=d)"                      # raw strings
  | "(?:\\.|[^"\\\n])*"                                   # strings
""", re.S | re.X)


def blank(match):
    return "\n" * match.group().count("\n") + " "


def code_of(text):
    """The text with comments and strings blanked, line numbers kept; includes survive."""
    return TOKEN.sub(lambda m: m.group() if is_include(text, m) else blank(m), text)


def is_include(text, match):
    start = text.rfind("\n", 0, match.start()) + 1
    return re.match(r'[ \t]*#[ \t]*include[ \t]*$', text[start:match.start()]) is not None


def folder_of(name):
    """The folder of an include written shardtype/..., '' for the files at the top."""
    parts = name.split("/")
    return parts[1] if len(parts) > 2 else ""


def layer_of(name):
    """The layer of an include written shardtype/...: its folder, or that of its prefix in ops/ and the top folders."""
    folder = folder_of(name)
    if folder == "ops" or folder in TOP:
        for prefix, layer in PREFIXES.items():
            if name.split("/")[-1].startswith(prefix):
                return layer
    return folder


def check(root):
    base = root / "include" / "shardtype"
    found = []
    uses = {name: {} for name in TOP}
    lengths = []
    named = []  # of each header: what of others it names first, and where
    includes = {}

    units = "".join(path.read_text(encoding="utf-8") for path in sorted((root / "src").glob("*.cpp")))
    compiled = INCLUDE.findall(units)

    for path in sorted([*base.rglob("*.hpp"), *base.rglob("*.ipp")]):
        short = path.relative_to(base).as_posix()
        folder = folder_of("shardtype/" + short)
        layer = layer_of("shardtype/" + short)
        text = path.read_text(encoding="utf-8")
        code = code_of(text)
        lines = text.count("\n")
        definitions = path.suffix == ".ipp"
        if not definitions:
            lengths.append(lines)

        def report(position, what):
            found.append(f"include/shardtype/{short}:{code.count(chr(10), 0, position) + 1}: {what}")

        def calls(pattern, what, unless=None):
            for match in pattern.finditer(code):
                if not (unless and unless.match(match.group())):
                    report(match.start(), f"{match.group().rstrip('( ')} {what}")

        if lines > MAX_LINES:
            report(0, f"{lines} lines (at most {MAX_LINES})")
        if folder and folder not in RANK:
            report(0, f"folder {folder}/ is no layer")
            continue
        if definitions and compiled.count("shardtype/" + short) != 1:
            report(0, f"is compiled by {compiled.count('shardtype/' + short)} units of src/, not by one")
        if short in UMBRELLAS:
            rest = [line for line in code.split("\n")
                    if line.strip() and not re.match(r"\s*#\s*(pragma\b|include\b)", line)]
            if rest:
                report(0, f"an umbrella holds includes only, not: {rest[0].strip()}")

        includes["shardtype/" + short] = INCLUDE.findall(code)
        for header, pattern in OTHERS.items():
            # what follows an #ifdef is there on condition only
            match = pattern.search(re.sub(r"(?m)^[ \t]*#[ \t]*(?:el)?if.*$", "", code))
            if match:
                named.append((short, match.group(), header))

        types_only = layer in TYPES or short == "types.hpp"
        for match in INCLUDE.finditer(code):
            name = match.group(1)
            if types_only and re.match(r"(mpi\.h|mpi/|Kokkos|KokkosKernels|impl/Kokkos)", name):
                report(match.start(), f"the types layer includes {name}")
            if LIBRARY_HEADERS.match(name) and layer != "kernels":
                report(match.start(), f"{name} is included outside kernels/")
            if not name.startswith("shardtype/"):
                local = path.parent / name
                if match.group().rstrip().endswith('"') and local.exists():
                    report(match.start(), f'"{name}": includes of ours are written <shardtype/...>')
                continue
            if not (base.parent / name).exists():
                report(match.start(), f"{name} does not exist")
            target = layer_of(name)
            if name.endswith(".ipp") and name != "shardtype/" + short[:-len("hpp")] + "ipp":
                report(match.start(), f"{name} is not of this header")
            if folder and not target:
                report(match.start(), f"{name} is an umbrella; include what is used")
            elif short == "types.hpp" and target not in TYPES:
                report(match.start(), f"types.hpp includes {name}")
            elif folder and target in RANK and RANK[target] > RANK[layer]:
                report(match.start(), f"{layer}/ includes the later layer {target}/")
            elif folder in TOP and folder_of(name) in TOP and folder_of(name) != folder:
                uses[folder].setdefault(folder_of(name), f"include/shardtype/{short}")

        if folder != "runtime":
            calls(MPI_CALL, "is called outside runtime/", MPI_FILE if folder == "io" else None)
        elif short not in ("runtime/comm.hpp", "runtime/comm.ipp"):
            calls(COLLECTIVE, "is called outside runtime/comm")
        if short != RUN_TIME:
            calls(VARIABLE, "is a variable outside runtime/run_time.hpp", CACHES)
        if layer != "kernels":
            calls(PARALLEL, "is launched outside kernels/")

    for short, name, header in named:
        if header not in reached("shardtype/" + short, includes):
            found.append(f"include/shardtype/{short}: {name} is named, {header} is not included")
    circle = find_circle(uses)
    if circle:
        found.append("folders include each other in a circle: " + " -> ".join(circle) + "".join(
            f"\n  {a} -> {b}: {uses[a][b]}" for a, b in zip(circle, circle[1:])))
    if lengths and statistics.median(lengths) > MEDIAN_LINES:
        found.append(f"the median header has {statistics.median(lengths):g} lines "
                     f"(at most {MEDIAN_LINES})")
    return found, lengths


def reached(header, includes):
    """All that a header includes, by headers of ours too; not by *.ipp files, which are included on condition."""
    seen = set()
    waiting = [header]
    while waiting:
        for name in includes.get(waiting.pop(), []):
            if name not in seen and not name.endswith(".ipp"):
                seen.add(name)
                waiting.append(name)
    return seen


def find_circle(uses):
    def walk(node, path):
        if node in path:
            return path[path.index(node):] + [node]
        for target in uses.get(node, {}):
            circle = walk(target, path + [node])
            if circle:
                return circle
        return None

    for node in uses:
        circle = walk(node, [])
        if circle:
            return circle
    return None


FAULTS = {
    "later layer": ({"core/a.hpp": "#include <shardtype/ops/b.hpp>\n", "ops/b.hpp": "\n"}, "later layer ops/"),
    "no such header": ({"core/a.hpp": "#include <shardtype/core/gone.hpp>\n"}, "does not exist"),
    "umbrella inside": ({"core/a.hpp": "#include <shardtype/types.hpp>\n", "types.hpp": "\n"}, "umbrella"),
    "types sees MPI": ({"rules/a.hpp": "#include <mpi.h>\n"}, "types layer includes mpi.h"),
    "types sees Kokkos": ({"plan/a.hpp": "#  include <Kokkos_Core.hpp>\n"}, "Kokkos_Core.hpp"),
    "collective": ({"runtime/mesh.hpp": "int i = MPI_Iallreduce_c(1);\n"}, "outside runtime/comm"),
    "collective in ops": ({"ops/a.hpp": "int i = MPI_Alltoallv(1);\n"}, "outside runtime/"),
    "send in tensor": ({"tensor/a.hpp": "int i = MPI_Isend(1);\n"}, "outside runtime/"),
    "io collective": ({"io/a.hpp": "int i = MPI_Bcast(1);\n"}, "MPI_Bcast"),
    "MPI not included": ({"io/a.hpp": "using A = MPI_Comm;\n"}, "MPI_Comm is named"),
    "Kokkos not included": ({"tensor/a.hpp": "#include <shardtype/core/b.hpp>\nKOKKOS_FUNCTION int f();\n",
                             "core/b.hpp": "\n"}, "KOKKOS_FUNCTION is named"),
    "launch": ({"tensor/a.hpp": "int i = (Kokkos::parallel_for(1), 1);\n"}, "outside kernels/"),
    "variable": ({"runtime/a.hpp": "namespace a {\ninline thread_local List<int> const* made = nullptr;\n}\n"},
                 "is a variable outside"),
    "blas header": ({"ops/a.hpp": "#include <cblas.h>\n"}, "outside kernels/"),
    "functions see a run": ({"ops/a.hpp": "#include <shardtype/ops/run_a.hpp>\n", "ops/run_a.hpp": "\n"},
                            "ops/ includes the later layer run_/"),
    "functions see Kokkos": ({"ops/a.hpp": "#include <Kokkos_Core.hpp>\n"}, "types layer includes Kokkos_Core.hpp"),
    "types of a family see its run": ({"fft/types_a.hpp": "#include <shardtype/fft/run_a.hpp>\n", "fft/run_a.hpp": "\n"},
                                      "ops/ includes the later layer run_/"),
    "types of a family see MPI": ({"fft/types_a.hpp": "#include <mpi.h>\n"}, "types layer includes mpi.h"),
    "a family's run launches": ({"fft/run_a.hpp": "int i = (Kokkos::parallel_for(1), 1);\n"}, "outside kernels/"),
    "definitions see a later layer": ({"core/a.ipp": "#include <shardtype/ops/b.hpp>\n", "ops/b.hpp": "\n"},
                                      "a.ipp:1: core/ includes the later layer ops/"),
    "definitions of types see MPI": ({"core/a.ipp": "#include <mpi.h>\n"}, "types layer includes mpi.h"),
    "collective in definitions": ({"runtime/a.ipp": "int i = MPI_Bcast(1);\n"}, "outside runtime/comm"),
    "send in definitions": ({"execute/a.ipp": "int i = MPI_Isend(1);\n"}, "outside runtime/"),
    "launch in definitions": ({"execute/a.ipp": "int i = (Kokkos::parallel_for(1), 1);\n"}, "outside kernels/"),
    "MPI by definitions": ({"runtime/a.hpp": "MPI_Comm f();\n#include <shardtype/runtime/a.ipp>\n",
                            "runtime/a.ipp": "#include <mpi.h>\n"}, "MPI_Comm is named"),
    "variable in definitions": ({"runtime/a.ipp": "SHARDTYPE_INLINE int made = 0;\n"}, "is a variable outside"),
    "definitions too long": ({"core/a.ipp": "\n" * 601}, "601 lines"),
    "definitions compiled nowhere": ({"core/a.ipp": "\n"}, "by 0 units of src/"),
    "definitions of another header": ({"core/a.hpp": "#include <shardtype/core/b.ipp>\n", "core/b.ipp": "\n"},
                                      "b.ipp is not of this header"),
    "circle": ({"nn/a.hpp": "#include <shardtype/fft/b.hpp>\n", "fft/b.hpp": "#include <shardtype/nn/a.hpp>\n"},
               "circle"),
    "too long": ({"core/a.hpp": "\n" * 601}, "601 lines"),
    "median": ({"core/a.hpp": "\n" * 151}, "median"),
    "unknown folder": ({"misc/a.hpp": "\n"}, "is no layer"),
    "umbrella with code": ({"types.hpp": "#pragma once\nint x;\n"}, "includes only"),
    "nothing wrong": ({
        "core/a.hpp": '// MPI_Bcast( in a comment\nchar const* t = "MPI_Bcast(";\n',
        "runtime/comm.hpp": "#include <mpi.h>\nint i = MPI_Iallreduce(1);\n#include <shardtype/runtime/comm.ipp>\n",
        "runtime/comm.ipp": "#include <shardtype/runtime/comm.hpp>\nint i = MPI_Bcast(1);\n",
        "../../src/runtime.cpp": "#include <shardtype/runtime/comm.ipp>\n",
        "runtime/mesh.hpp": "#include <shardtype/runtime/comm.hpp>\nint i = MPI_Cart_create(MPI_Comm_split(1));\n",
        "runtime/run_time.hpp": "inline RunTime run_time;\n",
        "lazy/a.hpp": "inline int f();\ninline constexpr int n = 1;\ninline ProgramCache program_cache;\n",
        "kernels/a.hpp": "#include <Kokkos_Core.hpp>\nint i = (Kokkos::parallel_for(1), 1);\n#include <cblas.h>\n",
        "io/a.hpp": "#include <mpi.h>\nint i = MPI_File_open(MPI_Offset(1), MPI_Type_free(1), MPI_Comm_rank(1));\n#include <shardtype/random/a.hpp>\n",
        "random/a.hpp": "#include <shardtype/core/a.hpp>\n",
        "ops/b.hpp": "#include <shardtype/core/a.hpp>\n",
        "ops/run_b.hpp": "#include <shardtype/kernels/a.hpp>\n#include <shardtype/ops/b.hpp>\n",
        "fft/types_a.hpp": "#include <shardtype/ops/b.hpp>\n",
        "fft/kernels_a.hpp": "#include <Kokkos_Core.hpp>\n#include <fftw3.h>\nint i = (Kokkos::parallel_for(1), 1);\n",
        "fft/run_a.hpp": "#include <shardtype/fft/kernels_a.hpp>\n#include <shardtype/ops/run_b.hpp>\n",
        "fft/a.hpp": "#include <shardtype/fft/run_a.hpp>\n#include <shardtype/lazy/a.hpp>\n",
        "types.hpp": "// words\n#pragma once\n#include <shardtype/core/a.hpp>\n#include <shardtype/ops/b.hpp>\n",
        "shardtype.hpp": "#pragma once\n#include <shardtype/types.hpp>\n",
    }, None),
}


def self_test():
    wrong = 0
    for name, (files, expected) in FAULTS.items():
        with tempfile.TemporaryDirectory() as folder:
            for short, text in files.items():
                path = Path(folder) / "include" / "shardtype" / short
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_text(text, encoding="utf-8")
            found, _ = check(Path(folder))
        good = not found if expected is None else any(expected in line for line in found)
        if not good:
            wrong += 1
            print(f"self-test '{name}': expected {expected!r}, found {found}")
    print(f"check_layers self-test: {len(FAULTS)} cases, {wrong} wrong")
    return 1 if wrong else 0


def main():
    arguments = sys.argv[1:]
    if arguments == ["--self-test"]:
        return self_test()
    root = Path(arguments[0]) if arguments else Path(__file__).resolve().parent.parent
    found, lengths = check(root)
    for line in found:
        print(line)
    median = statistics.median(lengths) if lengths else 0
    print(f"layers: {len(lengths)} headers, median {median:g} lines, longest "
          f"{max(lengths, default=0)}; {len(found)} offences")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
