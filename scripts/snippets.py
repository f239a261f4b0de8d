#!/usr/bin/env python3
"""Programs and outputs that pages show are those of examples, which are compiled and run.

A part of a file stands between `// docs: NAME` and `// docs: end`; a page shows it, or a whole file, as

    <!-- code: examples/recipes.cpp data-parallel -->     <!-- code: examples/hello_sharding.cpp -->
    ```cpp
    ...
    ```

What a program prints between the line `== NAME` and the next such line is shown as

    <!-- output: recipes data-parallel -->
    ```
    ...
    ```

Each part of a file of which a page says `<!-- parts: FILE -->` has a section on that page, with its code and its output;
`--write` adds the sections that lack.

A program that is refused is a part of its test in tests/reject. A block of C++ without such a mark is a fault, but for
signatures below `<!-- synopsis -->`, for docs/reference.md, whose programs below `<!-- given: PARAMETERS -->` are compiled by
tests/structure/reference.py, and for a page that says `<!-- refused -->`: each of its blocks stands below the heading of a
code, which is that of a file in tests/reject or of an error of a run.

Below `<!-- frame: FILE -->` stands a program into which the code of FILE goes that a page shows after it: what FILE has at
namespace scope in place of the line `// names`, the rest in place of `  // statements`. `framed(root)` gives these programs,
which tests/structure/reference.py compiles.

The calls in the second column of a table below `<!-- calls: FILE -->` stand in FILE, which is compiled. The table below
`<!-- tasks -->` has ways from README.md, of at most three links, to a page that speaks of the program. Each row of a table below
`<!-- files -->` names files in its last cell, by links or as `examples/gpt.cpp`, which exist; its examples and tests are run by CI.
A page with such a table has no other.

usage: snippets.py [ROOT]                    prints differences of code
       snippets.py --write [PROGRAMS [NAME...]]  writes code into the pages, and, of the examples NAME (all) built in
                                             the folder PROGRAMS, outputs
       snippets.py --compare NAME COMMAND... runs the example NAME, compares what it prints with the pages
       snippets.py --self-test
"""
import re
import subprocess
import sys
import tempfile
from pathlib import Path

HERE = Path(__file__).resolve().parent.parent
CPP = {"cpp", "c++", "cc", "cxx", "hpp", "h++"}
README_LINES = 100
REFERENCE = "docs/reference.md"
RUN_TIME = r"(?:E|IO)\d+"
BLOCK = r"^<!-- {kind}: (\S+)(?: (\S+))? -->\n```(\w*)\n(.*?)^```$"


def pages(root):
    return [p for p in (root / "README.md", *sorted((root / "docs").rglob("*.md"))) if p.exists()]


def part(root, path, name):
    """The text of a part of a file, without its indentation; None where there is none."""
    file = root / path
    if not file.exists():
        return None
    text = file.read_text()
    if name is None:
        return text[text.index("#include"):]
    found = re.search(rf"^ *// docs: {re.escape(name)}\n(.*?)^ *// docs: end$", text, re.M | re.S)
    if found is None:
        return None
    lines = found[1].splitlines()
    indent = min((len(s) - len(s.lstrip()) for s in lines if s.strip()), default=0)
    return "".join(s[indent:].rstrip() + "\n" for s in lines)


def section(printed, name):
    found = re.search(rf"^== {re.escape(name)}\n(.*?)(?=^== |\Z)", printed, re.M | re.S)
    return None if found is None else "".join(s.rstrip() + "\n" for s in found[1].strip("\n").splitlines())


def replace(root, kind, wanted, write):
    """Differences of all blocks of one kind from `wanted(first, second)`."""
    found = []
    for page in pages(root):
        text = page.read_text()

        def check(m):
            right = wanted(m[1], m[2])
            where = f"{page.relative_to(root)}: {kind} {m[1]} {m[2] or ''}".rstrip()
            if right is None:
                found.append(f"{where} does not exist")
            elif right != m[4] and right is not NotImplemented:
                found.append(f"{where} differs; scripts/snippets.py --write")
                if write:
                    return m[0][:m.start(4) - m.start()] + right + "```"
            return m[0]

        new = re.sub(BLOCK.format(kind=kind), check, text, flags=re.M | re.S)
        marks = len(re.findall(rf"^<!-- {kind}:", text, re.M))
        if marks != len(re.findall(BLOCK.format(kind=kind), text, re.M | re.S)):
            found.append(f"{page.relative_to(root)}: a mark <!-- {kind}: ... --> without its block")
        if write and new != text:
            page.write_text(new)
    return found


