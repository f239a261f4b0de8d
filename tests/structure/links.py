#!/usr/bin/env python3
"""Units that do not fit the compiled part do not link, and the linker says why (runtime/linkage.hpp).

Compiles src/linkage.cpp, the symbols of the compiled part, and small units beside it, with one thing different in each.

usage: links.py ROOT FLAGS COMPILER...
"""
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import completion

COMPILED = ["-DSHARDTYPE_COMPILED=1"]
OWN = ("-DSHARDTYPE_", "-DNDEBUG", "-D_GLIBCXX_DEBUG")  # definitions that the cases choose
MIXED = "shardtype_some_units_are_header_only_and_some_use_the_compiled_part"
UNITS = {"main": "#include <shardtype/runtime/linkage.hpp>\nint main() { return 0; }\n",
         "beside": "#include <shardtype/runtime/linkage.hpp>\nint beside() { return 0; }\n"}
# Included before the compiled part's symbols, another version.
BEFORE = {"version.hpp": "SHARDTYPE_VERSION 9_9_9", "kokkos.hpp": "KOKKOS_VERSION 1",
          "backends.hpp": "SHARDTYPE_UNIT_THREADS _other_threads", "mpi.hpp": "SHARDTYPE_UNIT_MPI another_MPI"}

# What the compiled part was compiled with, the units of the program, and what the linker must say ("" where the
# program must link and run).
CASES = {
    "the same": ([], [("main", COMPILED), ("beside", COMPILED)], ""),
    "header-only": (None, [("main", []), ("beside", [])], ""),
    "both with NDEBUG": (["-DNDEBUG"], [("main", [*COMPILED, "-DNDEBUG"])], ""),
    "the unit with NDEBUG": ([], [("main", [*COMPILED, "-DNDEBUG"])],
                             "shardtype_this_unit_has_NDEBUG_and_the_compiled_part_has_not"),
    "the part with NDEBUG": (["-DNDEBUG"], [("main", COMPILED)],
                             "shardtype_this_unit_has_no_NDEBUG_and_the_compiled_part_has"),
    "_GLIBCXX_DEBUG": ([], [("main", [*COMPILED, "-D_GLIBCXX_DEBUG"])],
                       "shardtype_this_unit_has_GLIBCXX_DEBUG_and_the_compiled_part_has_not"),
    "BLAS": ([], [("main", [*COMPILED, "-DSHARDTYPE_HAVE_BLAS=1"])],
             "shardtype_this_unit_has_BLAS_and_the_compiled_part_has_not"),
    "no vector functions": (["-DSHARDTYPE_HAVE_LIBMVEC=1"], [("main", COMPILED)],
                            "shardtype_this_unit_has_no_vector_functions_and_the_compiled_part_has"),
    "Fourier transforms": (["-DSHARDTYPE_HAVE_FFTW=1"], [("main", [*COMPILED, "-DSHARDTYPE_HAVE_KISSFFT=1"])],
                           "shardtype_this_unit_has_Fourier_transforms_by_KissFFT_and_the_compiled_part_others"),
    "cuFFT": ([], [("main", [*COMPILED, "-DSHARDTYPE_HAVE_CUFFT=1"])],
              "shardtype_this_unit_has_Fourier_transforms_by_none_and_cuFFT_and_the_compiled_part_others"),
    "-march": ([], [("main", [*COMPILED, "-mavx2", "-mfma"])],
               "shardtype_this_unit_has_instructions_AVX2_FMA_and_the_compiled_part_others"),
    "the address sanitizer": ([], [("main", [*COMPILED, "-fsanitize=address"])],
                              "shardtype_this_unit_has_the_address_sanitizer_and_the_compiled_part_has_not"),
    "the thread sanitizer": ([], [("main", [*COMPILED, "-fsanitize=thread"])],
                             "shardtype_this_unit_has_the_thread_sanitizer_and_the_compiled_part_has_not"),
    "a version": (["-include", "version.hpp"], [("main", COMPILED)],
                  "shardtype_this_unit_has_version_0_2_0_and_the_compiled_part_another"),
    "a Kokkos version": (["-include", "kokkos.hpp"], [("main", COMPILED)], "shardtype_this_unit_has_Kokkos_"),
    "Kokkos backends": (["-include", "backends.hpp"], [("main", COMPILED)],
                        "shardtype_this_unit_has_Kokkos_backends"),
    "an MPI": (["-include", "mpi.hpp"], [("main", COMPILED)], "shardtype_this_unit_has_MPI_"),
    "cuBLAS": ([], [("main", [*COMPILED, "-DSHARDTYPE_HAVE_CUBLAS=1"])],
               "shardtype_this_unit_has_cuBLAS_and_the_compiled_part_has_not"),
    "the wrong one of two units": ([], [("main", COMPILED), ("beside", [*COMPILED, "-DNDEBUG"])],
                                   "shardtype_this_unit_has_NDEBUG_and_the_compiled_part_has_not"),
    "a header-only unit beside": ([], [("main", COMPILED), ("beside", [])], MIXED),
    "a header-only main": ([], [("main", []), ("beside", COMPILED)], MIXED),
}


