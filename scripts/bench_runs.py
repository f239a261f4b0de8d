"""What the programs of scripts/bench.d share: their options, runs of binaries, and the lines that they print."""
import os
import re
import statistics
import subprocess
import sys


def option(name, otherwise=""):
    return next((word.split("=", 1)[1] for word in sys.argv[1:] if word.startswith(f"--{name}=")), otherwise)


def ours(ranks, *arguments, binary=None):
    """What the benchmark, or another `binary`, prints on so many ranks."""
    command = [os.environ["BENCH_MPIEXEC"], "-n", str(ranks), binary or os.environ["BENCH_BINARY"], *arguments]
    return subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout


def result_lines(printed):
    return [line for line in printed.splitlines() if re.match(r"(ratio|value|itself) ", line)]


def in_turn(runs, pairs, what):
    """What two functions give, so many times; which one begins changes from pair to pair."""
    made = []
    for pair in range(pairs):
        found = {which: runs[which]() for which in ((0, 1) if pair % 2 == 0 else (1, 0))}
        made.append((found[0], found[1]))
        print(f"{what} {pair + 1} of {pairs}", flush=True)
    return made


def spread(numbers, form=".3f"):
    """Median, least and largest of them, as a line ends with them."""
    return " ".join(format(number, form) for number in (statistics.median(numbers), min(numbers), max(numbers)))
