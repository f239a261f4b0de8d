#!/usr/bin/env python3
"""Writes the pages of the site, and its navigation, from README.md, CONTRIBUTING.md, CHANGELOG.md and docs/.

- The navigation is the table "Read on" of README.md. A page that it does not name goes below the one whose name begins
  its own (linalg_cyclic.md below linalg.md), a page of a folder below the folder's README.md; a page with
  neither is an error.
- A file that pages name, `examples/gpt.cpp` or `nn/nn.hpp`, becomes a page with its source, and the name a link to
  it. So does every example. A folder's name stays text.
- A code, C04, becomes a link to its section of docs/errors.md.
- docs/reference.md becomes a page for each of its sections (`## `) and one with what stands before them. Each function
  of its tables has a page of its own, and so have the types of three namespaces (functions.py).
- Above a block that is a part of an example, or its output, stands a link to the example.

usage: pages.py ROOT CONFIGURATION OUT: OUT/docs and OUT/mkdocs.yml
"""
import json
import os
import re
import shutil
import sys
from pathlib import Path

from functions import Functions
from slug import github

LANGUAGES = {".cpp": "cpp", ".hpp": "cpp", ".ipp": "cpp", ".h": "cpp", ".py": "python", ".cmake": "cmake",
             ".yml": "yaml", ".json": "json"}
TOP = {"README.md": "index.md", "CONTRIBUTING.md": "contributing.md", "CHANGELOG.md": "changelog.md",
       "docs/README.md": "contents.md"}
EXAMPLES = "examples.md"
REFERENCE = "docs/reference.md"
# Ranks of the search: what a word means comes before the message that names it, and that before the log of changes.
BOOST = {REFERENCE: 4, "docs/errors.md": 0.5, "CHANGELOG.md": 0.2}

FENCE = re.compile(r"^(```|~~~).*?^\1[ \t]*$", re.M | re.S)
MARK = re.compile(r"^<!--.*?-->[ \t]*\n", re.M | re.S)
TOKEN = re.compile(
    r"(?P<heading>^#{1,6} [^\n]*)"
    r"|(?P<define>^\[[^\]\n]+\]:[^\n]*)"
    r"|(?P<code>(?P<ticks>`+)(?:(?!\n\n).)+?(?P=ticks)(?!`))"
    r"|(?P<link>!?\[(?:`[^`]*`|[^\[\]`])*\]\([^)\s]+\))"
    r"|(?P<reference>\[[A-Z]+\d+\])"
    r"|(?P<word>\b[A-Z]{1,2}\d{1,2}\b)", re.M | re.S)


