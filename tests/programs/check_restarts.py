#!/usr/bin/env python3
"""Kills a rank of examples/train_gpt under scripts/restarts.py, and checks how the run goes on.

usage: check_restarts.py RESTARTS WORK -- mpiexec program

After the first checkpoint of a run of 2 x 2 ranks, rank 1 gets a SIGKILL. The run must name it and go on by itself on two
ranks. Its losses must be those of a program that starts from the same checkpoint on two ranks, and but for rounding those of
a run in which nobody dies; once more where each rank is on a pretended node of its own. What else may happen is played by a
launcher that starts nothing: deaths without a new checkpoint, damage, an Error.
"""
import os
import re
import shutil
import signal
import subprocess
import sys
import time
import uuid
from pathlib import Path

from run_failing import MARK, processes_of

STEPS = ["--steps", "3", "--every", "1", "--sample", "0"]
# Other numbers of ranks add floats up in another order; in the six digits that are written no difference was seen.
ROUNDING = 1e-5
DEATH = "rank 1: [shardtype E16] this rank died"
faults = []


def expect(what, seen, wanted):
    if seen != wanted:
        faults.append(f"{what}: {seen} instead of {wanted}")


def rank_of(process):
    try:
        if Path(f"/proc/{process}/comm").read_text().strip() != "train_gpt":
            return None
        variables = Path(f"/proc/{process}/environ").read_bytes()
        found = re.search(rb"\0(?:PMI_RANK|OMPI_COMM_WORLD_RANK)=(\d+)\0", variables)
        return int(found.group(1)) if found else None
    except OSError:
        return None


def kill_after(process_of_run, run, step, mark, copy):
    """Kills rank 1 when the step is saved, and copies the run."""
    end = time.monotonic() + 100
    while time.monotonic() < end and process_of_run.poll() is None:
        named = run / "latest"
        if named.exists() and named.read_text().strip() == f"step_{step:08d}":
            for process in processes_of(mark):
                if rank_of(process) == 1:
                    os.kill(process, signal.SIGKILL)
                    shutil.copytree(run / f"step_{step:08d}", copy / f"step_{step:08d}")
                    shutil.copy(run / "losses.csv", copy)
                    return
        time.sleep(0.01)
    faults.append(f"step {step} was not saved")


def losses_of(run):
    """The loss of each step."""
    return [float(x) for x in re.findall(r"(?m)^\d+,([^,]+)", (run / "losses.csv").read_text())]


def undisturbed(work, mpiexec, program, text):
    """The losses of a run in which nobody dies."""
    run = work / "undisturbed"
    done = subprocess.run([mpiexec, "-n", "4", program, text, *STEPS, "--mesh", "2x2", "--run", run], check=False,
                          capture_output=True, text=True)
    expect("the run in which nobody dies", (done.returncode, done.stderr), (0, ""))
    return losses_of(run)