def code(root, write=False):
    return replace(root, "code", lambda path, name: part(root, path, name), write)


def parts(root, write=False):
    """A page of all parts of a file has a section for each."""
    found = []
    for page in pages(root):
        text = page.read_text()
        for file in re.findall(r"^<!-- parts: (\S+) -->$", text, re.M):
            names = re.findall(r"^ *// docs: (?!end$)(\S+)$", (root / file).read_text(), re.M) if (root / file).exists() else []
            if not names:
                found.append(f"{page.relative_to(root)}: {file} has no parts")
            # The end of the section of the part before; where there is none, that of the text before all sections.
            end = text.find("\n## `")
            end = len(text) if end < 0 else end
            for name in names:
                mark = f"<!-- code: {file} {name} -->\n"
                shown = f"<!-- output: {Path(file).stem} {name} -->\n```\n"
                if mark in text:
                    if shown in text:
                        end = text.index("\n```\n", text.index(shown) + len(shown) - 1) + 5
                    continue
                found.append(f"{page.relative_to(root)}: part {name} of {file} is not shown; scripts/snippets.py --write")
                section = f"\n## `{name}`\n\n{mark}```cpp\n```\n\n{shown}```\n"
                text = text[:end] + section + text[end:]
                end += len(section)
        if write and text != page.read_text():
            page.write_text(text)
    return found


def unmarked(root):
    """Blocks of C++ that are no part of a compiled file, and do not say what else they are."""
    found = []
    for page in pages(root):
        name = str(page.relative_to(root))
        marks = r"<!-- (?:code: .*|synopsis|frame: .*" + (r"|given: .*" if name == REFERENCE else "") + r") -->"
        text = page.read_text()
        refused = re.search(r"^<!-- refused -->$", text, re.M) is not None
        before, code, inside = "", "", False
        for number, line in enumerate(text.splitlines(), 1):
            if heading := re.match(r"#+ (?:([A-Z]+\d+):)?", line) if not inside else None:
                code = heading[1] or ""
            if fence := re.match(r"\s*```\s*([\w+]*)", line):
                right = re.fullmatch(marks, before) or (refused and (
                    re.fullmatch(RUN_TIME, code) or any((root / "tests/reject").glob(f"{code}_*.cpp"))))
                if not inside and fence[1].lower() in CPP and not right:
                    found.append(f"{name}:{number}: C++ that is no part of a file which is compiled")
                inside = not inside
            before = line
    return found


def framed(root):
    """Pairs of a page's name and a program: a frame of it with the code in it."""
    programs = []
    for page in pages(root):
        frames = {}
        for m in re.finditer(r"^<!-- (frame|code): (\S+)(?: (\S+))? -->\n```cpp\n(.*?)^```$", page.read_text(), re.M | re.S):
            if m[1] == "frame":
                frames[m[2]] = [m[4], "", ""]
                programs.append((str(page.relative_to(root)), frames[m[2]]))
            elif m[2] in frames:
                place = re.search(rf"^( *)// docs: {re.escape(m[3] or '')}$", (root / m[2]).read_text(), re.M)
                frames[m[2]][2 if place and place[1] else 1] += m[4]
    return [(page, frame.replace("// names\n", names).replace("  // statements\n", statements))
            for page, (frame, names, statements) in programs]


def shown(root):
    """Examples whose output pages show."""
    return {m[1] for p in pages(root) for m in re.finditer(r"^<!-- output: (\S+)", p.read_text(), re.M)}


def outputs(root, example, printed, write=False):
    return replace(root, "output",
                   lambda name, s: section(printed, s) if name == example else NotImplemented, write)


def calls(root):
    """The second column of tables below `<!-- calls: FILE -->`: what has an argument stands in FILE."""
    found = []
    for page in pages(root):
        for m in re.finditer(r"^<!-- calls: (\S+) -->\n((?:\|.*\n)+)", page.read_text(), re.M):
            file = root / m[1]
            text = re.sub(r"\s", "", re.sub(r"//.*", "", file.read_text())) if file.exists() else ""
            for row in m[2].splitlines()[2:]:
                cells = re.split(r"(?<!\\)\|", row)
                for call in re.findall(r"`([^`]+)`", cells[2]):
                    if "(" in call and re.sub(r"\s", "", call) not in text:
                        found.append(f"{page.relative_to(root)}: {call} is not in {m[1]}")
    return found


