#!/usr/bin/env python3
"""Runs program_wisdom with SHARDTYPE_FFTW_WISDOM: what one program measures, the next one knows.

usage: check_wisdom.py FOLDER RANKS -- mpiexec -n RANKS program_wisdom

Wisdom that cannot be used, or not be written, must be named in one message; the program must end well, and the file
must stay as it was. All ranks write at the same time, and the file must be whole.
"""
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

MESSAGE = "[shardtype E77] SHARDTYPE_FFTW_WISDOM: "


def run(command, wisdom, planning, *words):
    """The program's output, and whether each rank knew the plans of both precisions."""
    settings = {"SHARDTYPE_FFTW": planning, **({"SHARDTYPE_FFTW_WISDOM": str(wisdom)} if wisdom else {})}
    ran = subprocess.run([*command, *words], env={**os.environ, **settings}, text=True, stdout=subprocess.PIPE,
                         stderr=subprocess.STDOUT, check=False, timeout=60)
    if ran.returncode != 0:
        sys.exit(f"{wisdom}: the program ended with {ran.returncode}:\n{ran.stdout}")
    return ran.stdout, re.findall(r"rank \d+ knows (\d) and (\d)", ran.stdout)


def expect(true, what, output=""):
    if not true:
        sys.exit(f"{what}\n{output}")


def main():
    folder, ranks = Path(sys.argv[1]), int(sys.argv[2])
    command = sys.argv[4:]
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    wisdom = folder / "wisdom"
    files = [folder / "wisdom.double", folder / "wisdom.float"]

    output, _ = run(command, wisdom, "measure")
    expect(MESSAGE not in output, "a new file is no fault", output)
    expect(sorted(folder.iterdir()) == files, f"left in the folder: {sorted(folder.iterdir())}")
    whole = [file.read_bytes() for file in files]
    for text in whole:
        expect(text.startswith(b"(fftw") and text.rstrip().endswith(b")"), "half a file")

    output, known = run(command, wisdom, "estimate", "check")
    expect(known == [("1", "1")] * ranks, f"the next program knew {known}", output)
    output, known = run(command, None, "estimate", "check")
    expect(known == [("0", "0")] * ranks, f"without the file the program knew {known}", output)
    output, known = run(command, wisdom, "measure", "check")
    expect(known == [("1", "1")] * ranks, f"the third program knew {known}", output)
    whole = [file.read_bytes() for file in files]

    for name, text in [("cut", whole[0][:len(whole[0]) // 2]), ("text", b"n1 n2\n"), ("empty", b""),
                       ("other precision", whole[1]), ("binary", bytes(range(256)) * 64)]:
        files[0].write_bytes(text)
        output, known = run(command, wisdom, "measure", "check")
        expect(output.count(MESSAGE + f"{files[0]} holds no wisdom of fftw-") == 1, f"{name}: says nothing", output)
        expect(output.count("[shardtype") == 1, f"{name}: says more", output)
        expect(files[0].read_bytes() == text, f"{name}: the file was changed")
    files[0].unlink()
    os.mkfifo(files[0])
    output, _ = run(command, wisdom, "measure")
    expect(output.count(f"{MESSAGE}{files[0]} cannot be read: it is a fifo, not a file") == 1, "a fifo", output)
    files[0].unlink()
    # a link to the file stays one, and what another has named like a new file stays
    files[0].symlink_to("other")
    other = folder / f"{files[0].name}.0.partial"
    other.write_bytes(b"another's")
    run(command, wisdom, "measure")
    expect(files[0].is_symlink() and (folder / "other").read_bytes().startswith(b"(fftw"), "the link was replaced")
    expect(other.read_bytes() == b"another's", "the other file was changed")
    names = sorted(file.name for file in folder.iterdir())
    expect(names == ["other", "wisdom.double", "wisdom.double.0.partial", "wisdom.float"], f"left in the folder: {names}")
    files[0].unlink()
    files[0].mkdir()
    output, _ = run(command, wisdom, "measure")
    expect(output.count(MESSAGE) == 1, "a folder: says nothing", output)
    nowhere = folder / "none" / "wisdom"
    output, _ = run(command, nowhere, "measure")
    expect(f"{MESSAGE}{nowhere}.double cannot be written: No such file or directory" in output, "nowhere", output)
    shutil.rmtree(folder)


if __name__ == "__main__":
    main()
