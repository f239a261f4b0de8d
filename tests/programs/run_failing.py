#!/usr/bin/env python3
"""Runs a program under mpiexec and checks how it ends.

usage: run_failing.py --ranks N [--says TEXT]... [--never TEXT]... [--ends-well] [--seconds S]
                      [--set NAME=VALUE]... [--leaves-empty FOLDER] -- mpiexec -n program arguments...

The program must end by itself within the time, with a status other than 0 (--ends-well: with 0);
each TEXT of --says must stand in its output exactly once, those of --never must not, at most one
line may be a message of shardtype's, no process may be left, and nothing in FOLDER.
"""
import argparse
import os
import re
import signal
import subprocess
import sys
import time
import uuid

MARK = "TEST_RUN_OF_SHARDTYPE"


def processes_of(mark):
    """The processes whose environment holds the mark of this run."""
    wanted = f"{MARK}={mark}".encode()
    found = []
    for entry in os.listdir("/proc"):
        if entry.isdigit() and int(entry) != os.getpid():
            try:
                with open(f"/proc/{entry}/environ", "rb") as file:
                    if wanted in file.read().split(b"\0"):
                        found.append(int(entry))
            except OSError:
                pass
    return found


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--ranks", required=True)
    parser.add_argument("--says", action="append", default=[])
    parser.add_argument("--never", action="append", default=[])
    parser.add_argument("--ends-well", action="store_true")
    parser.add_argument("--seconds", type=float, default=15)
    parser.add_argument("--set", action="append", default=[])
    parser.add_argument("--leaves-empty")
    parser.add_argument("command", nargs="+")
    wants = parser.parse_args()

    mark = uuid.uuid4().hex
    environment = dict(os.environ, **dict(s.split("=", 1) for s in wants.set), **{MARK: mark})
    command = wants.command[:2] + [wants.ranks] + wants.command[2:]
    start = time.monotonic()
    faults = []
    run = subprocess.Popen(command, env=environment, stdin=subprocess.DEVNULL, text=True,
                           stdout=subprocess.PIPE, stderr=subprocess.STDOUT, errors="replace",
                           start_new_session=True)
    try:
        output, _ = run.communicate(timeout=wants.seconds)
    except subprocess.TimeoutExpired:
        faults.append(f"still ran after {wants.seconds:g} s")
        for process in processes_of(mark):
            os.kill(process, signal.SIGKILL)
        output, _ = run.communicate()
    seconds = time.monotonic() - start

    if not faults:
        if (run.returncode == 0) != wants.ends_well:
            faults.append(f"ended with status {run.returncode}")
        # mpiexec may be there before the last rank is gone
        patience = time.monotonic() + 2
        while processes_of(mark) and time.monotonic() < patience:
            time.sleep(0.05)
        left = processes_of(mark)
        if left:
            faults.append(f"left {len(left)} processes behind")
            for process in left:
                os.kill(process, signal.SIGKILL)
    if wants.leaves_empty and os.listdir(wants.leaves_empty):
        faults.append(f"left {os.listdir(wants.leaves_empty)}")
    for text in wants.says:
        if output.count(text) != 1:
            faults.append(f"says {output.count(text)} times, instead of once: {text}")
    faults += [f"says: {text}" for text in wants.never if text in output]
    messages = re.findall(r"^(?:rank \d+: )?\[shardtype ", output, re.M)
    if len(messages) > 1:
        faults.append(f"says {len(messages)} messages of shardtype's")

    print(output, end="")
    print(f"--- {' '.join(command)}: status {run.returncode}, {seconds:.1f} s")
    for fault in faults:
        print(f"FAULT: {fault}")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