def local_links(page):
    text = re.sub(r"^```.*?^```$|`[^`\n]*`", "", page.read_text(), flags=re.M | re.S)
    return [one for one in re.findall(r"\]\(([^)\s]+)\)", text) if not re.match(r"[a-z]+:", one)]


def links(root):
    """Links between pages, and to files, lead somewhere."""
    found = []
    heads = {}

    def anchors(page):
        if page not in heads:
            text = re.sub(r"^```.*?^```$", "", page.read_text(), flags=re.M | re.S)
            names = re.findall(r"^#+ +(.*)$", text, re.M)
            heads[page] = {re.sub(r"[^\w\- ]", "", n.lower()).replace(" ", "-") for n in names}
        return heads[page]

    for page in pages(root):
        for target in local_links(page):
            path, _, anchor = target.partition("#")
            file = (page.parent / path).resolve() if path else page
            if not file.exists():
                found.append(f"{page.relative_to(root)}: no file {target}")
            elif anchor and file.suffix == ".md" and anchor not in anchors(file):
                found.append(f"{page.relative_to(root)}: no heading {target}")
    return found


def targets(page):
    """The files that a page links to."""
    return {(page.parent / path).resolve() if path else page.resolve()
            for path in (one.partition("#")[0] for one in local_links(page))}


def tasks(root):
    """The rows of the table below `<!-- tasks -->`: from README.md each link is on the page before it, there are at most
    three, and the last page speaks of the program."""
    found = []
    for page in pages(root):
        for m in re.finditer(r"^<!-- tasks -->\n((?:\|.*\n)+)", page.read_text(), re.M):
            for row in m[1].splitlines()[2:]:
                task, links, programs = (one.strip() for one in row.strip("|").split("|"))
                way = [one.partition("#")[0] for one in re.findall(r"\]\(([^)]+)\)", links)]
                at = root / "README.md"
                for one in way:
                    there = (page.parent / one).resolve()
                    if there != at.resolve() and there not in targets(at):
                        found.append(f"{page.relative_to(root)}: {task}: {at.name} has no link to {one}")
                    at = there
                if not 0 < len(way) <= 3:
                    found.append(f"{page.relative_to(root)}: {task}: {len(way)} links")
                text = at.read_text() if at.exists() else ""
                for one in re.findall(r"`([^`]+)`", programs):
                    if not (root / one).exists() or one not in text:
                        found.append(f"{page.relative_to(root)}: {task}: {at.name} does not speak of {one}")
    return found


def not_run(root, name):
    """Why the file is no test of CI: it does not exist, or it is an example or a test that says so."""
    file = root / name
    if not file.exists():
        return "does not exist"
    if file.suffix == ".cpp" and re.search(r"^// TEST:\s*none", file.read_text(), re.M):
        return "is not run as a test"
    return None


def files(root):
    """The last cell of each row of the tables below `<!-- files -->` names files; links are judged by `links`."""
    found = []
    for page in pages(root):
        name = page.relative_to(root)
        text = page.read_text()
        tables = re.findall(r"^<!-- files -->\n((?:\|.*\n)+)", text, re.M)
        if tables and len(tables) != len(re.findall(r"^\|[-: |]+\|$", text, re.M)):
            found.append(f"{name}: a table without <!-- files -->")
        for table in tables:
            for row in table.splitlines()[2:]:
                cells = [one.strip() for one in re.split(r"(?<!\\)\|", row)[1:-1]]
                if len(cells) != 3 or not all(cells[:2]):
                    found.append(f"{name}: {row} is no row of three cells")
                    continue
                named = [one for one in re.findall(r"`([^`]+)`", cells[2]) if "/" in one]
                if not named and "](" not in cells[2]:
                    found.append(f"{name}: {cells[0]}: no file")
                found += [f"{name}: {cells[0]}: {one} {why}" for one in named if (why := not_run(root, one))]
    return found


