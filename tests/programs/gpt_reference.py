#!/usr/bin/env python3
"""Trains the GPT of gpt_curves.cpp with NumPy, and compares its loss curves.

usage: gpt_reference.py [--steps=50] COMMAND...     # COMMAND runs the program, as: mpiexec -n 4 gpt_curves

Every curve that it prints must be within 1e-10 of NumPy's, relative to it, at each step.
"""
import subprocess
import sys

import numpy as np

B, S, D, F, M, V, LAYERS = 8, 24, 40, 8, 56, 64, 4
TOLERANCE = 1e-10


def parameters(heads):
    """Paths and shapes, in the order of the struct's members."""
    yield "table", (V, D)
    for k in range(LAYERS):
        at = f"blocks.{k}."
        yield at + "norm1.gain", (D,)
        yield at + "norm1.bias", (D,)
        for name in "qkv":
            yield at + f"attention.{name}", (D, heads, F)
        yield at + "attention.out", (heads, F, D)
        yield at + "norm2.gain", (D,)
        yield at + "norm2.bias", (D,)
        yield at + "mlp.w1", (D, M)
        yield at + "mlp.b1", (M,)
        yield at + "mlp.w2", (M, D)
        yield at + "mlp.b2", (D,)
    yield "norm.gain", (D,)
    yield "norm.bias", (D,)


def wave(path, shape, number):
    total = 1.0 + number + sum(at * (3 + 2 * d) for d, at in enumerate(np.indices(shape)))
    height = 0.5 if path == "table" else 0.15
    return (1.0 if path.endswith("gain") else 0.0) + height * np.sin(0.7 * total + 0.01 * total * total)


def norm(x, gain, bias):
    centred = x - x.mean(-1, keepdims=True)
    scale = 1 / np.sqrt((centred * centred).mean(-1, keepdims=True) + 1e-5)
    unit = centred * scale

    def back(ct):
        inner = ct * gain
        to_x = scale * (inner - inner.mean(-1, keepdims=True) - unit * (inner * unit).mean(-1, keepdims=True))
        return to_x, (ct * unit).sum((0, 1)), ct.sum((0, 1))
    return unit * gain + bias, back


