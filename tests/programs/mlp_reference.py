#!/usr/bin/env python3
"""Trains the MLP of examples/train_mlp.cpp with NumPy, and compares the example's loss curves.

usage: mlp_reference.py [--steps=50] COMMAND...     # COMMAND runs the example, as: mpiexec -n 4 train_mlp

Every curve that it prints must be within 1e-4 of NumPy's, relative to it, at each step.
"""
import subprocess
import sys

import numpy as np

BATCH, INPUTS, HIDDEN, OUTPUTS = 24, 8, 16, 4
CURVES, RATE, TOLERANCE = 5, 0.25, 1e-4


def wave(rows, columns, speed, height):
    i, j = np.indices((rows, columns))
    return height * np.sin(speed * (i * i + 3.0 * i * j + 2.0 * j + 1.0))


def losses(steps):
    x = wave(BATCH, INPUTS, 0.37, 1.0)
    y = wave(BATCH, OUTPUTS, 0.71, 0.8)
    w1 = wave(INPUTS, HIDDEN, 1.13, 0.4)
    w2 = wave(HIDDEN, OUTPUTS, 0.59, 0.3)
    for _ in range(steps):
        hidden = np.tanh(x @ w1)
        off = hidden @ w2 - y
        yield np.sum(off * off) / BATCH
        to_out = 2.0 * off / BATCH
        to_w2 = hidden.T @ to_out
        to_w1 = x.T @ ((to_out @ w2.T) * (1.0 - hidden * hidden))
        w1 = w1 - RATE * to_w1
        w2 = w2 - RATE * to_w2


def main():
    steps, command = 50, sys.argv[1:]
    if command and command[0].startswith("--steps="):
        steps = int(command.pop(0).split("=")[1])
    run = subprocess.run([*command, str(steps)], stdout=subprocess.PIPE, text=True, check=False)
    if run.returncode != 0:
        sys.exit(f"the example ended with {run.returncode}")
    lines = [line.split()[2:] for line in run.stdout.splitlines() if line.startswith("step ")]
    expected = list(losses(steps))
    if len(lines) != steps or any(len(line) != CURVES for line in lines):
        sys.exit(f"no {CURVES} losses of {steps} steps in what the example printed")
    worst = [0.0] * CURVES
    for step, (line, loss) in enumerate(zip(lines, expected)):
        for curve, text in enumerate(line):
            off = abs(float(text) - loss) / loss
            worst[curve] = max(worst[curve], off)
            if not off <= TOLERANCE:
                sys.exit(f"step {step}, curve {curve}: {text}, NumPy has {loss:.12g}")
    print(f"{CURVES} curves of {steps} steps, at most", " ".join(f"{off:.1e}" for off in worst), "from NumPy's")


if __name__ == "__main__":
    main()
