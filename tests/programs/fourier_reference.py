#!/usr/bin/env python3
"""Compares Fourier transforms with NumPy's, of arrays drawn here.

usage: fourier_reference.py FOLDER RANKS mpiexec -n RANKS program_transforms

Draws arrays of awkward extents for this number of ranks p (1, p - 1, p + 1, primes, fewer planes than ranks), runs the
program on them, and compares each array that it writes with numpy.fft, of the same numbers in double precision: at most
10 epsilon log2(n) apart, relative to the largest element, where n is the number of rows of all transformed dims; for
n = 0 they must be equal. The same for the round trips, and the program must write all arrays that are
listed here and no other one, each element on at least one rank.
"""
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np

NORMS = "backward", "ortho", "forward"
REAL = {"rfft_back", "irfft", "irfft2", "real_slab_back", "half_pencil", "fftfreq", "rfftfreq", "fftfreq_transposed"}
TYPES = {"double": (np.complex128, np.float64), "float": (np.complex64, np.float32)}


def cubes_for(p):
    """Extents of three dims."""
    return [(1, 1, 1), (max(p - 1, 1), p + 1, 5), (p + 1, 2, 7), (3, 13, 8), (8, 6, 11)]


def lines_for(p):
    """A batch and rows: composite ones, and primes, which take Bluestein's algorithm."""
    return [(1, 1), (2, max(p - 1, 1)), (2, p + 1), (3, 12), (1, 97), (2, 120), (1, 1009)]


