#!/usr/bin/env python3
"""Files of numpy.savez are read, and numpy.load reads ours: every value, name, type and shape, and the archive's checksums.
Files that are damaged or of another model are refused with their names.

usage: check_npz.py FOLDER -- mpiexec -n ranks program
"""
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

import numpy as np


def main():
    folder = Path(sys.argv[1])
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    drawn = np.random.default_rng(1)
    waves = drawn.standard_normal((3, 2)).astype(np.float32)
    arrays = {
        "model/weight": drawn.standard_normal((5, 7)).astype(np.float32),
        "model/kernel": drawn.standard_normal((3, 7, 5)),
        "model/places": drawn.integers(-9, 9, 7).astype(np.int32),
        "model/count": np.array(2**40 + 1, dtype=np.int64),
        "model/mask": drawn.integers(0, 2, 5).astype(bool),
        "model/waves": waves[:, 0] + 1j * waves[:, 1],
    }
    file, out = folder / "in.npz", folder / "out.npz"
    np.savez(file, **arrays)

    kernel = 'tensor "model/kernel"'
    bad = {}

    def other(name, said, **changed):
        np.savez(folder / name, **{**arrays, **changed})
        bad[name] = said

    other("shape.npz", ["E92", kernel, "[3, 7, 6]"], **{"model/kernel": np.zeros((3, 7, 6))})
    other("type.npz", ["E93", kernel, "f32"], **{"model/kernel": np.zeros((3, 7, 5), np.float32)})
    other("unknown.npz", ["E93", kernel, "<u2"], **{"model/kernel": np.zeros((3, 7, 5), np.uint16)})
    other("order.npz", ["E94", kernel, "Fortran"], **{"model/kernel": np.asfortranarray(arrays["model/kernel"])})
    other("more.npz", ["E91", 'tensor "model/more"'], **{"model/more": np.zeros(1)})
    np.savez(folder / "less.npz", **{k: v for k, v in arrays.items() if k != "model/kernel"})
    bad["less.npz"] = ["E91", kernel]
    np.savez_compressed(folder / "compressed.npz", **arrays)
    bad["compressed.npz"] = ["E94", "compressed"]
    data = file.read_bytes()
    (folder / "cut.npz").write_bytes(data[:-40])
    bad["cut.npz"] = ["E94", "cut off"]
    (folder / "text.npz").write_bytes(b"no archive")
    bad["text.npz"] = ["E94", "no .npz file"]
    with zipfile.ZipFile(file) as archive:
        begin = archive.getinfo("model/kernel.npy").header_offset
    (folder / "header.npz").write_bytes(data[:begin] + b"XX" + data[begin + 2:])
    bad["header.npz"] = ["E94", "model/kernel"]
    with zipfile.ZipFile(file) as archive:  # one bit of the last number: the checksum tells
        at = archive.getinfo("model/kernel.npy")
        begin = at.header_offset + 30 + int.from_bytes(data[at.header_offset + 26:at.header_offset + 28], "little")
        begin += int.from_bytes(data[at.header_offset + 28:at.header_offset + 30], "little")
    for name, byte in {"bit.npz": begin + at.file_size - 8, "first.npz": begin + 128}.items():
        (folder / name).write_bytes(data[:byte] + bytes([data[byte] ^ 1]) + data[byte + 1:])
        bad[name] = ["E94", kernel, "checksum"]
    bad["none.npz"] = ["IO1", "no such file"]

    ran = subprocess.run(sys.argv[3:] + [str(file), str(out)] + [str(folder / name) for name in bad], text=True,
                         capture_output=True)
    print(ran.stdout, ran.stderr)
    faults = [] if ran.returncode == 0 and "was " not in ran.stdout else ["the program failed"]
    refused = [line for line in ran.stdout.splitlines() if line.startswith("refused")]
    for (name, said), line in zip(bad.items(), refused):
        faults += [f"{name}: no '{text}' in: {line}" for text in [*said, name] if text not in line]
    if len(refused) != len(bad) + 1 or "E93" not in refused[-1] or "bfloat16" not in refused[-1]:
        faults.append("not every file is refused")
    if not faults:
        with zipfile.ZipFile(out) as archive:
            if archive.testzip() is not None:
                faults.append("a checksum of the archive differs")
        with np.load(out) as loaded:
            if set(loaded.files) != set(arrays):
                faults.append(f"NumPy finds {loaded.files}")
            faults += [f"NumPy reads another {name}" for name, a in arrays.items()
                       if loaded[name].dtype != a.dtype or not np.array_equal(loaded[name], a)]
    for fault in faults:
        print(f"FAULT: {fault}")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
