"""What clang knows of the library's names, where every header is included: for the other tests of this folder."""
import fcntl
import hashlib
import os
import re
import subprocess
import tempfile
from pathlib import Path


def flags(file):
    """Of a file with lines KEY=a|b (cmake/ExpectError.cmake)."""
    lines = dict(line.split("=", 1) for line in Path(file).read_text().splitlines() if "=" in line)
    values = {key: [one for one in value.split("|") if one] for key, value in lines.items()}
    # the compiler has /usr/include itself, behind its own headers
    folders = [one for one in values["FULL_INCLUDES"] if one != "/usr/include"]
    return ["-isystem" + one for one in folders] + ["-D" + one for one in values["FULL_DEFINITIONS"]] + \
        values.get("FULL_OPTIONS", [])


class Completion:
    """What clang would complete `...::` with. The headers are compiled once, for all tests that ask: what is compiled
    stands beside them, and is compiled again when clang finds that a header has changed."""

    def __init__(self, headers, options, clang):
        self.headers, self.options, self.clang = Path(headers).resolve(), options, clang

    def __enter__(self):
        self.folder = tempfile.TemporaryDirectory()
        of = hashlib.sha256("\n".join([self.clang, *self.options, self.headers.read_text()]).encode()).hexdigest()[:12]
        place = self.headers.parent if os.access(self.headers.parent, os.W_OK) else Path(self.folder.name)
        place = Path(self.folder.name) if "include" in place.parts else place
        self.compiled = place / f"{self.headers.stem}.{of}.pch"
        with open(self.compiled.with_suffix(".lock"), "w") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            if not self.compiled.exists() or not self.fits():
                self.compiled.unlink(missing_ok=True)
                run = self.run(["-x", "c++-header", str(self.headers), "-o", str(self.compiled)])
                if run.returncode != 0:
                    raise SystemExit(f"clang cannot compile the headers:\n{run.stderr[:2000]}")
        return self

    def fits(self):
        """Whether the headers are as they were when they were compiled."""
        empty = Path(self.folder.name) / "empty.cpp"
        empty.write_text("")
        return self.run(["-include-pch", str(self.compiled), "-fsyntax-only", str(empty)]).returncode == 0

    def __exit__(self, *_):
        self.folder.cleanup()

    def run(self, arguments):
        return subprocess.run([self.clang, "-std=c++20", "-w", *self.options, *arguments], capture_output=True,
                              text=True)

    def lines(self, before, written):
        """Of each name what clang says of it in brackets, and what it stands for."""
        file = Path(self.folder.name) / "complete.cpp"
        file.write_text(before + f"void complete() {{\n{written}::\n}}\n")
        place = f"{file}:{before.count(chr(10)) + 2}:{len(written) + 3}"
        run = self.run(["-include-pch", str(self.compiled), "-fsyntax-only", "-Xclang",
                        f"-code-completion-at={place}", str(file)])
        found = re.findall(r"^COMPLETION: (?:Pattern : )?(~?\w+|operator[^\s(]+)(?: \(([\w,]+)\))?(?: : (.*))?$",
                           run.stdout, re.M)
        if not found:
            raise SystemExit(f"clang cannot complete {written}:\n{run.stderr[:2000]}")
        return found

