#!/usr/bin/env python3
"""Runs a program that saves checkpoints; when a rank dies, starts it again from the last one on fewer ranks.

usage: restarts.py --run FOLDER --mesh AxB [--restarts N] -- mpiexec program arguments...

The program gets `--mesh AxB --run FOLDER`, is started on A * B ranks, and goes on from the checkpoint in FOLDER. After a
death its mesh is the largest with fewer ranks that is no longer along either axis; of two that are as large, the one that
keeps the second axis. The count of restarts begins again with each new checkpoint: N in a row without one end the run.
A checkpoint whose bytes are damaged (E94) is renamed, and the step before it is used. An Error of the program ends the
run, as does a signal to this script.
"""
import argparse
import collections
import re
import signal
import subprocess
import sys
from pathlib import Path

STEP = re.compile(r"step_(\d+)")
DEATH = re.compile(r"rank (\d+): \[shardtype E16\]")
# of a launcher that passes on how a rank ended; those above 128 are a shell's
SIGNALS = {signal.SIGABRT, signal.SIGBUS, signal.SIGFPE, signal.SIGILL, signal.SIGKILL, signal.SIGSEGV}


def say(text):
    print(f"train: {text}", file=sys.stderr, flush=True)


def ranks_text(mesh):
    ranks = mesh[0] * mesh[1]
    return f"{ranks} rank{'' if ranks == 1 else 's'}, mesh {mesh[0]}x{mesh[1]}"


def smaller(mesh):
    """The mesh after a death."""
    a, b = mesh
    fewer = [(x, y) for x in range(1, a + 1) for y in range(1, b + 1) if x * y < a * b]
    return max(fewer, key=lambda m: (m[0] * m[1], m[1]), default=mesh)


def latest(run):
    """The folder of the last complete step, or None."""
    try:
        named = run / (run / "latest").read_text(errors="replace").split("\n")[0]
        if STEP.fullmatch(named.name) and (named / "manifest.json").exists():
            return named
    except OSError:
        pass
    steps = [f for f in run.glob("step_*") if STEP.fullmatch(f.name) and (f / "manifest.json").exists()]
    return max(steps, key=step_of, default=None)


def step_of(folder):
    return int(STEP.fullmatch(folder.name).group(1)) if folder else 0


class Stopped(Exception):
    """A signal to this script."""


def stop(number, _):
    raise Stopped(number)


class Job:
    """One run of the program. What it prints is passed on; the end of its errors is kept."""

    def __init__(self, command, mesh, run):
        words = [command[0], "-n", str(mesh[0] * mesh[1]), *command[1:], "--mesh", f"{mesh[0]}x{mesh[1]}", "--run", str(run)]
        self.errors = collections.deque(maxlen=500)
        self.process = subprocess.Popen(words, stderr=subprocess.PIPE, text=True, errors="replace")

    def wait(self):
        for line in self.process.stderr:
            sys.stderr.write(line)
            sys.stderr.flush()
            self.errors.append(line)
        return self.process.wait()

    def says(self, pattern):
        return next((found for line in self.errors if (found := pattern.search(line))), None)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--run", type=Path, required=True)
    parser.add_argument("--mesh", required=True)
    parser.add_argument("--restarts", type=int, default=3)
    parser.add_argument("command", nargs="+")
    wants = parser.parse_args()
    shape = re.fullmatch(r"([1-9]\d*)x([1-9]\d*)", wants.mesh)
    if not shape:
        parser.error(f"--mesh {wants.mesh} is no shape; write it as 2x4")
    mesh = int(shape.group(1)), int(shape.group(2))

    signal.signal(signal.SIGTERM, stop)
    signal.signal(signal.SIGINT, stop)

    tries = 0
    reached = step_of(latest(wants.run))
    while True:
        job = Job(wants.command, mesh, wants.run)
        try:
            status = job.wait()
        except Stopped as stopped:
            job.process.terminate()  # the launcher ends the ranks
            job.process.wait()
            return 128 + stopped.args[0]
        if status == 0:
            return 0
        last = latest(wants.run)
        death = job.says(DEATH)
        if wants.restarts > 0 and last and job.says(re.compile(r"\[shardtype E94\].*" + last.name)):
            damaged = last.rename(last.with_name(last.name + ".damaged"))
            last = latest(wants.run)
            if last is None:
                damaged.rename(damaged.with_suffix(""))
                say(f"{damaged.with_suffix('')} is damaged, and no older checkpoint is there")
                return status
            say(f"a checkpoint is damaged, and is now {damaged}; the run goes on from step {step_of(last)}")
            continue
        if not death and status not in SIGNALS and 0 < status <= 128:
            return status
        who = f"rank {death.group(1)} died" if death else f"a rank died (status {status})"
        if step_of(last) > reached:
            tries = 0
        reached = step_of(last)
        if tries == wants.restarts:
            after = f" after {tries} restarts without a new checkpoint" if tries else ""
            say(f"{who}{after}; the last checkpoint is of step {reached}")
            return status
        tries += 1
        mesh = smaller(mesh)
        say(f"{who}; steps after {reached} are lost; restart {tries} of {wants.restarts} from there, on {ranks_text(mesh)}")


if __name__ == "__main__":
    sys.exit(main())
