"""Measures what programs cost the compiler, for scripts/bench.d/compile and planner."""
import json
import os
import resource
import shlex
import shutil
import statistics
import subprocess
import tempfile

from bench_runs import option


def flags():
    """Include folders and definitions of the benchmarks as CMake configured them."""
    with open("build/bench/compile_commands.json", encoding="utf-8") as file:
        sources = os.path.abspath("bench") + "/"  # build/bench has units of the compiled part
        entry = next(e for e in json.load(file) if e["file"].startswith(sources))
    words = shlex.split(entry["command"])
    kept = []
    for place, word in enumerate(words):
        if word == "-isystem":
            kept += [word, words[place + 1]]
        elif word.startswith(("-I", "-D")) and word != "-DNDEBUG":
            kept.append(word)
    return kept


def user_seconds(command):
    before = resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime
    subprocess.run(command, check=True)
    return resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime - before


def measure(compiler, programs, runs, folder, options, of_program=None):
    """Median milliseconds of user time of each program, all in turn; `of_program` gives the flags of each."""
    of_program = of_program or (lambda name: flags())
    found = {name: [] for name in programs}
    for run in range(runs + 1):
        for name in programs:
            took = user_seconds(
                [compiler, "-std=c++20", *options, *of_program(name), "-c", f"{folder}/{name}.cpp",
                 "-o", f"{folder}/out.o"])
            if run > 0:  # the first run fills the file cache
                found[name].append(1e3 * took)
    for name, times in found.items():
        low, high = min(times), max(times)
        print(f"{compiler} {name}: {statistics.median(times):.0f} ms ({low:.0f} to {high:.0f})",
              flush=True)
    return {name: statistics.median(times) for name, times in found.items()}


def measure_all(programs, runs, options, of_program=None):
    """(compiler, medians by program) for each compiler that is installed."""
    os.environ["CCACHE_DISABLE"] = "1"
    out = []
    with tempfile.TemporaryDirectory() as folder:
        for name, text in programs.items():
            with open(f"{folder}/{name}.cpp", "w", encoding="utf-8") as file:
                file.write(text)
        for compiler in option("compilers", "g++,clang++-19").split(","):
            if shutil.which(compiler) is None:
                print(f"{compiler} is not installed: left out")
                continue
            out.append((compiler, measure(compiler, programs, runs, folder, options, of_program)))
    return out
