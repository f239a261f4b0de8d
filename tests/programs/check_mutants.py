#!/usr/bin/env python3
"""Files that are changed at random: half of the changes are in lengths, offsets, names, types, counts and nesting, the
others anywhere. None is read that NumPy or the package safetensors refuses (reference_files.py), and what is read has
the values that they read. No load ends the program, hangs, differs between ranks, or takes more memory than three times
the file and 1 MiB; each error names the file. The same for fifos, sockets, folders and devices in the place of files.

usage: check_mutants.py FOLDER COUNT SEED -- mpiexec -n ranks program
       check_mutants.py FOLDER COUNT SEED --package: compares reference_files.safetensors with the package
"""
import json
import os
import random
import re
import shutil
import socket
import struct
import subprocess
import sys
import warnings
import zipfile
from pathlib import Path

import numpy as np

import reference_files as reference

FORMATS = {"npy": reference.npy, "npz": reference.npz, "safetensors": reference.safetensors,
           "run": reference.checkpoint}
EDGES = [0, 1, 2, 7, 8, 63, 64, 127, 128, 255, 256, 65535, 65536, 2**31 - 1, 2**31, 2**32 - 1, 2**32, 2**58, 2**61,
         2**62, 2**63 - 1, 2**63, 2**64 - 1]


def good_arrays():
    drawn = np.random.default_rng(7)
    return {"w": drawn.standard_normal((13, 5)).astype("<f4"), "v": drawn.standard_normal((13, 5)).astype("<f4"),
            "b": drawn.standard_normal(5), "c": drawn.integers(-99, 99, 13)}


def good_files(folder, command):
    """By format: good files, of NumPy's and of ours."""
    arrays = good_arrays()
    np.save(folder / "theirs.npy", arrays["w"])
    np.save(folder / "fortran.npy", np.asfortranarray(arrays["w"]))
    np.savez(folder / "theirs.npz", **arrays)
    at, entries, data = 0, {}, b""
    for name, dtype, shape in reference.WANTED:
        raw = arrays[name].astype(dtype).tobytes()
        type_name = {"<f4": "F32", "<f8": "F64", "<i8": "I64"}[dtype]
        entries[name] = {"dtype": type_name, "shape": list(shape), "data_offsets": [at, at + len(raw)]}
        data, at = data + raw, at + len(raw)
    reference.write_safetensors(folder / "theirs.safetensors", entries, data)
    out = {"npy": ["theirs.npy", "fortran.npy"], "npz": ["theirs.npz"], "safetensors": ["theirs.safetensors"], "run": []}
    if command:
        subprocess.run(command + ["--save", str(folder)], check=True, timeout=60)
        out["npy"].append("ours.npy")
        out["npz"].append("ours.npz")
        out["safetensors"].append("ours.safetensors")
        out["run"].append("run/step_00000007")
    return {form: [folder / name for name in names] for form, names in out.items()}


def anywhere(drawn, data):
    """A change that knows nothing of the format."""
    data = bytearray(data)
    for _ in range(drawn.choice((1, 1, 1, 2, 5))):
        at = drawn.randrange(len(data) + 1)
        kind = drawn.randrange(7)
        if kind == 0 and at < len(data):
            data[at] ^= 1 << drawn.randrange(8)
        elif kind == 1 and at < len(data):
            data[at] = drawn.choice((0, 9, 10, 11, 12, 13, 32, 34, 39, 44, 48, 57, 91, 92, 123, 125, 127, 255))
        elif kind == 2:
            del data[at:]
        elif kind == 3:
            del data[at:at + drawn.choice((1, 2, 4, 8, 30, 64))]
        elif kind == 4:
            data[at:at] = drawn.randbytes(drawn.choice((1, 2, 8, 100)))
        elif kind == 5:
            other = drawn.randrange(len(data) + 1)
            piece = data[other:other + drawn.choice((4, 16, 46, 200))]
            data[at:at + (0 if drawn.random() < 0.5 else len(piece))] = piece
        else:
            number = drawn.choice(EDGES)
            width = drawn.choice((2, 4, 8))
            data[at:at + width] = (number & (1 << 8 * width) - 1).to_bytes(width, "little")
        if not data:
            data = bytearray(b"\0")
    return bytes(data)


