#!/usr/bin/env python3
"""Runs scripts/scaling on a program of 1 and 2 ranks and checks its tables.

usage: check_scaling.py SCALING WORK -- mpiexec program

The program is started by a script that notes its arguments, so that weak scaling is seen to give larger ones.
"""
import os
import re
import subprocess
import sys
from pathlib import Path


def scale(scaling, *arguments):
    return subprocess.run([scaling, *arguments], check=False, capture_output=True, text=True)


def rows_of(text, title):
    """{ranks: {column: text}} of the table below a title."""
    lines = text[text.index(title):].splitlines()
    heads = re.split(r"\s{2,}", lines[1])
    rows = {}
    for line in lines[2:]:
        cells = line.split()
        if len(cells) != len(heads):
            break
        rows[int(cells[0])] = dict(zip(heads, cells))
    return rows


def faults_of(rows, weak):
    """What is wrong with a table."""
    if sorted(rows) != [1, 2]:
        return (yield f"rows of {sorted(rows)} ranks")
    for n, row in rows.items():
        parts = {c: float(v[:-1]) for c, v in row.items() if v.endswith("%") and c != "efficiency"}
        if abs(sum(parts.values()) - 100) > 0.3 or min(parts.values()) < 0:
            yield f"{n} ranks: {parts} are not the whole"
        if not 0 < float(row["in evaluate"]) < float(row["seconds"]) or not 0 < float(row["predicted"]) < 1:
            yield f"{n} ranks: {row}"
        speed_up = float(rows[1]["seconds"]) / float(row["seconds"]) * (n if weak else 1)
        if abs(float(row["speed-up"]) / speed_up - 1) > 0.2 and abs(float(row["speed-up"]) - speed_up) > 0.02:
            yield f"{n} ranks: a speed-up of {row['speed-up']}, not {speed_up}"
        if abs(float(row["efficiency"][:-1]) / 100 - speed_up / n) > 0.03 + 0.2 * speed_up / n:
            yield f"{n} ranks: an efficiency of {row['efficiency']}, not {speed_up / n}"
    if rows[1]["elsewhere"] != "100.0%" and float(rows[1]["elsewhere"][:-1]) < 90:
        yield f"one rank spends {rows[1]} in collectives"
    if "AllGather" not in rows[2] or float(rows[2]["AllGather"][:-1]) <= 0:
        yield f"two ranks spend no time in AllGather: {rows[2]}"


def main():
    scaling, work = sys.argv[1], Path(sys.argv[2])
    mpiexec, program = sys.argv[4:]
    work.mkdir(parents=True, exist_ok=True)
    noted = work / "arguments"
    noted.write_text("")
    wrapper = work / "wrapper"
    wrapper.write_text(f'#!/bin/sh\necho "$*" >> {noted}\nexec {program}\n')
    wrapper.chmod(0o755)
    run = scale(scaling, "--ranks", "1,2", "--mpiexec", mpiexec, str(wrapper), "--n={1000^3}", "{8}", "x")
    faults = [] if run.returncode == 0 else [f"ended with {run.returncode}: {run.stderr}"]
    for title, weak in (("strong scaling: wrapper --n=1000 8 x", False), ("weak scaling: wrapper --n={1000^3} {8} x", True)):
        if title not in run.stdout:
            faults.append(f"no table {title}")
            continue
        faults += [f"{title}: {f}" for f in faults_of(rows_of(run.stdout, title), weak)]
    # strong on 1 and on 2 ranks, weak on 2: on one rank it is the same
    if noted.read_text().split("\n")[:-1] != ["--n=1000 8 x"] * 3 + ["--n=1260 16 x"] * 2:
        faults.append(f"the program was called with {noted.read_text()}")
    if faults:
        print(run.stdout)

    wrapper.write_text(f"#!/bin/sh\nexec {program} throws\n")
    run = scale(scaling, "--ranks", "1", "--mpiexec", mpiexec, str(wrapper))
    if run.returncode != 1 or "[shardtype MINE] an error of the program" not in run.stdout:
        faults.append(f"of a program that fails it says, ending with {run.returncode}: {run.stdout}{run.stderr}")
    for arguments, says in ((["--ranks", "1,0", program], "1,0 is no list of numbers of ranks"),
                            (["no/program"], "no/program is no program, and no example"), ([], "required: program")):
        run = scale(scaling, *arguments)
        if run.returncode != 2 or says not in run.stderr:
            faults.append(f"{arguments} ends with {run.returncode} and {run.stderr}")
    for fault in faults:
        print(f"FAULT: {fault}")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