def noted(root):
    """The examples whose outputs are shown say so: their runs compare them."""
    says = {f.stem for f in (root / "examples").glob("*.cpp")
            if re.search(r"^// SHOWN: ", f.read_text(), re.M)}
    return [f"examples/{name}.cpp: `// SHOWN: docs` stands there and no page shows its output, or the other way"
            for name in sorted(says ^ shown(root))]


def length(root):
    """The README is read in one go."""
    lines = len((root / "README.md").read_text().splitlines())
    return [f"README.md has {lines} lines, more than {README_LINES}"] if lines > README_LINES else []


def check(root):
    return length(root) + parts(root) + code(root) + unmarked(root) + calls(root) + links(root) + tasks(root) + files(root) + noted(root)


def self_test():
    missed = []
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder)
        (root / "docs").mkdir()
        (root / "examples").mkdir()
        source = root / "examples/a.cpp"
        page = root / "docs/a.md"
        source.write_text("// A\n// SHOWN: docs\n#include <x>\nint main() {\n  // docs: one\n  int a = 1;\n  // docs: end\n  f(a);\n}\n")
        right = ("# A\n[b](#a)\n<!-- code: examples/a.cpp one -->\n```cpp\nint a = 1;\n```\n"
                 "<!-- output: a one -->\n```\n1\n```\n<!-- calls: examples/a.cpp -->\n| a | b |\n|---|---|\n"
                 "| there | `f(a)` |\n\n<!-- tasks -->\n| task | links | program |\n|---|---|---|\n"
                 "| do | [a](a.md) | `examples/a.cpp` |\n")
        (root / "README.md").write_text("[a](docs/a.md)\n")
        page.write_text(right)
        if check(root) or outputs(root, "a", "== one\n1\n== two\n2\n"):
            missed.append("a page that is right is refused")
        for name, old, new in (("other code", "a = 1", "a = 2"), ("no such part", "cpp one", "cpp two"),
                               ("no such file", "a.cpp one", "b.cpp one"), ("a mark alone", "```cpp\n", "text\n"),
                               ("a call that is not compiled", "`f(a)`", "`g(a)`"), ("no such heading", "(#a)", "(#b)"), ("no such page", "(#a)", "(c.md)"),
                               ("a task without a program", "| `examples/a", "| `examples/b"),
                               ("a task without links", "| [a](a.md)", "| a"),
                               ("a task of four links", "| [a](a.md)", "| " + 4 * "[a](a.md)")):
            page.write_text(right.replace(old, new, 1))
            if not check(root):
                missed.append(f"{name} goes unnoticed")
        page.write_text(right)
        one = ("# A\n<!-- files -->\n| there | what | file |\n|---|---|---|\n"
               "| 1 | a | [a](a.md), `examples/b.cpp` |\n| 2 | b | `examples/b.cpp` |\n")
        (root / "docs/rows.md").write_text(one)
        (root / "examples/b.cpp").write_text("// B\n")
        if check(root):
            missed.append(f"a table of files that is right is refused: {check(root)}")
        for name, old, new in (("a row without a file", "b | `examples/b.cpp`", "b | b"),
                               ("a row without a last cell", "| b | `examples/b.cpp` |", "| b |"),
                               ("an empty cell", "| 2 | b |", "| 2 | |"),
                               ("a file that does not exist", "`examples/b.cpp` |\n| 2", "`examples/c.cpp` |\n| 2"),
                               ("a link to no page", "(a.md)", "(c.md)"),
                               ("a table without its mark", "# A\n", "# A\n| a |\n|---|\n\n")):
            (root / "docs/rows.md").write_text(one.replace(old, new, 1))
            if not check(root):
                missed.append(f"{name} goes unnoticed")
        (root / "docs/rows.md").write_text(one)
        (root / "examples/b.cpp").write_text("// B\n// TEST: none\n")
        if not check(root):
            missed.append("an example that is no test goes unnoticed")
        (root / "docs/rows.md").unlink()
        (root / "examples/b.cpp").unlink()
        (root / "README.md").write_text("nothing\n")
        if not check(root):
            missed.append("a task that README.md does not lead to goes unnoticed")
        (root / "README.md").write_text("[a](docs/a.md)\n")
        (root / "tests/reject").mkdir(parents=True)
        (root / "tests/reject/C04_axis.cpp").write_text("int a = 1;\n")
        refused = "\n<!-- refused -->\n## C04: axes\n```cpp\na\n```\n"
        for name, more, faulty in (
                ("a block without a mark", "\n```cpp\na\n```\n", True), ("one of another name", "\n```C++\na\n```\n", True),
                ("one in a list", "\n- a:\n  ```cpp\n  a\n  ```\n", True), ("one below a line", "\na\n```cpp\na\n```\n", True),
                ("parameters that nothing compiles", "\n<!-- given: int a -->\n```cpp\na\n```\n", True),
                ("a synopsis", "\n<!-- synopsis -->\n```cpp\na\n```\n", False), ("text", "\n```\na\n```\n", False),
                ("C++ in text", "\n```\n## C05: a\n```\n", False), ("a refusal", refused, False),
                ("an error of a run", refused.replace("C04", "IO1"), False),
                ("a refusal without a test", refused.replace("C04", "C05"), True),
                ("a refusal without a code", refused.replace("C04: ", ""), True),
                ("a refusal on another page", refused.replace("<!-- refused -->\n", ""), True)):
            page.write_text(right + more)
            if bool(check(root)) != faulty:
                missed.append(f"{name} {'goes unnoticed' if faulty else 'is refused'}")
        page.write_text(right)
        (root / "README.md").write_text("[a](docs/a.md)\n" + README_LINES * "\n")
        if not check(root):
            missed.append("a long README goes unnoticed")
        (root / "README.md").write_text("[a](docs/a.md)\n")
        page.write_text(right.replace("output: a", "output: b"))
        if not check(root):
            missed.append("an output that no run compares goes unnoticed")
        page.write_text(right.replace("```\n1\n", "```\n2\n"))
        if not outputs(root, "a", "== one\n1\n"):
            missed.append("another output goes unnoticed")
        page.write_text(right.replace("a = 1", "a = 2"))
        code(root, write=True)
        if page.read_text() != right:
            missed.append("--write does not mend a page")
        whole = right + "<!-- parts: examples/a.cpp -->\n"
        page.write_text(whole)
        if check(root):
            missed.append("a page of all parts of a file is refused")
        text = source.read_text()
        source.write_text(text.replace("  f(a);", "  // docs: b::c\n  g(a);\n  // docs: end\n  f(a);"))
        if not check(root):
            missed.append("a part that is not shown goes unnoticed")
        parts(root, write=True)
        code(root, write=True)
        if check(root) or "## `b::c`\n\n<!-- code: examples/a.cpp b::c -->\n```cpp\ng(a);\n" not in page.read_text():
            missed.append("--write does not add a section")
        source.write_text(text)
    return missed