def in_text(drawn, text):
    """A change of one word, number or sign of a text in JSON or Python's."""
    words = list(re.finditer(rb"-?\d+|[A-Za-z_<|=.][\w.]*|[\[\](){},:'\"]|\s+", text))
    word = drawn.choice(words)
    old = word.group()
    if re.fullmatch(rb"-?\d+", old):
        n = int(old)
        new = drawn.choice([n - 1, n + 1, n + 4, n + 8, n * 2, -n, n * 2**32, *EDGES, -1, f"{n}.0", f"0{n}", f"{n}e0",
                            f"+{n}", f"{n}L", "-0", "1" * 40, f"[{n}]", f'"{n}"', "null", "true", f"{n},{n}", ""])
    elif re.fullmatch(rb"[A-Za-z_<|=.][\w.]*", old):
        new = drawn.choice(["<f4", "<f8", ">f4", "<i4", "|b1", "<c8", "O", "|O", "<V4", "F32", "F16", "BF16", "I32", "I64",
                            "F64", "U64", "BOOL", "C64", "F4", "F8_E4M3", "f32", "F32 2 13 5 1 w", "w", "v", "b", "c",
                            "__metadata__", "dtype", "shape", "data_offsets", "descr", "True", "False", "null", "sums",
                            old.decode() * 2, old.decode()[:-1], "\\u0077", "\\ud800", "\\u0000", "a\\nb", "\u00e9",
                            "x" * 300, "\\x77"])
    elif old.isspace():
        new = drawn.choice(["", " ", "\t", "\n", "\r", "\v", "\f", "\0", "\u00a0", "#", "\\\n"])
    else:
        new = drawn.choice(["", old.decode() * 2, "[", "]", "{", "}", ",", ":", "(", ")", "'", '"', "[" * 100, "{" * 100,
                            "[" * 20000])
    new = new if isinstance(new, str) else str(new)
    return text[:word.start()] + new.encode() + text[word.end():]


def npy_parts(data):
    width = 2 if data[6] == 1 else 4
    length = int.from_bytes(data[8:8 + width], "little")
    return data[:8], data[8 + width:8 + width + length], data[8 + width + length:]


def npy(drawn, data):
    start, header, rest = npy_parts(data)
    kind = drawn.randrange(6)
    if kind < 3:
        for _ in range(drawn.choice((1, 1, 2))):
            header = in_text(drawn, header)
    elif kind == 3:
        rest = drawn.choice((rest[:-1], rest + b"x", rest[:4], rest[:drawn.randrange(len(rest))]))
    elif kind == 4:
        header = header.rstrip() + b" " * drawn.choice((0, 9000, 9950, 10020, 60000)) + b"\n"
    version = drawn.choice((1, 1, 1, 2, 3, 0, 4))
    length = len(header) if kind < 5 else drawn.choice([len(header) + drawn.randrange(-9, 9), *EDGES])
    width = 2 if version == 1 else 4
    return start[:6] + bytes([version, 0]) + (length & (1 << 8 * width) - 1).to_bytes(width, "little") + header + rest


def npz(drawn, data, path):
    """Numbers and names of the archive, or an array of it, with its checksum mended or not."""
    kind = drawn.randrange(4)
    if kind == 0:  # a record's field
        signature = drawn.choice([b"PK\1\2", b"PK\1\2", b"PK\3\4", b"PK\5\6", b"PK\6\6", b"PK\6\7"])
        places = [m.start() for m in re.finditer(re.escape(signature), data)] or [0]
        at = drawn.choice(places) + drawn.choice((0, 4, 6, 8, 10, 12, 14, 16, 18, 20, 22, 24, 26, 28, 30, 32, 34, 36, 40, 42,
                                                  46, 48, 50))
        width = drawn.choice((2, 4, 8))
        out = bytearray(data)
        old = int.from_bytes(out[at:at + width], "little")
        new = drawn.choice([*EDGES, old + 1, old - 1, old * 2, old + 128, len(data) - old])
        out[at:at + width] = (new & (1 << 8 * width) - 1).to_bytes(width, "little")
        return bytes(out)
    with zipfile.ZipFile(path) as archive:
        members = [(info.filename, archive.read(info)) for info in archive.infolist()]
    which = drawn.randrange(len(members))
    name, contents = members[which]
    method = zipfile.ZIP_STORED
    if kind == 1:
        contents = npy(drawn, contents)
    elif kind == 2:
        name = drawn.choice(["w.npy", "W.npy", "w", ".npy", "../w.npy", "v.npy", "w.npy.npy", "\u00e9.npy", "w\n.npy",
                             "w.npy/", "x" * 5000 + ".npy"])
    else:
        contents = drawn.choice([contents[:-1], contents + b"x", contents[:100], contents[:10], b"", contents * 2])
        method = drawn.choice((zipfile.ZIP_STORED, zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED))
    members[which:which + 1] = [(name, contents)] * drawn.choice((1, 1, 1, 2))
    temporary = path.with_suffix(".new")
    with zipfile.ZipFile(temporary, "w", method) as archive:
        if drawn.random() < 0.1:
            archive.comment = drawn.choice((b"note", b"PK\5\6" + bytes(18)))
        for member, text in members:
            archive.writestr(member, text)
    out = temporary.read_bytes()
    temporary.unlink()
    return out


