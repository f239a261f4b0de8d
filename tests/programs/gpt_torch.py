#!/usr/bin/env python3
"""As gpt_reference.py, with PyTorch: its derivatives, scaled_dot_product_attention and AdamW.

usage: gpt_torch.py [--steps=50] COMMAND...     # for a Python that has torch; CI runs gpt_reference.py
"""
import gpt_reference
import numpy as np
import torch
from gpt_reference import B, D, F, LAYERS, S, parameters, rate, wave
from torch.nn import functional


def rotary(x):
    turned = torch.arange(S, dtype=x.dtype)[:, None] * 10000.0 ** (-torch.arange(F // 2, dtype=x.dtype) / (F // 2))
    cosines, sines = turned.cos()[None, :, None, :], turned.sin()[None, :, None, :]
    a, b = x[..., :F // 2], x[..., F // 2:]
    return torch.cat([a * cosines - b * sines, b * cosines + a * sines], -1)


def loss_of(w, ids, targets):
    x = w["table"][ids]
    for k in range(LAYERS):
        at = f"blocks.{k}."
        a = functional.layer_norm(x, (D,), w[at + "norm1.gain"], w[at + "norm1.bias"])
        q, k_, v = (torch.einsum("bsd,dhf->bshf", a, w[at + "attention." + name]) for name in "qkv")
        heads_first = [one.transpose(1, 2) for one in (rotary(q), rotary(k_), v)]
        mixed = functional.scaled_dot_product_attention(*heads_first, is_causal=True).transpose(1, 2)
        x = x + torch.einsum("bshf,hfd->bsd", mixed, w[at + "attention.out"])
        c = functional.layer_norm(x, (D,), w[at + "norm2.gain"], w[at + "norm2.bias"])
        hidden = functional.gelu(c @ w[at + "mlp.w1"] + w[at + "mlp.b1"], approximate="tanh")
        x = x + hidden @ w[at + "mlp.w2"] + w[at + "mlp.b2"]
    last = functional.layer_norm(x, (D,), w["norm.gain"], w["norm.bias"])
    return functional.cross_entropy((last @ w["table"].T).flatten(0, 1), targets.flatten())


def curve(heads, steps):
    w = {path: torch.tensor(wave(path, shape, k), dtype=torch.float64, requires_grad=True)
         for k, (path, shape) in enumerate(parameters(heads))}
    adam = torch.optim.AdamW([{"params": [one for one in w.values() if one.dim() > 1], "weight_decay": 0.1},
                              {"params": [one for one in w.values() if one.dim() <= 1], "weight_decay": 0.0}],
                             betas=(0.9, 0.95), eps=1e-8)
    for step in range(steps):
        at = 37 * (8 * step + np.arange(B))[:, None] + np.arange(S)[None, :]
        ids, targets = (torch.from_numpy(a * a % 61 + a % 3) for a in (at, at + 1))
        adam.zero_grad()
        loss = loss_of(w, ids, targets)
        loss.backward()
        yield loss.item()
        # clip_grad_norm_ divides by the norm + 1e-6, which shows from the seventh digit on
        norm = torch.nn.utils.get_total_norm([one.grad for one in w.values()])
        for one in w.values():
            one.grad *= torch.clamp(1 / norm, max=1.0)
        for group in adam.param_groups:
            group["lr"] = float(rate(step, steps))
        adam.step()


if __name__ == "__main__":
    gpt_reference.curve = curve
    gpt_reference.main()
