#!/usr/bin/env python3
"""Runs program_traces with SHARDTYPE_TRACE and compares the trace with what the program says.

usage: check_traced.py FILE RANKS -- mpiexec -n program

The file must be a trace in JSON with one process per rank, in it one event for every step that ran, in their
order, none before the one before it ends, all of a run inside of the run's; and on a track of its own what was
predicted. On a third track are the calls at their lines (`program_traces calls`).
"""
import collections
import json
import math
import os
import re
import subprocess
import sys
from pathlib import Path


def runs_of(output):
    """The number of steps of each run, the steps as `explain` writes them: (number, kind, text); the sizes."""
    runs = []
    for line in output.splitlines():
        if re.fullmatch(r"run \d+", line):
            runs.append([int(line.split()[1]), [], ""])
        if line.startswith("  on X = ") and runs:
            runs[-1][2] = line.strip()
        step = re.match(r" {1,2}(\d+)  (\S+(?: \S+)?)  +(\S.*?)  +\S+ (?:\S+ )?", line)
        if step and runs:
            runs[-1][1].append((int(step[1]), step[2], step[3]))
    return runs


def check_rank(events, runs):
    """What is wrong with the events of one rank."""
    def on(track):
        return [e for e in events if e["tid"] == track]

    whole = [e for e in on(0) if e["cat"] == "evaluate"]
    steps = [e for e in on(0) if e["cat"] != "evaluate"]
    wants = [s for run in runs for s in run[1]]
    for name, got in [("measured", steps), ("predicted", on(1))]:
        if [(e["args"]["step"], e["name"], e["args"]["what"]) for e in got] != wants:
            yield f"{name} steps are {[(e['args']['step'], e['name']) for e in got]}, not {wants}"
        end = 0.0
        for e in got:
            if e["dur"] < 0 or e["ts"] < end - 0.0015:
                yield f"{name} step at {e['ts']} takes {e['dur']}, the one before ends at {end}"
            end = e["ts"] + e["dur"]
    if len(whole) != len(runs):
        return (yield f"{len(whole)} runs, not {len(runs)}")
    at = 0
    for run, (n, _, sizes) in zip(whole, runs):
        if run["args"]["sizes"] != sizes:
            yield f"a run says {run['args']['sizes']}, not {sizes}"
        if not re.fullmatch(r"evaluate \(traces.cpp:\d+\)", run["name"]):
            yield f"a run is called {run['name']}"
        mine, guess = steps[at:at + n], on(1)[at:at + n]
        at += n
        for e in mine:
            if e["ts"] < run["ts"] or e["ts"] + e["dur"] > run["ts"] + run["dur"] + 0.0015:
                yield f"the step at {e['ts']} is outside of its run"
            if (e["cat"] == "collective") != e["name"][0].isupper():
                yield f"{e['name']} is {e['cat']}"
        if guess and guess[0]["ts"] < mine[0]["ts"]:
            yield "predicted steps begin before their run"
        if abs(sum(e["args"]["predicted_us"] for e in mine) - run["args"]["predicted_us"]) > 1e-3:
            yield f"the predictions do not add up to {run['args']['predicted_us']}"
        for e in guess:
            if e["cat"] != "predicted" or abs(e["dur"] - e["args"]["predicted_us"]) > 0.002:
                yield f"predicted {e['args']['predicted_us']}, drawn as {e['dur']}"


def check_seconds(seconds, events, rank, ranks):
    """What is wrong with the seconds of one rank in each collective, of which those of `evaluate` are a part."""
    total = seconds.get("total", 0)
    mine = [e for e in events if e["ph"] == "X" and e["pid"] == rank and e["tid"] == 0]
    if not max(e["ts"] + e["dur"] for e in mine) / 1e6 <= total < 60:
        yield f"took {total} s"
    parts = {c: s for c, s in seconds.items() if c != "total"}
    if sum(parts.values()) > total or min(parts.values(), default=1) <= 0:
        yield f"took {total} s, of it {parts}"
    if ranks == 1:
        return
    for name in {e["name"].split()[0] for e in mine if e["cat"] == "collective"}:
        took = sum(e["dur"] for e in mine if e["name"].split()[0] == name) / 1e6
        if not 0 < parts.get(name, 0) <= took:
            yield f"{name}: {parts.get(name)} s in it, of {took} s in its steps"