def run(command, folder=None):
    done = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=False, cwd=folder)
    return done.returncode, done.stdout


def launcher(programs):
    """That of the build in which the programs are."""
    for folder in Path(programs).resolve().parents:
        if (folder / "CMakeCache.txt").exists():
            found = re.search(r"^MPIEXEC_EXECUTABLE:\w+=(.+)$", (folder / "CMakeCache.txt").read_text(), re.M)
            return found[1] if found else "mpiexec"
    return "mpiexec"


def main():
    arguments = sys.argv[1:]
    if arguments[:1] == ["--self-test"]:
        found = self_test()
    elif arguments[:1] == ["--compare"]:
        status, printed = run(arguments[2:])
        sys.stdout.write(printed)
        sys.stdout.flush()
        if status != 0:
            sys.exit(status)
        found = outputs(HERE, arguments[1], printed)
    elif arguments[:1] == ["--write"]:
        parts(HERE, write=True)
        code(HERE, write=True)
        found = code(HERE)
        for name in arguments[2:] or (sorted(shown(HERE)) if len(arguments) > 1 else []):
            head = (HERE / "examples" / f"{name}.cpp").read_text()
            ranks = re.search(r"^// RANKS: .*?(\d+)$", head, re.M)
            program = Path(arguments[1]).resolve() / name
            with tempfile.TemporaryDirectory() as folder:  # some write files where they run
                command = [launcher(arguments[1]), "-n", ranks[1] if ranks else "4", str(program)]
                status, printed = run(command, folder)
            if status == 0:
                outputs(HERE, name, printed, write=True)
            else:
                found.append(f"{name} failed")
    else:
        found = check(Path(arguments[0]) if arguments else HERE)
    for line in found:
        print(line, file=sys.stderr)
    sys.exit(1 if found else 0)


if __name__ == "__main__":
    main()
