"""What clang knows of the library's names, where every header is included: for the other tests of this folder."""
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
    return ["-isystem" + one for one in folders] + ["-D" + one for one in values["FULL_DEFINITIONS"]]


def completions(headers, options, clang, scope="shardtype::"):
    """What clang would complete `scope` with: pairs of a name and what it stands for."""
    before = f'#include "{Path(headers).resolve()}"\nvoid complete() {{\n'
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "complete.cpp"
        file.write_text(before + f"  {scope}\n}}\n")
        place = f"{file}:{before.count(chr(10)) + 1}:{len(scope) + 3}"
        run = subprocess.run([clang, "-std=c++20", "-w", *options, "-fsyntax-only", "-Xclang",
                              f"-code-completion-at={place}", str(file)], capture_output=True, text=True)
    found = re.findall(r"^COMPLETION: (?:Pattern : )?(operator[^\s(]+|\w+)(?: \(Hidden\))?(?: : (.*))?$", run.stdout,
                       re.M)
    if not found or "error:" in run.stderr:
        raise SystemExit(f"clang cannot complete:\n{run.stderr[:2000]}")
    return found