def check_calls(command, file, ranks):
    """What is wrong with the calls of the program at their lines, of each rank. Lines as in traces.cpp."""
    subprocess.run(command + ["calls"], env=dict(os.environ, SHARDTYPE_TRACE=file), check=True)
    with open(file, encoding="utf-8") as text:
        events = json.load(text)["traceEvents"]
    source = (Path(__file__).parent / "traces.cpp").read_text().splitlines()

    def line_of(what):
        return next(k + 1 for k, line in enumerate(source) if what in line)

    strict, manual, gradient = line_of("(all_gather<X>(even))"), line_of("return all_gather<X, I>(x)"), line_of("tanh(x)")
    wants = [f"all_gather (traces.cpp:{strict})", f"all_gather (traces.cpp:{manual})"]
    wants += [f"{what} (traces.cpp:{gradient})"
              for what in ("sum", "all_reduce", "the gradient of all_reduce", "the gradient of sum")]
    pipeline = line_of("pipeline::value_and_grad<X, I>")
    # three microbatches over two ranks: each slot in which a block leaves is a permute of both
    of_pipeline = {"pipeline::value_and_grad": 1, "pipeline forward pass": 3, "pipeline backward pass": 3, "permute": 6}
    for g in range(ranks):
        calls = sorted((e for e in events if e["ph"] == "X" and e["pid"] == g and e["cat"] == "call"), key=lambda e: e["ts"])
        piped = [e for e in calls if e["name"].startswith("pipeline::value_and_grad")]
        begin = piped[0]["ts"] if piped else math.inf
        names = [e["name"] for e in calls if e["ts"] < begin]
        if list(dict.fromkeys(names)) != wants or {e["tid"] for e in calls} != {2}:
            yield f"rank {g}: the calls are {names}, not {wants}"
        counts = collections.Counter(e["name"] for e in calls if e["ts"] >= begin)
        for what, times in of_pipeline.items():
            if counts[f"{what} (traces.cpp:{pipeline})"] != times:
                yield f"rank {g}: {what} not {times} times at line {pipeline}: {dict(counts)}"


def main():
    file, ranks = sys.argv[1], int(sys.argv[2])
    mpiexec, flag, program = sys.argv[4:]
    command = [mpiexec, flag, str(ranks), program]
    if os.path.exists(file):
        os.remove(file)
    plain = {k: v for k, v in os.environ.items() if k != "SHARDTYPE_TRACE"}
    faults = []
    run = subprocess.run(command, env=plain, capture_output=True, text=True)
    if "came to its end" not in run.stdout or os.path.exists(file):
        faults.append("did not run without a trace, or wrote one")
    run = subprocess.run(command, env=dict(plain, SHARDTYPE_TRACE=file), capture_output=True,
                         text=True)
    print(run.stdout, end="")
    print(run.stderr, end="")
    if run.returncode or "came to its end" not in run.stdout:
        faults.append(f"ended with status {run.returncode}")
    runs = runs_of(run.stdout)
    if len(runs) != 11 or any(n != len(steps) or n == 0 for n, steps, _ in runs):
        faults.append(f"the program says {runs}")
    with open(file, encoding="utf-8") as text:
        events = json.load(text)["traceEvents"]
    seconds = {e["pid"]: e["args"] for e in events if e["name"] == "seconds"}
    for g in range(ranks):
        faults += [f"rank {g}: {f}" for f in check_seconds(seconds.get(g, {}), events, g, ranks)]
    names = {e["pid"]: e["args"]["name"] for e in events if e["name"] == "process_name"}
    if names != {g: f"rank {g}" for g in range(ranks)}:
        faults.append(f"the processes are {names}")
    for g in range(ranks):
        mine = [e for e in events if e["ph"] == "X" and e["pid"] == g]
        # the last run is the first rank's alone
        faults += [f"rank {g}: {f}" for f in check_rank(mine, runs if g == 0 else runs[:-1])]
    if ranks == 2:
        faults += check_calls(command, file, ranks)
    for fault in faults:
        print(f"FAULT: {fault}")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
