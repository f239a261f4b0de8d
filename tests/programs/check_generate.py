#!/usr/bin/env python3
"""Models in Hugging Face's files are loaded and generate text: the logits of each step beside NumPy's.

The folders have config.json and safetensors files in the names and layouts of Hugging Face, with random weights.
With --torch the logits are those of PyTorch instead, in double, by the models of the package transformers, which must be
installed; that is done by hand.
usage: check_generate.py [--torch] FOLDER -- mpiexec -n ranks program
"""
import json
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np

BOUND = 1e-5


def save(path, tensors):
    """A safetensors file of float32 arrays."""
    header, at = {"__metadata__": {"format": "pt"}}, 0
    for name, a in tensors.items():
        header[name] = {"dtype": "F32", "shape": list(a.shape), "data_offsets": [at, at + 4 * a.size]}
        at += 4 * a.size
    text = json.dumps(header).encode()
    text += b" " * (-len(text) % 8)
    path.write_bytes(len(text).to_bytes(8, "little") + text +
                     b"".join(a.astype("<f4").tobytes() for a in tensors.values()))


def save_model(folder, config, tensors, files):
    """`files` files with an index, or one without."""
    folder.mkdir(parents=True)
    (folder / "config.json").write_text(json.dumps(config))
    if files == 1:
        save(folder / "model.safetensors", tensors)
        return
    names, weight_map = list(tensors), {}
    for k in range(files):
        file = f"model-{k + 1:05}-of-{files:05}.safetensors"
        mine = names[k::files]
        save(folder / file, {name: tensors[name] for name in mine})
        weight_map.update({name: file for name in mine})
    total = sum(4 * a.size for a in tensors.values())
    (folder / "model.safetensors.index.json").write_text(
        json.dumps({"metadata": {"total_size": total}, "weight_map": weight_map}, indent=2))


def drawn_from(seed):
    rng = np.random.default_rng(seed)
    return lambda *shape: (0.3 * rng.standard_normal(shape)).astype(np.float32).astype(float)


def softmax(a):
    e = np.exp(a - a.max(-1, keepdims=True))
    return e / e.sum(-1, keepdims=True)


def layer_norm(x, w, b):
    return (x - x.mean(-1, keepdims=True)) / np.sqrt(x.var(-1, keepdims=True) + 1e-5) * w + b


def attention(q, k, v):
    """Causal; [S, H, F], [S, G, F]."""
    each = q.shape[1] // k.shape[1]
    k, v = np.repeat(k, each, 1), np.repeat(v, each, 1)
    scores = np.einsum("shf,khf->hsk", q, k) / np.sqrt(q.shape[2])
    scores[:, np.triu(np.ones(scores.shape[1:], bool), 1)] = -np.inf
    return np.einsum("hsk,khf->shf", softmax(scores), v).reshape(q.shape[0], -1)


