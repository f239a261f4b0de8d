#!/usr/bin/env python3
"""Files of Python's package safetensors are read, and it reads ours: every value, name, type and shape.

usage: check_safetensors.py FOLDER -- mpiexec -n ranks program
"""
import json
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
from safetensors import safe_open
from safetensors.numpy import save_file


def raw(path):
    """Bytes of each tensor with its type and shape: NumPy has no bfloat16."""
    data = path.read_bytes()
    length = int.from_bytes(data[:8], "little")
    header = json.loads(data[8:8 + length])
    metadata = header.pop("__metadata__", {})
    start = 8 + length
    ends = sorted(tuple(one["data_offsets"]) for one in header.values())
    whole = ends[0][0] == 0 and ends[-1][1] == len(data) - start and all(
        a[1] == b[0] for a, b in zip(ends, ends[1:]))
    return ({name: (one["dtype"], one["shape"], data[start + one["data_offsets"][0]:start + one["data_offsets"][1]])
             for name, one in header.items()}, metadata, whole)


def main():
    folder = Path(sys.argv[1])
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    drawn = np.random.default_rng(1)
    waves = drawn.standard_normal((3, 2)).astype(np.float32)
    small = drawn.integers(0, 2**16, 7).astype("<u2")
    tensors = {
        "model.fc.weight": drawn.standard_normal((5, 7)).astype(np.float32),
        "model.bias": drawn.standard_normal(5).astype(np.float32),
        "model.kernel": drawn.standard_normal((3, 7, 5)),
        "model.places": drawn.integers(-9, 9, 7).astype(np.int32),
        "model.count": np.array(2**40 + 1, dtype=np.int64),
        "model.mask": drawn.integers(0, 2, 5).astype(bool),
        "model.waves": waves,
        "model.small": small.astype("<i2"),
    }
    file = folder / "in.safetensors"
    save_file(tensors, str(file), {"made": "by Python", "format": "pt"})
    # the package has bfloat16 for PyTorch only: the type is changed in the header, which keeps its length
    data = file.read_bytes()
    assert data.count(b'"I16"') == 1
    changed = data.replace(b'"I16"', b'"BF16"')
    length = int.from_bytes(data[:8], "little") + 1
    file.write_bytes(length.to_bytes(8, "little") + changed[8:])

    out, run = folder / "out.safetensors", folder / "run"
    ran = subprocess.run(sys.argv[3:] + [str(file), str(out), str(run)], text=True, capture_output=True)
    print(ran.stdout, ran.stderr)
    faults = [] if ran.returncode == 0 and "read by Python" in ran.stdout else ["the program failed"]
    if not faults:
        mine, metadata, whole = raw(out)
        theirs, _, _ = raw(file)
        faults += [f"{name} differs" for name in theirs if mine.get(name) != theirs[name]]
        faults += [] if set(mine) == set(theirs) and metadata == {"format": "pt"} and whole else ["the header differs"]
        # as the package reads it, which checks the header
        with safe_open(str(out), framework="np") as opened:
            if set(opened.keys()) != set(tensors):
                faults.append(f"the package finds {opened.keys()}")
            for name in set(tensors) - {"model.small"}:
                if not np.array_equal(opened.get_tensor(name), tensors[name]):
                    faults.append(f"the package reads other values of {name}")
        # a checkpoint's file has our names and our orientation
        saved, _, whole = raw(run / "step_00000001/model.safetensors")
        weight = np.frombuffer(saved["weight"][2], dtype="<f4").reshape(saved["weight"][1])
        if not np.array_equal(weight, tensors["model.fc.weight"].T) or not whole:
            faults.append("the checkpoint's weight differs")
        with safe_open(str(run / "step_00000001/model.safetensors"), framework="np") as opened:
            if not np.array_equal(opened.get_tensor("kernel"), tensors["model.kernel"]):
                faults.append("the package reads another kernel")
    for fault in faults:
        print(f"FAULT: {fault}")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