def draw(folder, p):
    """Writes the arrays, and returns them by kind, number and precision."""
    random = np.random.default_rng(p)
    drawn = {}

    def save(kind, number, values):
        for precision, (complex_type, real_type) in TYPES.items():
            a = values.astype(complex_type if np.iscomplexobj(values) else real_type)
            np.save(folder / f"{kind}.{number}.{precision}.npy", a)
            drawn[kind, number, precision] = a.astype(complex if np.iscomplexobj(a) else float)

    def numbers(shape):
        return random.standard_normal(shape) + 1j * random.standard_normal(shape)

    for number, shape in enumerate(cubes_for(p)):
        save("complex", number, numbers(shape))
        save("real", number, random.standard_normal(shape))
        save("half_of_second", number, numbers((shape[0], shape[1] // 2 + 1, shape[2])))
        save("half_of_third", number, numbers((*shape[:2], shape[2] // 2 + 1)))
    for number, shape in enumerate(lines_for(p)):
        save("line", number, numbers(shape))
    return drawn


def expected(drawn, p):
    """Name, NumPy's result and the number of transformed rows of each array that the program writes."""
    f = np.fft
    for (kind, number, precision), a in drawn.items():
        for norm in NORMS if kind in ("complex", "line") else ():
            end = f".{precision}.{number}.{norm}"
            if kind == "line":
                n = a.shape[1]
                yield "line" + end, f.fft(a, axis=1, norm=norm), n
                yield "line_batch" + end, f.fft(a, axis=1, norm=norm), n
                yield "line_inverse" + end, f.ifft(a, axis=1, norm=norm), n
                yield "line_transposed" + end, f.fft(a, axis=1, norm=norm), n
                yield "line_transposed_back" + end, a, n
                continue
            n0, n1, n2 = a.shape
            r = drawn["real", number, precision]
            second = drawn["half_of_second", number, precision]
            third = drawn["half_of_third", number, precision]
            yield "fft" + end, f.fft(a, axis=1, norm=norm), n1
            yield "fft_back" + end, a, n1
            yield "ifft" + end, f.ifft(a, axis=1, norm=norm), n1
            yield "rfft" + end, f.rfft(r, axis=1, norm=norm), n1
            yield "rfft_back" + end, r, n1
            yield "irfft" + end, f.irfft(second, n1, axis=1, norm=norm), n1
            yield "fft2" + end, f.fft2(a, norm=norm), n1 * n2
            yield "ifft2" + end, f.ifft2(a, norm=norm), n1 * n2
            yield "rfft2" + end, f.rfft2(r, norm=norm), n1 * n2
            yield "irfft2" + end, f.irfftn(third, (n1, n2), axes=(1, 2), norm=norm), n1 * n2
            n = n0 * n1 * n2
            yield "slab" + end, f.fftn(a, norm=norm), n
            yield "slab_back" + end, a, n
            yield "real_slab" + end, f.rfftn(r, norm=norm), n
            yield "real_slab_back" + end, r, n
            yield "pencil" + end, f.fftn(a, norm=norm), n
            yield "pencil_back" + end, a, n
            yield "pencil_inverse" + end, f.ifftn(a, norm=norm), n
            yield "two_of_a_pencil" + end, f.fftn(a, axes=(0, 1), norm=norm), n0 * n1
            yield "real_pencil" + end, f.rfftn(r, norm=norm), n
            yield "half_pencil" + end, f.irfftn(third, (n0, n1, n2), axes=(0, 1, 2), norm=norm), n
        end = f".{precision}.{number}"
        if kind == "complex":
            yield "fftshift" + end, f.fftshift(a, axes=(0, 1)), 0
            yield "ifftshift" + end, f.ifftshift(a, axes=(0, 1)), 0
        if kind == "line":
            n = a.shape[1]
            yield "fftfreq" + end, f.fftfreq(n, 0.25), 1
            yield "rfftfreq" + end, f.rfftfreq(n, 0.25), 1
            yield "fftfreq_transposed" + end, f.fftfreq(n, 0.25), 1


def read(folder, ranks):
    """The arrays that the ranks wrote, and how often each element was written differently or not at all."""
    arrays, written, faults = {}, {}, []
    for rank in range(ranks):
        data = (folder / f"out.{rank}").read_bytes()
        at = 0
        while at < len(data):
            line_end = data.index(b"\n", at)
            name, *lists = data[at:line_end].decode().split(" ")
            shape, begin, count = [tuple(int(n) for n in text.split(",")[:-1]) for text in lists]
            what, precision = name.split(".")[:2]
            dtype = np.dtype(TYPES[precision][1 if what in REAL else 0])
            size = int(np.prod(count)) * dtype.itemsize
            block = np.frombuffer(data, dtype, int(np.prod(count)), line_end + 1).reshape(count)
            at = line_end + 1 + size
            if name not in arrays:
                arrays[name], written[name] = np.zeros(shape, dtype), np.zeros(shape, bool)
            place = tuple(slice(b, b + n) for b, n in zip(begin, count))
            if not np.array_equal(arrays[name][place][written[name][place]], block[written[name][place]]):
                faults.append(f"{name}: copies differ")
            arrays[name][place], written[name][place] = block, True
    faults += [f"{name}: not whole" for name, there in written.items() if not np.all(there)]
    return arrays, faults


def natural_order(got, name):
    """Frequency k1 + n1 k2 is element (k1, k2) of the last two dims."""
    if not name.startswith(("line_transposed.", "fftfreq_transposed.")):
        return got
    return got.swapaxes(-1, -2).reshape(*got.shape[:-2], -1)


def main():
    folder, p, command = Path(sys.argv[1]), int(sys.argv[2]), sys.argv[3:]
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    drawn = draw(folder, p)
    run = subprocess.run([*command, str(folder), str(len(cubes_for(p))), str(len(lines_for(p)))], check=False)
    if run.returncode != 0:
        sys.exit(f"the program ended with {run.returncode}")
    arrays, faults = read(folder, p)
    worst, compared = 0.0, set()
    for name, reference, n in expected(drawn, p):
        compared.add(name)
        if name not in arrays:
            faults.append(f"{name}: not written")
            continue
        got = natural_order(arrays[name], name)
        if got.shape != reference.shape or np.iscomplexobj(got) != np.iscomplexobj(reference):
            faults.append(f"{name}: {got.dtype} of shape {got.shape}, NumPy has {reference.dtype} of {reference.shape}")
            continue
        levels = max(1.0, np.log2(n)) if n > 0 else 0.0
        unit = 10 * np.finfo(got.dtype).eps * levels * np.max(np.abs(reference))
        off = np.max(np.abs(got - reference))
        worst = max(worst, off / unit if unit > 0 else off)
        if not off <= unit:
            faults.append(f"{name}: {off:.3g} from NumPy's, at most {unit:.3g} is allowed")
    faults += [f"{name}: nothing to compare it with" for name in sorted(set(arrays) - compared)]
    if faults:
        sys.exit("\n".join([*faults[:20], f"{len(faults)} faults in {len(compared)} arrays"]))
    shutil.rmtree(folder)
    print(f"{len(compared)} arrays on {p} ranks, at most {worst:.2f} of the bound from NumPy's")


if __name__ == "__main__":
    main()
