#!/usr/bin/env python3
"""Writes .npy files, good and bad, for the programs that load them: bad_files.py FOLDER"""
import os
import struct
import sys


def npy(shape, dtype="<f4", bytes_each=4, magic=b"\x93NUMPY", keep=None):
    text = f"{{'descr': '{dtype}', 'fortran_order': False, 'shape': {shape}, }}"
    text += " " * (63 - (10 + len(text)) % 64) + "\n"
    elements = 1
    for n in shape:
        elements *= n
    whole = magic + b"\x01\x00" + struct.pack("<H", len(text)) + text.encode()
    whole += bytes(elements * bytes_each)
    return whole if keep is None else whole[:keep]


FILES = {
    "a.npy": npy((24, 40)),
    "b.npy": npy((40, 16)),
    "b_other.npy": npy((39, 16)),
    "cut.npy": npy((24, 40), keep=128 + 24 * 40 * 4 - 5),
    "cut_header.npy": npy((24, 40), keep=40),
    "cut_magic.npy": npy((24, 40), keep=4),
    "empty.npy": b"",
    "text.npy": b"1.0 2.0 3.0\n" * 20,
    "double.npy": npy((24, 40), "<f8", 8),
    "big_endian.npy": npy((24, 40), ">f4"),
    "line.npy": npy((24,)),
    "cube.npy": npy((24, 40, 2)),
}

if __name__ == "__main__":
    os.makedirs(sys.argv[1], exist_ok=True)
    for name, contents in FILES.items():
        with open(os.path.join(sys.argv[1], name), "wb") as file:
            file.write(contents)
    folder = os.path.join(sys.argv[1], "folder.npy")
    os.makedirs(folder, exist_ok=True)
    fifo = os.path.join(sys.argv[1], "fifo.npy")
    if os.path.lexists(fifo):
        os.remove(fifo)
    os.mkfifo(fifo)
    # Python's arrays, whose header would move the cursor of a terminal
    with open(os.path.join(sys.argv[1], "escapes.npy"), "wb") as file:
        file.write(npy((24, 40), "\x1bc\rrank 3: "))
    # what failed saves must leave empty
    empty = os.path.join(sys.argv[1], "empty")
    os.makedirs(empty, exist_ok=True)
    for left in os.listdir(empty):
        os.remove(os.path.join(empty, left))
