#!/usr/bin/env python3
"""Codes, sentences, refusal tests and docs/errors.md are one set; prints every difference.

- The enumerators of `enum class Code` (rules/verdict.hpp) are the codes that have a sentence
  (check/sentences/), a file tests/reject/CODE_*.cpp and a heading `## CODE: ...` in docs/errors.md.
- A sentence begins with its own code, and its section of docs/errors.md quotes it word for word.
- A file of tests/reject expects the code that its name begins with.
- Every run-time code (E.., IO..) that include/ throws has a heading, and every such heading is thrown.
- Codes in the comments of include/ and in docs/ exist.
- Every function of the tables has an example with its output (site.d/functions.py).
- Programs that pages show are those of examples, links lead somewhere, and each row of docs/jax_tutorials.md names files
  that exist and are tests (snippets.py).

usage: check_docs.py [ROOT] | --self-test
"""
import re
import shutil
import sys
import tempfile
from pathlib import Path

import snippets

sys.path.insert(0, str(Path(__file__).resolve().parent / "site.d"))
from pages import Site  # noqa: E402

VERDICT = "include/shardtype/rules/verdict.hpp"
SENTENCES = "include/shardtype/check/sentences"
ERRORS = "docs/errors.md"
SEEDS = "docs/jax_tutorials.md"
RUN_TIME = r"(?:E|IO)\d+"


def words(text):
    return " ".join(text.split())


def compare(report, name_a, a, name_b, b):
    for code in sorted(a - b):
        report(f"{code} is in {name_a}, not in {name_b}")
    for code in sorted(b - a):
        report(f"{code} is in {name_b}, not in {name_a}")


def sentences(text, report):
    """Code -> its sentences."""
    out = {}
    for m in re.finditer(r"struct refused<Code::(\w+), legal(.*?)\n};", text, re.S):
        code = m[1].split("_")[0]
        parts = m[2].split("static_assert(")[1:] or [""]
        literals = ["".join(re.findall(r'"((?:\\.|[^"\\])*)"', part)).replace('\\"', '"') for part in parts]
        if code in out:
            report(f"{code} has two sentences")
        for literal in literals:
            if not literal.startswith(f"[shardtype {code}] "):
                report(f"{code}: its sentence does not begin with [shardtype {code}]")
        out[code] = literals
    return out


def sections(text, report):
    """Code -> the text below its heading."""
    out = {}
    parts = re.split(r"^## +([A-Z]+\d+):.*$", text, flags=re.M)
    for code, body in zip(parts[1::2], parts[2::2]):
        if code in out:
            report(f"{code} has two headings in {ERRORS}")
        out[code] = body
    return out


def check(root):
    found = []
    report = found.append
    enum = re.search(r"enum class Code \{(.*?)\}", (root / VERDICT).read_text(), re.S)
    names = re.findall(r"\b[A-Z]\w*", re.sub(r"//[^\n]*", "", enum[1])) if enum else []
    codes = {n.split("_")[0] for n in names}
    if not codes:
        report(f"no codes found in {VERDICT}")
    if len(codes) != len(names):
        report(f"two enumerators of {VERDICT} have one code")

    said = sentences("".join(f.read_text() for f in sorted((root / SENTENCES).glob("*.hpp"))), report)
    compare(report, VERDICT, codes, SENTENCES, set(said))

    tested = set()
    for file in sorted((root / "tests/reject").glob("*.cpp")):
        code = file.stem.split("_")[0]
        tested.add(code)
        expects = re.findall(r"^// EXPECT:(.*)$", file.read_text(), re.M)
        if not any(rf"\[shardtype {code}\]" in e for e in expects):
            report(rf"{file.name} does not EXPECT \[shardtype {code}\]")
    compare(report, VERDICT, codes, "tests/reject", tested)

    anchors = sections((root / ERRORS).read_text(), report)
    run_time = {c for c in anchors if re.fullmatch(RUN_TIME, c)}
    compare(report, VERDICT, codes, ERRORS, set(anchors) - run_time)
    for code in sorted(codes & set(said) & set(anchors)):
        for sentence in said[code]:
            if words(sentence) not in words(anchors[code]):
                report(f"{code}: {ERRORS} does not quote its sentence, which is: {sentence}")

    thrown = set()
    texts = {p: p.read_text() for p in sorted((root / "include").rglob("*.[hi]pp"))}
    for text in texts.values():
        code_only = re.sub(r"(?m)^\s*//.*$", "", text)
        thrown |= set(re.findall(rf'"({RUN_TIME})"', code_only))
        thrown |= set(re.findall(rf"\[shardtype ({RUN_TIME})\]", code_only))
    compare(report, "include/", thrown, ERRORS, run_time)

    texts |= {p: p.read_text() for p in sorted((root / "docs").rglob("*.md"))}
    if (tables := (root / SEEDS).read_text().count("\n<!-- files -->\n|")) != 5:
        report(f"{SEEDS} has {tables} tables of files, not one for each of five documents")
    known = codes | thrown
    kinds = "".join(sorted({c[0] for c in codes if len(c) == 3}))
    for path, text in texts.items():
        told = text if path.suffix == ".md" else "\n".join(re.findall(r"//.*", text))
        # T19[I@X] is a value of a printed plan
        for code in sorted(set(re.findall(rf"\b(?:[{kinds}]\d\d|E\d\d|IO\d)\b(?!\[)", told)) - known):
            report(f"{path.relative_to(root)} speaks of {code}, which does not exist")
    return found