def safetensors(drawn, data):
    length = int.from_bytes(data[:8], "little")
    header, rest = data[8:8 + length], data[8 + length:]
    kind = drawn.randrange(6)
    if kind < 3:
        for _ in range(drawn.choice((1, 1, 1, 2))):
            header = in_text(drawn, header)
    elif kind == 3:  # a tensor at another place, or of another shape of as many bytes
        json_header = json.loads(header)
        one = json_header[drawn.choice([name for name in json_header if name != "__metadata__"])]
        other = json_header[drawn.choice([name for name in json_header if name != "__metadata__"])]
        change = drawn.randrange(4)
        if change == 0:
            shift = drawn.choice((-8, -4, 4, 8, 260))
            one["data_offsets"] = [n + shift for n in one["data_offsets"]]
        elif change == 1:
            one["data_offsets"] = list(other["data_offsets"])
        elif change == 2:
            one["shape"] = drawn.choice([one["shape"][::-1], [*one["shape"], 1], [2**32, 2**32], [-1, -1], [0, 2**62, 2**62]])
        else:
            json_header["more"] = dict(one) | {"data_offsets": list(drawn.choice([[0, 0], one["data_offsets"]]))}
            if drawn.random() < 0.5:
                json_header["more"]["shape"] = [0]
        header = json.dumps(json_header).encode()
    elif kind == 4:
        header = drawn.choice([header + b" " * 9, b" " + header, header + b"{}", header[:-1] + b',"w":' + header[header.index(b":") + 1:],
                               b'{"a":' + b"[" * 60000, b'{"__metadata__":' + b'{"a":' * 1000, b"\xef\xbb\xbf" + header])
    rest = drawn.choice((rest, rest, rest, rest, rest + bytes(8), rest[:-4], bytes(8) + rest))
    length = len(header) if kind < 5 else drawn.choice([len(header) + drawn.randrange(-9, 9), *EDGES])
    return struct.pack("<Q", length & 2**64 - 1) + header + rest


def run(drawn, source, to, structured):
    """A folder of a step; after most changes the checksums that a program could mend are mended."""
    shutil.copytree(source, to)
    manifest, model = to / "manifest.json", to / "model.safetensors"
    text, data = manifest.read_bytes(), model.read_bytes()
    if not structured:
        which = drawn.choice((manifest, model))
        which.write_bytes(anywhere(drawn, which.read_bytes()))
        return
    kind = drawn.randrange(4)
    if kind < 2:
        for _ in range(drawn.choice((1, 1, 2))):
            text = in_text(drawn, text)
    elif kind == 2:
        text = drawn.choice([b"[" * 120000, b'{"a":' * 24000, text.replace(b'"files": {', b'"files": {"x": ' + b"[" * 50000),
                             text.replace(b'"extra": {', b'"extra": {"x": ' + b'{"number":' * 9000), text[:-2], text + b"{}",
                             text.replace(b'"step": 7', b'"step": 7,\n "step": 8')])
    else:  # the header of the tensors, and the manifest of it
        data = safetensors(drawn, data)
        start = min(len(data), 8 + int.from_bytes(data[:8], "little"))
        model.write_bytes(data)
        text = re.sub(rb'"header_hash": "\w+"', b'"header_hash": "%016x"' % reference.fnv(data[:start]), text)
        text = re.sub(rb'"bytes": \d+', b'"bytes": %d' % len(data), text)
        if drawn.random() < 0.7:
            text = re.sub(rb'"data_offset": \d+', b'"data_offset": %d' % start, text)
        if drawn.random() < 0.5:
            text = re.sub(rb'"data_offsets": \[\s*0,\s*(\d+)', rb'"data_offsets": [0, \1', text)
    try:
        if drawn.random() < 0.8:
            text = reference.with_hash(text)
    except reference.Refused:
        pass
    manifest.write_bytes(text)