def run(command):
    return subprocess.run(command, text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False)


class Objects:
    """Compiles each pair of unit and options once."""

    def __init__(self, root, flags, folder):
        self.root, self.flags, self.folder = root, flags, Path(folder)
        for name, text in UNITS.items():
            (self.folder / f"{name}.cpp").write_text(text)
        for name, macro in BEFORE.items():
            (self.folder / name).write_text("#include <shardtype/runtime/linkage.hpp>\n"
                                            f"#undef {macro.split()[0]}\n#define {macro}\n")
        self.made = {}

    def source(self, name):
        return self.root / "src/linkage.cpp" if name == "part" else self.folder / f"{name}.cpp"

    def make(self, key):
        compiler, name, options = key
        out = self.folder / f"{len(self.made)}.o"
        self.made[key] = out
        return [compiler, "-std=c++20", "-O0", "-fPIE", f"-I{self.folder}", *self.flags, *options, "-c", str(self.source(name)), "-o",
                str(out)]

    def __call__(self, compiler, name, options):
        return str(self.made[compiler, name, tuple(options)])


def wanted(compilers):
    for compiler in compilers:
        for part, units, _ in CASES.values():
            if part is not None:
                yield compiler, "part", (*COMPILED, *part)
            for name, options in units:
                yield compiler, name, tuple(options)


def links(compiler, objects, part_of):
    """The linker's text for each case, with a compiled part of another compiler if it is given."""
    found = []
    for case, (part, units, words) in CASES.items():
        given = [objects(compiler, name, options) for name, options in units]
        if part is not None:
            given.append(objects(part_of, "part", [*COMPILED, *part]))
        if part_of != compiler:
            case, words = f"{case}, the part by {part_of}", "shardtype_this_unit_has_compiler_"
            if part != [] or len(units) > 1:
                continue
        out = objects.folder / "program"
        linked = run([compiler, *given, "-o", str(out)])
        if words == "":
            if linked.returncode != 0:
                found.append(f"{compiler}, {case}: does not link:\n{linked.stdout}")
            elif run([str(out)]).returncode != 0:
                found.append(f"{compiler}, {case}: does not run")
        elif linked.returncode == 0:
            found.append(f"{compiler}, {case}: links")
        elif words not in linked.stdout:
            found.append(f"{compiler}, {case}: the linker does not say {words}:\n{linked.stdout}")
    return found


def main():
    root, compilers = Path(sys.argv[1]), sys.argv[3:]
    flags = [flag for flag in completion.flags(sys.argv[2]) if not flag.startswith(OWN)]
    with tempfile.TemporaryDirectory() as folder:
        objects = Objects(root, flags, folder)
        commands = [objects.make(key) for key in dict.fromkeys(wanted(compilers))]
        with ThreadPoolExecutor(2) as pool:
            for done in pool.map(run, commands):
                if done.returncode != 0:
                    sys.exit(done.stdout)
        found = [line for compiler in compilers for part_of in compilers
                 for line in links(compiler, objects, part_of)]
    for line in found:
        print(line, file=sys.stderr)
    sys.exit(1 if found else 0)


if __name__ == "__main__":
    main()