# As transformers.GPT2LMHeadModel: Conv1D weights are [in, out], those of queries, keys and values are one.
def gpt2(prefix):
    d, h, layers, v, p = 24, 6, 2, 53, 32
    config = {"model_type": "gpt2", "n_embd": d, "n_head": h, "n_layer": layers, "vocab_size": v, "n_positions": p,
              "layer_norm_epsilon": 1e-5}
    draw = drawn_from(1)
    w = {"wte.weight": draw(v, d), "wpe.weight": draw(p, d), "ln_f.weight": 1 + draw(d), "ln_f.bias": draw(d)}
    for k in range(layers):
        w.update({f"h.{k}.{name}": a for name, a in {
            "ln_1.weight": 1 + draw(d), "ln_1.bias": draw(d),
            "attn.bias": np.tril(np.ones((1, 1, p, p))),  # the mask, which nobody reads
            "attn.c_attn.weight": draw(d, 3 * d), "attn.c_attn.bias": draw(3 * d),
            "attn.c_proj.weight": draw(d, d), "attn.c_proj.bias": draw(d),
            "ln_2.weight": 1 + draw(d), "ln_2.bias": draw(d),
            "mlp.c_fc.weight": draw(d, 4 * d), "mlp.c_fc.bias": draw(4 * d),
            "mlp.c_proj.weight": draw(4 * d, d), "mlp.c_proj.bias": draw(d)}.items()})

    def logits(ids):
        s = len(ids)
        x = w["wte.weight"][ids] + w["wpe.weight"][:s]
        for k in range(layers):
            m = lambda name: w[f"h.{k}.{name}"]
            linear = lambda a, name: a @ m(name + ".weight") + m(name + ".bias")
            qkv = linear(layer_norm(x, m("ln_1.weight"), m("ln_1.bias")), "attn.c_attn")
            x = x + linear(attention(*(a.reshape(s, h, d // h) for a in np.split(qkv, 3, 1))), "attn.c_proj")
            u = linear(layer_norm(x, m("ln_2.weight"), m("ln_2.bias")), "mlp.c_fc")
            u = 0.5 * u * (1 + np.tanh(np.sqrt(2 / np.pi) * (u + 0.044715 * u**3)))
            x = x + linear(u, "mlp.c_proj")
        return layer_norm(x, w["ln_f.weight"], w["ln_f.bias"])[-1] @ w["wte.weight"].T

    return config, {prefix + name: a for name, a in w.items()}, logits


# As transformers.LlamaForCausalLM: weights are [out, in], and features k and k + F/2 of a head turn together.
def llama(tied):
    d, h, g, f, m, layers, v = 24, 8, 4, 6, 37, 2, 53
    theta, epsilon = 500.0, 1e-6
    config = {"model_type": "llama", "hidden_size": d, "num_attention_heads": h, "num_key_value_heads": g, "head_dim": f,
              "intermediate_size": m, "num_hidden_layers": layers, "vocab_size": v, "rope_theta": theta,
              "rms_norm_eps": epsilon, "tie_word_embeddings": tied, "rope_scaling": None}
    draw = drawn_from(2)
    w = {"model.embed_tokens.weight": draw(v, d), "model.norm.weight": 1 + draw(d)}
    if not tied:
        w["lm_head.weight"] = draw(v, d)
    for k in range(layers):
        w.update({f"model.layers.{k}.{name}.weight": a for name, a in {
            "input_layernorm": 1 + draw(d), "self_attn.q_proj": draw(h * f, d), "self_attn.k_proj": draw(g * f, d),
            "self_attn.v_proj": draw(g * f, d), "self_attn.o_proj": draw(d, h * f),
            "post_attention_layernorm": 1 + draw(d), "mlp.gate_proj": draw(m, d), "mlp.up_proj": draw(m, d),
            "mlp.down_proj": draw(d, m)}.items()})

    def rms_norm(x, gain):
        return x / np.sqrt((x**2).mean(-1, keepdims=True) + epsilon) * gain

    def rotary(x):
        angles = np.arange(len(x))[:, None] * theta**(-np.arange(0, f, 2) / f)
        cos, sin = (np.concatenate([part, part], 1)[:, None] for part in (np.cos(angles), np.sin(angles)))
        return x * cos + np.concatenate([-x[..., f // 2:], x[..., :f // 2]], -1) * sin

    def logits(ids):
        s = len(ids)
        x = w["model.embed_tokens.weight"][ids]
        for k in range(layers):
            m = lambda name: w[f"model.layers.{k}.{name}.weight"]
            a = rms_norm(x, m("input_layernorm"))
            q, key, value = (
                (a @ m(f"self_attn.{name}_proj").T).reshape(s, heads, f) for name, heads in (("q", h), ("k", g), ("v", g)))
            x = x + attention(rotary(q), rotary(key), value) @ m("self_attn.o_proj").T
            a = rms_norm(x, m("post_attention_layernorm"))
            gate = a @ m("mlp.gate_proj").T
            x = x + (gate / (1 + np.exp(-gate)) * (a @ m("mlp.up_proj").T)) @ m("mlp.down_proj").T
        head = w["model.embed_tokens.weight" if tied else "lm_head.weight"]
        return rms_norm(x, w["model.norm.weight"])[-1] @ head.T

    return config, w, logits


def of_torch(folder):
    """The logits of the last position by the package transformers."""
    import torch
    import transformers

    model = transformers.AutoModelForCausalLM.from_pretrained(folder, dtype=torch.float64)
    model.eval()

    def logits(ids):
        with torch.no_grad():
            return model(torch.tensor([list(map(int, ids))])).logits[0, -1].numpy()

    return logits


PROMPT = [5, 17, 2, 40, 11]


def run(command, folder, new, temperature, top_k, top_p):
    """The tokens, and the logits of each step."""
    ran = subprocess.run(
        command + [str(folder), "--ids", ",".join(map(str, PROMPT)), "--new", str(new), "--logits", "1",
                   "--temperature", str(temperature), "--top-k", str(top_k), "--top-p", str(top_p)],
        text=True, capture_output=True)
    if ran.returncode != 0:
        print(ran.stdout[-2000:], ran.stderr[-2000:])
        return None, None
    rows = [line.split() for line in ran.stdout.splitlines()]
    return [int(row[0]) for row in rows], np.array([[float(x) for x in row[1:]] for row in rows])


def check(name, command, folder, logits, faults, samples):
    def same(tokens, ours, what):
        if tokens is None or len(tokens) != new:
            faults.append(f"{name}, {what}: the program failed")
            return False
        theirs = np.array([logits(np.array(PROMPT + tokens[:k])) for k in range(new)])
        error = np.abs(ours - theirs).max() / np.abs(theirs).max()
        print(f"{name}, {what}: relative difference of logits {error:.1e}, tokens {tokens}")
        if not error < BOUND:
            faults.append(f"{name}, {what}: the logits differ by {error:.1e}")
        return True

    new = 6
    tokens, ours = run(command, folder, new, 0, 0, 1)
    if same(tokens, ours, "greedy") and tokens != list(ours.argmax(1)):
        faults.append(f"{name}: not the most probable tokens")
    for temperature, top_k, top_p in ((1.5, 4, 1), (2.0, 9, 0.5)) if samples else ():
        tokens, ours = run(command, folder, new, temperature, top_k, top_p)
        if not same(tokens, ours, f"temperature {temperature}, top-k {top_k}, top-p {top_p}"):
            continue
        for token, row in zip(tokens, ours):
            order = np.argsort(-row, kind="stable")[:top_k or None]
            p = softmax(row[order] / temperature)
            kept = order[np.cumsum(p) - p < top_p]
            if token not in kept:
                faults.append(f"{name}: token {token} is none of {kept}")


def main():
    torch = sys.argv[1] == "--torch"
    arguments = sys.argv[1 + torch:]
    base, command = Path(arguments[0]), arguments[2:]
    shutil.rmtree(base, ignore_errors=True)
    faults = []
    for name, (config, tensors, logits), files in (("GPT-2", gpt2("transformer."), 3),
                                                  ("GPT-2 in one file", gpt2(""), 1), ("Llama", llama(False), 1),
                                                  ("tied Llama", llama(True), 2)):
        save_model(base / name, config, tensors, files)
        check(name, command, base / name, of_torch(base / name) if torch else logits, faults, files > 1)
    for fault in faults:
        print(f"FAULT: {fault}")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