def angles():
    turned = np.arange(S)[:, None] * 10000.0 ** (-np.arange(F // 2) / (F // 2))
    return np.cos(turned)[None, :, None, :], np.sin(turned)[None, :, None, :]


def rotary(x, sign=1.0):
    cosines, sines = angles()
    a, b = x[..., :F // 2], x[..., F // 2:]
    return np.concatenate([a * cosines - b * sign * sines, b * cosines + a * sign * sines], -1)


def attention(x, w, at):
    q, k, v = (np.einsum("bsd,dhf->bshf", x, w[at + name]) for name in "qkv")
    q, k = rotary(q), rotary(k)
    scores = np.einsum("bshf,bkhf->bhsk", q, k) / np.sqrt(F)
    scores = np.where(np.tril(np.ones((S, S), bool)), scores, -np.inf)
    weights = np.exp(scores - scores.max(-1, keepdims=True))
    weights /= weights.sum(-1, keepdims=True)
    mixed = np.einsum("bhsk,bkhf->bshf", weights, v)

    def back(ct, g):
        g[at + "out"] = np.einsum("bshf,bsd->hfd", mixed, ct)
        to_mixed = np.einsum("bsd,hfd->bshf", ct, w[at + "out"])
        to_v = np.einsum("bhsk,bshf->bkhf", weights, to_mixed)
        to_weights = np.einsum("bshf,bkhf->bhsk", to_mixed, v)
        to_scores = weights * (to_weights - (to_weights * weights).sum(-1, keepdims=True)) / np.sqrt(F)
        to_q = rotary(np.einsum("bhsk,bkhf->bshf", to_scores, k), -1.0)
        to_k = rotary(np.einsum("bhsk,bshf->bkhf", to_scores, q), -1.0)
        to_x = 0.0
        for name, to in (("q", to_q), ("k", to_k), ("v", to_v)):
            g[at + name] = np.einsum("bsd,bshf->dhf", x, to)
            to_x = to_x + np.einsum("bshf,dhf->bsd", to, w[at + name])
        return to_x
    return np.einsum("bshf,hfd->bsd", mixed, w[at + "out"]), back


def mlp(x, w, at):
    before = x @ w[at + "w1"] + w[at + "b1"]
    slope = np.sqrt(2 / np.pi)
    t = np.tanh(slope * (before + 0.044715 * before ** 3))
    hidden = 0.5 * before * (1 + t)

    def back(ct, g):
        g[at + "w2"] = np.einsum("bsm,bsd->md", hidden, ct)
        g[at + "b2"] = ct.sum((0, 1))
        inner = 0.5 * (1 + t) + 0.5 * before * (1 - t * t) * slope * (1 + 3 * 0.044715 * before ** 2)
        to = ct @ w[at + "w2"].T * inner
        g[at + "w1"] = np.einsum("bsd,bsm->dm", x, to)
        g[at + "b1"] = to.sum((0, 1))
        return to @ w[at + "w1"].T
    return hidden @ w[at + "w2"] + w[at + "b2"], back


def loss_and_gradient(w, ids, targets):
    g = {}
    x = w["table"][ids]
    backs = []
    for k in range(LAYERS):
        at = f"blocks.{k}."
        a, norm1 = norm(x, w[at + "norm1.gain"], w[at + "norm1.bias"])
        mixed, attended = attention(a, w, at + "attention.")
        x = x + mixed
        c, norm2 = norm(x, w[at + "norm2.gain"], w[at + "norm2.bias"])
        out, hidden = mlp(c, w, at + "mlp.")
        x = x + out
        backs.append((at, norm1, attended, norm2, hidden))
    last, final = norm(x, w["norm.gain"], w["norm.bias"])
    logits = last @ w["table"].T
    top = logits.max(-1, keepdims=True)
    sums = np.log(np.exp(logits - top).sum(-1, keepdims=True)) + top
    b, s = np.indices(ids.shape)
    loss = (sums[..., 0] - logits[b, s, targets]).mean()
    ct = np.exp(logits - sums)
    ct[b, s, targets] -= 1
    ct /= ids.size
    g["table"] = np.einsum("bsv,bsd->vd", ct, last)
    to_x, g["norm.gain"], g["norm.bias"] = final(ct @ w["table"])
    for at, norm1, attended, norm2, hidden in reversed(backs):
        to, g[at + "norm2.gain"], g[at + "norm2.bias"] = norm2(hidden(to_x, g))
        to_x = to_x + to
        to, g[at + "norm1.gain"], g[at + "norm1.bias"] = norm1(attended(to_x, g))
        to_x = to_x + to
    np.add.at(g["table"], ids, to_x)
    return loss, g


def rate(step, steps, peak=0.01, warmup=5, last=0.001):
    """train::Rate::cosine."""
    if step < warmup:
        return peak * (step + 1) / warmup
    done = min(1.0, (step - warmup) / (steps - warmup))
    return last + (peak - last) * 0.5 * (1 + np.cos(np.pi * done))


def curve(heads, steps):
    w = {path: wave(path, shape, k) for k, (path, shape) in enumerate(parameters(heads))}
    m = {path: np.zeros_like(value) for path, value in w.items()}
    v = {path: np.zeros_like(value) for path, value in w.items()}
    for step in range(steps):
        at = 37 * (8 * step + np.arange(B))[:, None] + np.arange(S)[None, :]
        ids, targets = (a * a % 61 + a % 3 for a in (at, at + 1))
        loss, g = loss_and_gradient(w, ids, targets)
        yield loss
        length = np.sqrt(sum((value ** 2).sum() for value in g.values()))
        scale = 1 / length if length > 1 else 1.0
        r = rate(step, steps)
        for path, value in g.items():
            m[path] = 0.9 * m[path] + 0.1 * value * scale
            v[path] = 0.95 * v[path] + 0.05 * (value * scale) ** 2
            if value.ndim > 1:
                w[path] = w[path] * (1 - r * 0.1)
            mean, square = m[path] / (1 - 0.9 ** (step + 1)), v[path] / (1 - 0.95 ** (step + 1))
            w[path] = w[path] - r * mean / (np.sqrt(square) + 1e-8)


def main():
    steps, command = 10, sys.argv[1:]
    if command and command[0].startswith("--steps="):
        steps = int(command.pop(0).split("=")[1])
    run = subprocess.run([*command, str(steps)], stdout=subprocess.PIPE, text=True, check=False)
    if run.returncode != 0:
        sys.exit(f"the program ended with {run.returncode}")
    expected = {heads: list(curve(heads, steps)) for heads in (8, 6)}
    lines = [line for line in run.stdout.splitlines() if line.startswith("curve ")]
    if len(lines) < 3:
        sys.exit("no three curves in what the program printed")
    wrong = False
    for line in lines:
        head, _, rest = line.partition(":")
        got, want = [float(one) for one in rest.split()], expected[int(head.split()[3])]
        off = max((abs(a - b) / b for a, b in zip(got, want)), default=1.0)
        wrong = wrong or len(got) != steps or not off <= TOLERANCE
        print(f"{head}: {got[0]:.4f} to {got[-1]:.4f}, at most {off:.1e} from this program's")
    sys.exit(1 if wrong else 0)


if __name__ == "__main__":
    main()