def mutants(folder, good, form, count, drawn):
    out = []
    for number in range(count):
        source = drawn.choice(good[form])
        path = folder / (f"m{number}.{form}" if form != "run" else f"m{number}.run")
        structured = number % 2 == 0
        if form == "run":
            run(drawn, source, path, structured)
        else:
            data = source.read_bytes()
            if not structured:
                data = anywhere(drawn, data)
            elif form == "npz":
                data = npz(drawn, data, source)
            else:
                data = {"npy": npy, "safetensors": safetensors}[form](drawn, data)
            path.write_bytes(data)
        out.append(path)
    return out


def hostile(folder, good):
    """Files that were read once, with other values."""
    def write(name, data):
        (folder / name).write_bytes(data)
        out.append(folder / name)

    out = []
    data = good["safetensors"][0].read_bytes()
    length = int.from_bytes(data[:8], "little")
    header, rest = json.loads(data[8:8 + length]), data[8 + length:]
    w, v = header["w"]["data_offsets"], header["v"]["data_offsets"]
    for name, offsets in {"overlap": w, "shifted": [n + 8 for n in w]}.items():
        changed = header | {"v": header["v"] | {"data_offsets": offsets}}
        reference.write_safetensors(folder / f"{name}.safetensors", changed, rest)
        out.append(folder / f"{name}.safetensors")
    text = json.dumps(header).encode()
    for name, start, data in (("leading", text, bytes(8) + rest), ("more", text, rest + b"x"),
                              ("twice", text[:-1] + b', "w": ' + json.dumps(header["v"]).encode() + b"}", rest)):
        write(f"{name}.safetensors", struct.pack("<Q", len(start)) + start + data)
    # an array whose type is lines of what rank 0 once sent
    for name, dtype in (("lines", f"F32 2 13 5 1 w\n{v[0]} {v[1]} F32 2 13 5 1 v\n0 0 F32"),
                        ("many", "F32 9000000000000000 1 1"), ("text", "F32 0 9000000000000000 w")):
        dictionary = f"{{'descr': '{dtype}', 'fortran_order': False, 'shape': (2,), }}".ljust(245).encode() + b"\n"
        array = b"\x93NUMPY\1\0" + struct.pack("<H", len(dictionary)) + dictionary + bytes(99)
        path = folder / f"{name}.npz"
        with zipfile.ZipFile(good["npz"][0]) as old, zipfile.ZipFile(path, "w") as archive:
            for info in old.infolist():
                if info.filename == "c.npy":
                    archive.writestr("x.npy", array)
                archive.writestr(info.filename, old.read(info))
        out.append(path)
    with zipfile.ZipFile(good["npz"][0]) as old, zipfile.ZipFile(folder / "type.npz", "w") as archive:
        for info in old.infolist():  # our own word for a type, which NumPy does not know
            archive.writestr(info.filename, old.read(info).replace(b"'<f8'", b"'F64'"))
    return [*out, folder / "type.npz"]


def size_of(path):
    return sum(f.stat().st_size for f in path.iterdir()) if path.is_dir() else path.stat().st_size


def no_files(folder, good):
    """Other things in the places of files, by what must be said of each."""
    out = {}
    for kind in ("fifo", "socket", "folder", "device", "link to a fifo"):
        place = folder / kind.replace(" ", "_")
        place.mkdir()

        def make(path, kind=kind, place=place):
            if kind == "fifo":
                os.mkfifo(path)
            elif kind == "socket":
                with socket.socket(socket.AF_UNIX) as one:
                    one.bind(os.path.relpath(path))
            elif kind == "folder":
                path.mkdir()
            elif kind == "device":
                path.symlink_to("/dev/zero")
            else:
                os.mkfifo(place / (path.name + ".fifo"))
                path.symlink_to((place / (path.name + ".fifo")).resolve())

        for form in ("npy", "npz", "safetensors"):
            make(place / f"a.{form}")
            out[place / f"a.{form}"] = "IO1"
        for name in ("manifest.json", "model.safetensors", "latest"):
            run_folder = place / name.replace(".", "_")
            step = run_folder / "step_00000007"
            if name == "latest":
                shutil.copytree(good["run"][0], step)
                make(run_folder / name)
                out[Path(f"{run_folder}.latest")] = "IO1"
            else:
                shutil.copytree(good["run"][0], step, ignore=shutil.ignore_patterns(name))
                make(step / name)
                (run_folder / "latest").write_text("step_00000007\n")
            out[run_folder] = "IO1"
    return out