class Site:
    def __init__(self, root, out):
        self.root = root
        self.out = out
        self.errors = []
        self.sources = set()
        self.pages = {}  # file of the repository -> page of the site
        docs = sorted(str(f.relative_to(root)) for f in (root / "docs").rglob("*.md"))
        for name in ["README.md", "CONTRIBUTING.md", "CHANGELOG.md", *docs]:
            self.pages[name] = TOP.get(name, name.removeprefix("docs/").replace("README.md", "index.md"))
        text = FENCE.sub("", (root / "docs/errors.md").read_text())
        self.sections = []  # of the reference: heading, page, text
        self.section_of = {}  # anchor of the reference -> page
        self.split_reference()
        self.codes = {m[1]: github(m[0].lstrip("# ").rstrip()) for m in re.finditer(r"^#+ ([A-Z]+\d+):.*$", text, re.M)}
        self.functions = Functions(self)

    def split_reference(self):
        if not (self.root / REFERENCE).exists():
            return
        text = (self.root / REFERENCE).read_text()
        self.definitions = "\n".join(re.findall(r"^\[[^\]\n]+\]: .*$", text, re.M))
        text = re.sub(r"^\[[^\]\n]+\]: .*\n?", "", text, flags=re.M)
        starts = [m.start() for m in re.finditer(r"^## ", FENCE.sub(lambda m: re.sub(r"\S", "x", m[0]), text), re.M)]
        self.front = text[:starts[0]]
        for start, end in zip(starts, [*starts[1:], len(text)]):
            part = text[start:end]
            heading = part.partition("\n")[0].lstrip("# ")
            page = f"reference/{github(heading)}.md"
            self.sections.append((heading, page, part))
            for one in re.findall(r"^#+ +(.*)$", FENCE.sub("", part), re.M):
                self.section_of[github(one)] = page

    def reference(self):
        """The sections of the reference, each a page with headings one level higher."""
        front = self.pages[REFERENCE]
        self.page_of(REFERENCE, front, self.front + self.definitions + "\n")
        for heading, page, part in self.sections:
            part = FENCE.sub(lambda m: m[0].replace("\n#", "\n\0#"), part)
            part = re.sub(r"^##(#*) ", r"#\1 ", part, flags=re.M).replace("\n\0#", "\n#")
            part = re.sub(r"(?<=\n\n)\| call \|.*\n(?:\|.*\n)+", self.with_names, part)
            self.page_of(REFERENCE, page, part + "\n" + self.definitions + "\n")

    anchor = staticmethod(github)

    def with_names(self, table):
        """A table of calls below a heading of their names; each call leads to its page."""
        names = []
        for row in table[0].splitlines()[2:]:
            for call in re.findall(r"`([^`]+)`", re.split(r"(?<!\\)\|", row)[1]):
                name = re.match(r"(?:\w+::)?[a-z]\w+", call)
                if name and name[0] not in names:
                    names.append(name[0])
        head, line, *rows = table[0].splitlines()
        text = "\n".join([head, line, *map(self.functions.linked, rows)]) + "\n"
        return f"## {', '.join(f'`{n}`' for n in names)}\n\n{text}" if names else text

    def write(self, page, text):
        path = self.out / page
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)

    def source(self, name):
        """The page of a file's source."""
        self.sources.add(name)
        return f"source/{name}.md"

    def named(self, text):
        """The file of the repository that a page's words name, or nothing."""
        text = text.strip("<>")
        if not re.fullmatch(r"(?!build/)[\w.\-/]+", text) or ("/" not in text and text not in self.pages):
            return None
        for folder in ("", "include", "include/shardtype", "docs"):
            path = (self.root / folder / text).resolve()
            if path.is_relative_to(self.root) and path.is_file():
                return str(path.relative_to(self.root))
        return None

    def target(self, name, page):
        """From a page of the site to the page of a file."""
        if name in self.pages:
            to = self.pages[name]
        elif name.endswith((".svg", ".png")):
            to = name.removeprefix("docs/")
        else:
            to = self.source(name)
        return os.path.relpath(to, os.path.dirname(page) or ".")

    def mark(self, mark, page, last):
        """The line above a block that is a part of an example, or its output, and the example's name."""
        m = re.match(r"<!-- (code|output): (\S+)(?: ([\w:-]+))? -->", mark)
        if not m:
            return "\n", last
        name = m[2] if m[1] == "code" else f"examples/{m[2]}.cpp"
        # It is HTML, whose links nobody rewrites.
        to = re.sub(r"\.md$", ".html", self.target(name, page))
        if m[1] == "code" and m[3]:
            before = (self.root / name).read_text().partition(f"// docs: {m[3]}\n")[0]
            line = before.count("\n") + 2
            link = f'<a href="{to}#__codelineno-0-{line}">{name}, line {line}</a>'
        else:
            link = f'<a href="{to}">{name}</a>'
        said = link if m[1] == "code" else "output" if name == last else f"output of {link}"
        return f'\n<p class="of" data-search-exclude>{said}</p>\n\n', name

    def prose(self, text, file, page):
        def token(m):
            kind = m.lastgroup if m.lastgroup != "ticks" else "code"
            if kind == "code":
                inside = m[0].strip("`")
                name = self.named(inside.partition(" ")[0] if inside.startswith("scripts/") else inside)
                if inside.rstrip("/") == "examples":
                    return f"[{m[0]}]({os.path.relpath(EXAMPLES, os.path.dirname(page) or '.')})"
                if name and name != file:
                    return f"[{m[0]}]({self.target(name, page)})"
                # In a table GitHub wants | escaped, and this parser does not.
                row = m.string[m.string.rfind("\n", 0, m.start()) + 1:].startswith("|")
                return m[0].replace("\\|", "|") if row else m[0]
            if kind == "word" and m[0] in self.codes:
                return f"[{m[0]}]({self.target('docs/errors.md', page)}#{self.codes[m[0]]})"
            if kind in ("link", "define"):
                return re.sub(r"(\]\(|\]: *)([^)\s]+)", lambda t: t[1] + self.link(t[2], file, page), m[0])
            return m[0]

        return TOKEN.sub(token, text)

    def link(self, target, file, page):
        if target.startswith("function:"):
            return self.functions.target(target.removeprefix("function:"), page)
        here = page == self.pages.get(file, page) and file != REFERENCE
        if re.match(r"[a-z]+:", target) or (target.startswith("#") and here):
            return target
        path, _, anchor = target.partition("#")
        path = path or os.path.basename(file)
        to = ((self.root / file).parent / path).resolve()
        if not to.is_relative_to(self.root) or not to.exists():
            self.errors.append(f"{file}: no file {target}")
            return target
        name = str(to.relative_to(self.root))
        if to.is_dir():
            if name != "examples":
                self.errors.append(f"{file}: {target} is a folder without a page")
            return os.path.relpath(EXAMPLES, os.path.dirname(page) or ".")
        if name == REFERENCE and anchor in self.section_of:
            to = self.section_of[anchor]
            same = to == page
            top = anchor == github(next(h for h, p, _ in self.sections if p == to))
            return ("" if same else os.path.relpath(to, os.path.dirname(page) or ".")) + \
                ("" if top and not same else f"#{anchor}")
        return self.target(name, page) + (f"#{anchor}" if anchor else "")

    def page(self, file):
        if file == REFERENCE:
            self.reference()
        else:
            self.page_of(file, self.pages[file], (self.root / file).read_text())

    def page_of(self, file, page, text):
        titles = len(re.findall(r"^# ", FENCE.sub("", text), re.M))
        out, at = [], 0
        for m in FENCE.finditer(text):
            out += [("prose", text[at:m.start()]), ("fence", m[0])]
            at = m.end()
        out.append(("prose", text[at:]))
        done, example = [], ""
        for kind, piece in out:
            if kind == "prose":
                parts = MARK.split(piece)
                found = MARK.findall(piece)
                piece = self.prose(parts[0], file, page)
                for mark, after in zip(found, parts[1:]):
                    line, example = self.mark(mark, page, example)
                    piece += line + self.prose(after, file, page)
                # A list may follow a paragraph at once, for GitHub.
                piece = re.sub(r"^(?!\||[-*] |\d+\. |\s)(.+\n)(?=(?:[-*]|1\.) )", r"\1\n", piece, flags=re.M)
                # The table of contents lists what is below a page's one title.
                if titles > 1:
                    piece = re.sub(r"^#", "##", piece, flags=re.M)
                    if not done:
                        piece = piece.replace("##", "#", 1)
            else:
                piece = "\n" + re.sub(r"\A(```|~~~)[ \t]*\n", r"\1text\n", piece) + "\n"
            done.append(piece)
        head = f"---\nsearch:\n  boost: {BOOST[file]}\n---\n\n" if file in BOOST else ""
        if re.search(r"^<!-- parts: ", text, re.M):  # the pages of functions have the same
            head = "---\nsearch:\n  exclude: true\n---\n\n"
        self.write(page, head + "".join(done))

    def source_page(self, name):
        path = self.root / name
        text = path.read_text()
        first = text.partition("\n")[0]
        language = LANGUAGES.get(path.suffix, "")
        if path.name == "CMakeLists.txt":
            language = "cmake"
        elif first.startswith("#!"):
            language = "python" if "python" in first else "bash"
        fence = "`" * (max([2, *map(len, re.findall(r"`+", text))]) + 1)
        self.write(f"source/{name}.md", f"---\ntitle: {path.name}\nsearch:\n  exclude: true\n---\n\n# {name}\n\n"
                   f'{fence} {{.{language or "text"} linenums="1"}}\n{text.rstrip()}\n{fence}\n')

    def examples(self):
        rows = ["# Examples", "", "| program | what it shows |", "|---|---|"]
        for path in sorted((self.root / "examples").glob("*.cpp")):
            words = []
            for line in path.read_text().splitlines():
                if not line.startswith("// ") or re.match(r"// [A-Z]+: ", line):
                    break
                words.append(line[3:])
            name = f"examples/{path.name}"
            said = re.sub(r"[\\|*_\[\]]", r"\\\g<0>", " ".join(words)).replace("<", "&lt;")
            said = re.sub(r"\b(?:docs|scripts|tests)/[\w./\\]*\w", lambda m: "`" + m[0].replace("\\", "") + "`", said)
            said = self.prose(said, name, EXAMPLES)
            rows.append(f"| [{path.stem}]({self.source(name)}) | {said} |")
        self.write(EXAMPLES, "\n".join(rows) + "\n")

    def title(self, name):
        found = re.search(r"^# +(.*)$", (self.root / name).read_text(), re.M)
        if not found:
            self.errors.append(f"{name} has no title")
        return found[1].replace("`", "") if found else name

    def below(self, name):
        """The pages that stand below another."""
        start = name.removesuffix("README.md") if name.endswith("/README.md") else name.removesuffix(".md") + "_"
        return sorted(n for n in self.pages if n.startswith(start) and n != name)

    def entry(self, text, name):
        label = self.title(name) if text.endswith(".md") else text[:1].upper() + text[1:]
        below = [{self.title(n): self.pages[n]} for n in self.below(name)]
        if name == REFERENCE:
            below = [{"Functions from A to Z": "function/index.md"}, {"Types": "type/index.md"},
                     *({heading: page} for heading, page, _ in self.sections)]
            return {label: [self.pages[name], *below]}
        if not below:
            return {label: self.pages[name]}
        # A folder's README.md is the page of its entry; another page is the first below its own.
        return {label: [self.pages[name] if name.endswith("/README.md") else {label: self.pages[name]}, *below]}

    def navigation(self):
        readme = (self.root / "README.md").read_text()
        index = "docs/README.md"
        seen = {"README.md", "CHANGELOG.md", index}
        parts = {}
        for row in re.findall(r"^\|.*\|$", readme.partition("\n## Read on\n")[2].partition("\n## ")[0], re.M):
            part = row.split("|")[1].strip()
            links = re.findall(r"\[([^\]]+)\]\(([^)#]+\.md)\)", row)
            named = [(text, name) for text, name in links if name in self.pages]
            if named and index not in dict(named).values():
                parts[part[:1].upper() + part[1:]] = [self.entry(*n) for n in named]
                seen |= {n for _, name in named for n in (name, *self.below(name))}
        if not parts:
            self.errors.append("README.md has no table below Read on")
            return []
        parts[next(iter(parts))].append({"Examples": EXAMPLES})
        parts[list(parts)[-1]].append({"Changes": self.pages["CHANGELOG.md"]})
        for name in sorted(set(self.pages) - seen):
            self.errors.append(f"{name} has no place: README.md, Read on, names neither it nor a page above it")
        front = {"shardtype": ["index.md", {"What do you want to do?": self.pages[index]}]}
        return [front, *({part: entries} for part, entries in parts.items())]


def main():
    root, configuration, out = (Path(a).resolve() for a in sys.argv[1:])
    shutil.rmtree(out, ignore_errors=True)
    site = Site(root, out / "docs")
    for file in site.pages:
        site.page(file)
    site.examples()
    site.functions.write()
    for name in sorted(site.sources):
        site.source_page(name)
    for picture in [*(root / "docs").rglob("*.svg"), *(root / "docs").rglob("*.png")]:
        to = site.out / picture.relative_to(root / "docs")
        to.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(picture, to)
    (site.out / "assets").mkdir()
    for name in ("site.css", "iframe-worker.js"):
        shutil.copy(configuration.parent / name, site.out / "assets" / name)
    settings = {"INHERIT": str(configuration), "docs_dir": str(site.out), "nav": site.navigation(),
                "hooks": [str(configuration.parent / "breaks.py")]}
    (out / "mkdocs.yml").write_text("".join(f"{k}: {json.dumps(v)}\n" for k, v in settings.items()))
    for error in site.errors:
        print(f"site: {error}", file=sys.stderr)
    sys.exit(1 if site.errors else 0)


if __name__ == "__main__":
    main()
