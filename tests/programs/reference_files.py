"""What files of tensors mean, read by the rules of their formats and by nothing of the library: .npy and .npz by NumPy,
safetensors as the package of Python reads it (its rules are those of safetensors 0.4 to 0.8; scripts compare them by
hand with the package: check_mutants.py --package), checkpoints by docs/checkpoints.md. A reader returns the bytes of the
wanted arrays in a row, or raises Refused."""
import json
import struct
import zipfile
from pathlib import Path

import numpy as np

# the model of mutants.cpp
WANTED = [("w", "<f4", (13, 5)), ("v", "<f4", (13, 5)), ("b", "<f8", (5,)), ("c", "<i8", (13,))]


class Refused(Exception):
    pass


def fnv(data):
    out = 14695981039346656037
    for byte in data:
        out = (out ^ byte) * 1099511628211 & 0xFFFFFFFFFFFFFFFF
    return out


def in_order(arrays):
    """The bytes of the wanted arrays, of which there are no others."""
    if set(arrays) != {name for name, _, _ in WANTED}:
        raise Refused("other names")
    out = b""
    for name, dtype, shape in WANTED:
        if arrays[name].dtype != np.dtype(dtype) or arrays[name].shape != shape:
            raise Refused("another type or shape")
        out += arrays[name].tobytes()
    return out


def npy(path):
    try:
        a = np.load(path, allow_pickle=False)
    except Exception as failure:
        raise Refused(repr(failure)) from failure
    if not isinstance(a, np.ndarray) or a.dtype != np.dtype("<f4") or a.shape != (13, 5):
        raise Refused("another type or shape")
    return a.tobytes()


def npz(path):
    try:
        with np.load(path, allow_pickle=False) as loaded:
            if isinstance(loaded, np.ndarray):
                raise Refused("one array")
            arrays = {name: loaded[name] for name in loaded.files}
            if len(arrays) != len(loaded.files) or not all(isinstance(a, np.ndarray) for a in arrays.values()):
                raise Refused("a name twice, or no array")
    except (Exception, zipfile.BadZipFile) as failure:
        raise Refused(repr(failure)) from failure
    return in_order(arrays)


# Bits of an element.
TYPES = {"BOOL": 8, "F4": 4, "F6_E2M3": 6, "F6_E3M2": 6, "U8": 8, "I8": 8, "F8_E5M2": 8, "F8_E4M3": 8, "F8_E8M0": 8,
         "I16": 16, "U16": 16, "F16": 16, "BF16": 16, "I32": 32, "U32": 32, "F32": 32, "C64": 64, "F64": 64, "I64": 64,
         "U64": 64}
NUMPY = {"F32": "<f4", "F64": "<f8", "I64": "<i8", "I32": "<i4", "BOOL": "|b1"}
MOST = 2**64 - 1


def no_duplicates(pairs):
    out = dict(pairs)
    if len(out) != len(pairs):
        raise Refused("a name twice")
    return out


def strict_json(text):
    """JSON without what Python's reader takes beyond it. A negative 0 is no whole number."""
    def refuse(word):
        raise Refused(word)
    try:
        value = json.loads(text.decode("utf-8"), object_pairs_hook=no_duplicates, parse_constant=refuse,
                           parse_int=lambda s: float(s) if s == "-0" else int(s))
        json.dumps(value, ensure_ascii=False).encode("utf-8")  # no halves of characters
    except (ValueError, RecursionError) as failure:
        raise Refused(repr(failure)) from failure
    return value


def whole(n):
    if type(n) is not int or not 0 <= n <= MOST:
        raise Refused("no whole number")
    return n


def tensors_of(header, data_bytes):
    """The tensors of a header: (type, shape, begin, end) by their names. Each byte belongs to one."""
    out = {}
    for name, one in header.items():
        if not isinstance(one, dict) or set(one) != {"dtype", "shape", "data_offsets"}:
            raise Refused("no tensor")
        dtype, shape, offsets = one["dtype"], one["shape"], one["data_offsets"]
        if not isinstance(dtype, str) or dtype not in TYPES or not isinstance(shape, list) or len(shape) > 64:
            raise Refused("type or shape")
        if not isinstance(offsets, list) or len(offsets) != 2:
            raise Refused("offsets")
        begin, end = map(whole, offsets)
        elements = 1
        for n in map(whole, shape):
            elements *= n
            if elements > MOST:
                raise Refused("too many elements")
        bits = elements * TYPES[dtype]
        if bits > MOST or bits % 8 != 0 or end - begin != bits // 8:
            raise Refused("bytes")
        out[name] = (dtype, tuple(shape), begin, end)
    at = 0
    for _, _, begin, end in sorted(out.values(), key=lambda t: t[2:]):
        if begin != at:
            raise Refused("overlap or hole")
        at = end
    if at != data_bytes:
        raise Refused("bytes of no tensor, or too few")
    return out