def killed(restarts, work, mpiexec, program, text, wanted, settings=()):
    """Kills a rank of a run whose environment has `settings`; `wanted`: the losses but for rounding."""
    work.mkdir()
    run, copy = work / "run", work / "copy"
    copy.mkdir()
    mark = uuid.uuid4().hex
    process = subprocess.Popen([sys.executable, restarts, "--run", run, "--mesh", "2x2", "--", mpiexec, program, text, *STEPS],
                               env={**os.environ, **dict(settings), MARK: mark}, text=True, errors="replace", start_new_session=True,
                               stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    kill_after(process, run, 1, mark, copy)
    said, _ = process.communicate(timeout=100)
    print(said)
    expect("status", process.returncode, 0)
    names = re.findall(r"(?m)^rank 1: \[shardtype E16\] this rank died on host \S+ .* \(train_gpt\.cpp:\d+\)", said)
    expect("lines that name the rank and the call", len(names), 1)
    expect("what the script says", re.findall(r"(?m)^train: (.*)", said),
           ["rank 1 died; steps after 1 are lost; restart 1 of 3 from there, on 2 ranks, mesh 1x2"])
    if faults:
        return
    losses = (run / "losses.csv").read_text()
    expect("steps", re.findall(r"(?m)^\d+", losses), ["1", "2", "3"])
    far = max(abs(a - b) / b for a, b in zip(losses_of(run), wanted))
    print(f"losses differ by {far:.1e} of those of the run in which nobody dies")
    if far > ROUNDING:
        faults.append(f"losses {losses_of(run)} instead of {wanted}")
    if settings:
        return
    alone = subprocess.run([mpiexec, "-n", "2", program, text, *STEPS, "--mesh", "1x2", "--run", copy], check=False,
                           capture_output=True, text=True)
    expect("from the same checkpoint", (alone.returncode, alone.stderr), (0, ""))
    expect("losses", losses, (copy / "losses.csv").read_text())


def played(restarts, work, what, lines, wants_status, wants_ranks, wants_said):
    """A launcher that acts by the k-th line of a shell script when it is called the k-th time, and by the last from then on."""
    run = work / what
    run.mkdir()
    launcher = work / f"{what}.sh"
    launcher.write_text(f'#!/bin/sh\ncd "{run}"\necho $2 >> ranks\nsave() {{ mkdir step_$1; touch step_$1/manifest.json; }}\n'
                        "case $(wc -l < ranks) in\n" +
                        "".join(f"{k + 1 if k + 1 < len(lines) else '*'}) {line} ;;\n" for k, line in enumerate(lines)) + "esac\n")
    launcher.chmod(0o755)
    done = subprocess.run([sys.executable, restarts, "--run", run, "--mesh", "2x4", "--", launcher, "program"], check=False,
                          capture_output=True, text=True, timeout=60)
    expect(f"{what}: status", done.returncode, wants_status)
    expect(f"{what}: ranks", (run / "ranks").read_text().split(), wants_ranks)
    said = re.findall(r"(?m)^train: (.*)", done.stderr.replace(str(run), "RUN"))
    expect(f"{what}: last words", said[-1:], wants_said)


def main():
    restarts, work = sys.argv[1], Path(sys.argv[2])
    mpiexec, program = sys.argv[4:6]
    shutil.rmtree(work, ignore_errors=True)
    work.mkdir(parents=True)
    dies = f"echo '{DEATH}' >&2; exit 9"
    played(restarts, work, "deaths", [dies], 9, ["8", "6", "4", "2"],
           ["rank 1 died after 3 restarts without a new checkpoint; the last checkpoint is of step 0"])
    played(restarts, work, "progress", [dies, dies, f"save 00000005; {dies}", dies, "exit 137", "exit 0"], 0,
           ["8", "6", "4", "2", "1", "1"],
           ["a rank died (status 137); steps after 5 are lost; restart 3 of 3 from there, on 1 rank, mesh 1x1"])
    reads = "echo 'rank 0: [shardtype E94] tensor of run/step_00000002/model is damaged' >&2; exit 1"
    played(restarts, work, "damage", [f"save 00000001; save 00000002; {dies}", reads, "exit 0"], 0, ["8", "6", "6"],
           ["a checkpoint is damaged, and is now RUN/step_00000002.damaged; the run goes on from step 1"])
    played(restarts, work, "all_damaged", [f"save 00000002; {reads}"], 1, ["8"],
           ["RUN/step_00000002 is damaged, and no older checkpoint is there"])
    played(restarts, work, "error", ["echo 'rank 0: [shardtype E91] no tensor' >&2; exit 1"], 1, ["8"], [])
    text = work / "text.txt"
    text.write_text("".join(f"The square of {k % 97} is {k % 97 * (k % 97)}.\n" for k in range(200)))
    wanted = undisturbed(work, mpiexec, program, text)
    killed(restarts, work / "killed", mpiexec, program, text, wanted)
    killed(restarts, work / "nodes", mpiexec, program, text, wanted, {"SHARDTYPE_NODE_SIZE": "1"})
    for fault in faults:
        print(f"FAULT: {fault}")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