def self_test(root):
    """Each planted fault must be found."""
    def edit(path, old, new):
        def plant(copy):
            text = (copy / path).read_text()
            if old not in text:
                raise SystemExit(f"self-test: {path} has no {old!r}")
            (copy / path).write_text(text.replace(old, new, 1))
        return plant

    faults = {
        "a code without anything": edit(VERDICT, "  ok,", "  ok,\n  Z99_new,"),
        "a sentence less": edit(SENTENCES + "/products.hpp", "refused<Code::C04_axis_splits_two", "other<Code::C04"),
        "a sentence of another code": edit(SENTENCES + "/products.hpp", "[shardtype C05]", "[shardtype C06]"),
        "a sentence that has changed": edit(SENTENCES + "/products.hpp", "would split two dims", "would cut two dims"),
        "a heading less": edit(ERRORS, "## C04:", "## About C04:"),
        "a heading too many": edit(ERRORS, "## C04:", "## C99: no\n\n## C04:"),
        "a run-time heading less": edit(ERRORS, "## E20:", "## About E20:"),
        "a run-time heading too many": edit(ERRORS, "## E20:", "## E99: no\n\n## E20:"),
        "a code that does not exist": edit(ERRORS, "# Errors\n", "# Errors\n\nSee N99.\n"),
        "a document without its table": edit(SEEDS, "<!-- files -->\n|", "\n|"),
        "no test": lambda copy: [f.unlink() for f in (copy / "tests/reject").glob("C04_*.cpp")],
        "a test too many": lambda copy: (copy / "tests/reject/Z01_x.cpp").write_text(
            "// EXPECT: \\[shardtype Z01\\]\n"),
        "a test of another code": edit("tests/reject/C04_axis_splits_two.cpp", "C04", "C05"),
    }
    missed = []
    more = {
        "a function without an example": edit("docs/reference.md", "| `sign(a)` |", "| `sign(a)`, `signs(a)` |"),
        "a part of no function": edit("examples/by_example_shapes.cpp", "// docs: flip\n", "// docs: flips\n"),
    }
    for name, plant in more.items():
        with tempfile.TemporaryDirectory() as folder:
            copy = Path(folder).resolve()
            for part in ("include", "docs", "examples"):
                shutil.copytree(root / part, copy / part)
            for page in ("README.md", "CONTRIBUTING.md", "CHANGELOG.md"):
                shutil.copy(root / page, copy / page)
            plant(copy)
            if not Site(copy, None).functions.without_example():
                missed.append(name)
    for name, plant in faults.items():
        with tempfile.TemporaryDirectory() as folder:
            copy = Path(folder)
            for part in ("include", "tests/reject", "docs"):
                shutil.copytree(root / part, copy / part)
            plant(copy)
            if not check(copy):
                missed.append(name)
    return [f"self-test: {name} goes unnoticed" for name in missed]


def main():
    here = Path(__file__).resolve().parent.parent
    if "--self-test" in sys.argv:
        found = self_test(here) + snippets.self_test()
    else:
        root = Path(sys.argv[1]) if len(sys.argv) > 1 else here
        found = check(root) + snippets.check(root) + Site(root.resolve(), None).functions.without_example()
    for line in found:
        print(line, file=sys.stderr)
    sys.exit(1 if found else 0)


if __name__ == "__main__":
    main()