def safetensors_header(data):
    if len(data) < 8:
        raise Refused("short")
    length = int.from_bytes(data[:8], "little")
    if length > 100_000_000 or length > len(data) - 8:
        raise Refused("header")
    if data[8:9] != b"{":
        raise Refused("no object")
    header = strict_json(data[8:8 + length])
    texts = header.pop("__metadata__", None)
    if texts is not None and not (isinstance(texts, dict) and all(isinstance(t, str) for t in texts.values())):
        raise Refused("metadata")
    return tensors_of(header, len(data) - 8 - length), 8 + length


def arrays_of(data):
    tensors, start = safetensors_header(data)
    out = {}
    for name, (dtype, shape, begin, end) in tensors.items():
        if dtype not in NUMPY:
            raise Refused("type")
        out[name] = np.frombuffer(data[start + begin:start + end], dtype=NUMPY[dtype]).reshape(shape)
    return out


def safetensors(path):
    return in_order(arrays_of(Path(path).read_bytes()))


def chunk_sums(data, width):
    """The checksums of a tensor's bytes: of each 2^20 of them the sum of a hash of each element and its place."""
    mask = 0xFFFFFFFFFFFFFFFF
    out = []
    for first in range(0, len(data), 1 << 20):
        total = 0
        for at in range(first, min(len(data), first + (1 << 20)), width):
            x = int.from_bytes(data[at:at + width], "little") ^ (at // width + 1) * 0x9E3779B97F4A7C15 & mask
            x = (x ^ x >> 33) * 0xFF51AFD7ED558CCD & mask
            x = (x ^ x >> 33) * 0xC4CEB9FE1A85EC53 & mask
            total += x ^ x >> 33
        out.append(f"{total & mask:016x}")
    return out


def without_hash(text):
    """The manifest without its line "hash", and the hash."""
    start = b'\n "hash": "'
    at = text.find(start)
    if at < 0 or text[at + len(start) + 16:at + len(start) + 19] != b'",\n':
        raise Refused("no checksum")
    rest = text[:at + 1] + text[at + len(start) + 19:]
    return (rest[:-1] if rest.endswith(b"}\n") else rest), text[at + len(start):at + len(start) + 16]


def checkpoint(folder):
    text = (Path(folder) / "manifest.json").read_bytes()
    rest, hash_there = without_hash(text)
    if f"{fnv(rest):016x}".encode() != hash_there:
        raise Refused("checksum")
    manifest = strict_json(text)
    if not isinstance(manifest, dict) or manifest.get("format") != "shardtype checkpoint 1":
        raise Refused("format")
    if manifest.get("chunk_bytes") != 1 << 20 or not 0 <= whole(manifest.get("step")) < 2**63:
        raise Refused("numbers")
    files = manifest.get("files")
    if not isinstance(files, dict) or not isinstance(files.get("model.safetensors"), dict):
        raise Refused("no file of the model")
    listed = files["model.safetensors"]
    data = (Path(folder) / "model.safetensors").read_bytes()
    tensors, start = safetensors_header(data)
    described = dict(listed.get("tensors", {}))
    sums = {name: one.pop("sums", None) if isinstance(one, dict) else None for name, one in described.items()}
    if (listed.get("bytes"), listed.get("data_offset"), listed.get("header_hash")) != (
            len(data), start, f"{fnv(data[:start]):016x}"):
        raise Refused("not the file that was written")
    if tensors_of(described, len(data) - start) != tensors:
        raise Refused("other tensors than the file's")
    for name, (dtype, _, begin, end) in tensors.items():
        if sums[name] != chunk_sums(data[start + begin:start + end], TYPES[dtype] // 8):
            raise Refused("checksum of " + name)
    return in_order(arrays_of(data))


def with_hash(text):
    """The manifest with the checksum that its other lines have."""
    rest, old = without_hash(text)
    return text.replace(b'"hash": "' + old, b'"hash": "' + f"{fnv(rest):016x}".encode(), 1)


def write_safetensors(path, entries, data, texts=None):
    """A file of (name, member texts) without a check: `entries` is the header's text or a dict."""
    header = entries if isinstance(entries, bytes) else json.dumps(
        ({"__metadata__": texts} if texts else {}) | entries).encode()
    Path(path).write_bytes(struct.pack("<Q", len(header)) + header + data)