def check(folder, count, seed, command):
    drawn = random.Random(seed)
    good = good_files(folder, command)
    faults, lines, expected = [], [], {}
    for form in FORMATS:
        for path in good[form] * 2:  # twice: the first load takes memory that stays
            lines.append(path)
        for path in mutants(folder, good, form, count, drawn):
            lines.append(path)
            try:
                expected[path] = reference.fnv(FORMATS[form](path))
            except (reference.Refused, OSError):
                expected[path] = None
        for path in good[form]:
            expected[path] = reference.fnv(FORMATS[form](path))
    for path in hostile(folder, good):
        lines.append(path)
        expected[path] = None
    others = no_files(folder, good)
    (folder / "list").write_text("\n".join(map(str, [*lines, *others])) + "\n")
    ran = subprocess.run(command + [str(folder / "list")], text=True, capture_output=True, timeout=200, errors="replace")
    said = ran.stdout.split("\n")
    if ran.returncode != 0 or len(said) != len(lines) + len(others) + 2 or said[-2] != "end":
        return [f"the program ended with {ran.returncode} after {len(said)} lines: {said[-3:]} {ran.stderr[-2000:]}"]
    tally = {form: [0, 0, 0] for form in FORMATS}
    most = 0
    seen = set()
    for path, line in zip(lines, said):
        _, growth, word, text = line.split("\t", 3)
        form = path.suffix[1:] or "run"
        known = path not in good[form]
        read = word == "read"
        theirs = expected[path]
        if known:
            tally[form][0 if read else 1 if theirs is None else 2] += 1
        if read and theirs is None:
            faults.append(f"{path} is read, and the reference refuses it")
        elif read and int(text) != theirs:
            faults.append(f"{path} is read with other values than the reference's")
        elif not read and not known:
            faults.append(f"{path} is good, and refused: {text}")
        elif not read and (not re.fullmatch(r"IO\d|E9\d", word) or str(path) not in text):
            faults.append(f"{path}: {word}: {text[:300]}")
        if path in seen or known:
            most = max(most, int(growth) - 3 * size_of(path))
            if int(growth) > 3 * size_of(path) + 2**20:
                faults.append(f"{path}: {growth} bytes of memory for a file of {size_of(path)}")
        seen.add(path)
    for (path, code), line in zip(others.items(), said[len(lines):]):
        _, growth, word, text = line.split("\t", 3)
        if word != code or int(growth) > 2**20 or " it is a" not in text.lower():
            faults.append(f"{path}: {line}")
    for form, (read, both, ours) in tally.items():
        print(f"{form}: {read} read, {both} refused, {ours} refused that the reference reads")
        if read < 4 or both < count // 3 or ours > count // 10:
            faults.append(f"{form}: the mutants show little")
    print(f"{len(others)} things that are no files; memory at most {most} bytes above three times the file")
    return faults


def compare_with_package(folder, count, seed):
    """How often reference_files.safetensors and the package of Python differ."""
    from safetensors import safe_open

    drawn = random.Random(seed)
    good = good_files(folder, None)
    tally = {"both read": 0, "both refuse": 0, "the reference alone refuses": 0}
    faults = []
    for path in mutants(folder, good, "safetensors", count, drawn):
        try:
            theirs = safe_open(str(path), framework="np")
            theirs = {name: theirs.get_slice(name) for name in theirs.keys()}
        except Exception:  # the package has several
            theirs = None
        try:
            mine, _ = reference.safetensors_header(path.read_bytes())
        except reference.Refused:
            mine = None
        if mine is not None and (theirs is None or {n: tuple(s.get_shape()) for n, s in theirs.items()} !=
                                 {n: t[1] for n, t in mine.items()}):
            faults.append(f"the reference reads {path} otherwise than the package")
        tally["both read" if mine is not None else "both refuse" if theirs is None else
              "the reference alone refuses"] += 1
    print(tally)
    return faults


def main():
    warnings.simplefilter("ignore")  # names that are twice
    folder, count, seed = Path(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3])
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    faults = compare_with_package(folder, count, seed) if sys.argv[4] == "--package" else check(
        folder, count, seed, sys.argv[5:])
    for fault in faults[:30]:
        print(f"FAULT: {fault}")
    if not faults:
        shutil.rmtree(folder, ignore_errors=True)
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
