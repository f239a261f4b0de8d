#!/usr/bin/env python3
"""Kills a program that saves checkpoints, at random moments, and checks that nothing is lost that was saved.

usage: check_kills.py FOLDER KILLS SEED -- mpiexec -n program

In turn on 1, 2 and 4 ranks, with and without a thread that writes: one rank is killed, or all at once, or mpiexec. The
next program must load a step that is no older than the last that was said to be saved, and find its values; at the end
all steps that are there are checked, and no file of a killed program is left by the next that saves.
"""
import os
import random
import re
import shutil
import signal
import subprocess
import sys
import threading
import time
import uuid
from pathlib import Path

from run_failing import MARK, processes_of


class Run:
    """The program on some ranks, and what it says."""

    def __init__(self, command, ranks, arguments):
        self.mark = uuid.uuid4().hex
        words = command[:2] + [str(ranks)] + command[2:] + arguments
        self.process = subprocess.Popen(words, env=dict(os.environ, **{MARK: self.mark}), text=True, errors="replace",
                                        stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                                        start_new_session=True)
        self.lines = []
        self.reader = threading.Thread(target=self.read)
        self.reader.start()

    def read(self):
        for line in self.process.stdout:
            self.lines.append(line.rstrip())

    def said(self, what):
        """The last number that was said, or None."""
        numbers = [int(line.split()[1]) for line in list(self.lines) if re.fullmatch(what + r" \d+", line)]
        return numbers[-1] if numbers else None

    def wait_for(self, what, seconds):
        end = time.monotonic() + seconds
        while self.said(what) is None and time.monotonic() < end and self.process.poll() is None:
            time.sleep(0.005)
        return self.said(what)

    def ranks(self):
        """The processes of the ranks: mpiexec and its proxies have other names."""
        found = []
        for process in processes_of(self.mark):
            try:
                if Path(f"/proc/{process}/comm").read_text().startswith("program_saves"):
                    found.append(process)
            except OSError:
                pass
        return found

    def end(self):
        """Kills what is left."""
        for _ in range(200):
            left = processes_of(self.mark)
            if not left:
                break
            for process in left:
                try:
                    os.kill(process, signal.SIGKILL)
                except ProcessLookupError:
                    pass
            time.sleep(0.02)
        self.process.wait()
        self.reader.join()


def main():
    folder, kills, seed = Path(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3])
    command = sys.argv[5:]
    shutil.rmtree(folder, ignore_errors=True)
    run = str(folder / "run")
    drawn = random.Random(seed)
    saved, faults, during = 0, [], 0
    for number in range(kills):
        ranks, thread = (1, 2, 4)[number % 3], number % 2 == 1
        program = Run(command, ranks, [run] + (["--thread"] if thread else []))
        loaded = program.wait_for("loaded", 60)
        if loaded is None or loaded < saved:
            faults.append(f"kill {number}: step {saved} was saved, and {loaded} is loaded: {program.lines}")
            program.end()
            break
        time.sleep(drawn.uniform(0, 0.6))
        how = drawn.choice(("one rank", "all ranks", "mpiexec"))
        victims = program.ranks()
        if how == "mpiexec":
            victims = [program.process.pid]
        elif how == "one rank" and victims:
            victims = [drawn.choice(victims)]
        for process in victims:
            try:
                os.kill(process, signal.SIGKILL)
            except ProcessLookupError:
                pass
        time.sleep(drawn.choice((0, 0.05)))
        program.end()
        saved = max(saved, program.said("saved") or 0, loaded)
        left = [name for name in os.listdir(run) if name.endswith(".partial")] if os.path.isdir(run) else []
        during += bool(left)
        print(f"kill {number}: {how} of {ranks}{', thread' if thread else ''}: loaded {loaded}, saved {saved}, "
              f"{len(left)} unfinished")
    if not faults:
        program = Run(command, 2, [run, "--check"])
        checked = program.wait_for("checked", 60)
        try:
            program.process.wait(60)
        except subprocess.TimeoutExpired:
            faults.append("the last check does not end")
        program.end()
        if program.process.returncode != 0 or not checked or program.said("loaded") < saved:
            faults.append(f"the last check: {program.lines}")
        program = Run(command, 2, [run])
        if program.wait_for("saved", 60) is None:
            faults.append(f"the last program does not save: {program.lines}")
        program.end()
        if len(os.listdir(run)) > 7:
            faults.append(f"what killed programs left stays: {os.listdir(run)}")
        print(f"{kills} kills, {during} of them while a step was written; step {saved} saved")
        if during == 0:
            faults.append("no kill came while a step was written: the test shows nothing")
    for fault in faults:
        print(f"FAULT: {fault}")
    if not faults:
        shutil.rmtree(folder, ignore_errors=True)
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
