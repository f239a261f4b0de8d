"""A page for each public function, and a page of the types of `nn`, `train` and `checkpoint`.

- A function is one that a row of a table names in its first column (`call`, `operation`, `function` or `loss`). Its page has the
  docstring and the signatures of the header, the rows of all tables that name it, an example, and the sections of
  docs/errors.md that its rows and its docstring name.
- The example is the part of an examples/by_example_*.cpp that has its name, with its output and the declarations of the
  names in it. A function without such a part has the shortest program of the pages that calls it, rather one whose output
  the page shows. These are parts of compiled programs, and outputs are those of runs (scripts/snippets.py). Every function
  has an example with its output, but for WITHOUT_OUTPUT (scripts/check_docs.py).
- A type's table of members comes from its header and from the table of the reference, if it has one there.
"""
import os
import re

from headers import Headers

REFERENCE, ERRORS = "docs/reference.md", "docs/errors.md"
# Pages with tables of calls; the namespaces of names without one.
TABLES = {REFERENCE: ("",), "docs/nn.md": ("nn",), "docs/experts.md": ("nn",), "docs/block.md": ("nn",),
          "docs/training.md": ("checkpoint", "train"), "docs/linalg.md": ("linalg",),
          "docs/linalg_cyclic.md": ("linalg",), "docs/random.md": ("",), "docs/manual.md": ("",)}
PROGRAMS = ("examples", "tests/programs", "tests/mpi", "tests/unit", "tests/static")
TYPES = ("nn", "train", "checkpoint")
BY_EXAMPLE = "examples/by_example_"  # programs of which each part is the example of the function that it names
# Functions without an example that has an output, and why.
WITHOUT_OUTPUT = {}
BASE, FACTOR = 24, 4  # of pages of functions in the search
CELLS = re.compile(r"(?<!\\)\|")
BLOCK = re.compile(r"^(?:<!-- (\w+): ?([^\n]*?) ?-->\n)?```cpp\n(.*?)^```$", re.M | re.S)
OUTPUT = re.compile(r"((?:(?!#|```|<!--).*\n)*)<!-- output: (\S+).*-->\n(```\n(?:(?!```).*\n)*```)", re.M)
CALL = re.compile(r"(?<![\w:.>\"])(?:((?:\w+::)*\w+)::)?([a-z]\w*)(?=[<(])")


def cells(row):
    return [one.strip() for one in CELLS.split(row.strip())[1:-1]]


def qualified(key):
    return "::".join(one for one in key if one)


class Example:
    def __init__(self, file, kind, named, code, output):
        self.file, self.kind, self.code, self.output = file, kind, code, output
        self.named = named.split() if kind == "code" else []
        # The function whose example it is.
        self.of = self.named[1] if self.named[:1] and self.named[0].startswith(BY_EXAMPLE) else None
        if self.named[:1] and output and os.path.basename(self.named[0]) != f"{output[0]}.cpp":
            self.output = None
        # Short, of few calls; one with its output, or of a program that runs, may be longer.
        runs = self.named[:1] and self.named[0].startswith("examples/")
        self.rank = code.count("\n") + 3 * len(calls(code)) - (6 if self.output else 3 if runs else 0) - (999 if self.of else 0)


class Functions:
    def __init__(self, site):
        self.site, self.root = site, site.root
        self.headers = Headers(self.root)
        self.rows = {}  # function -> (file, head of the table, row)
        for file, spaces in TABLES.items():
            if (self.root / file).exists():
                self.read_tables(file, spaces)
        self.examples = {}  # function -> examples, the best first
        self.pages_of = {}  # function -> pages whose programs call it
        for file in [f for f in site.pages if f != ERRORS]:
            for one in self.blocks(file):
                for key in calls(one.code) & set(self.rows):
                    if one.of and one.of != qualified(key):
                        continue
                    self.examples.setdefault(key, []).append(one)
                    if not one.of:
                        self.pages_of.setdefault(key, []).append(file)
        self.programs = {}  # function -> lines of examples/
        self.statements = {}  # function -> rank, file, line and text of a statement
        for number, folder in enumerate(PROGRAMS):
            for path in sorted((self.root / folder).glob("*.cpp")):
                self.read_program(number, f"{folder}/{path.name}", path.read_text())
        self.titles = dict(re.findall(r"^#+ ([A-Z]+\d+): (.*)$", (self.root / ERRORS).read_text(), re.M))

    def read_tables(self, file, spaces):
        section = ""
        lines = self.root.joinpath(file).read_text().splitlines()
        for k, line in enumerate(lines):
            if line.startswith("## "):
                section = line[3:]
            if not (line.startswith("|") and cells(line)[:1] in (["call"], ["operation"], ["function"], ["loss"])) \
                    or section == "Collective calls":
                continue
            for row in lines[k + 2:]:
                if not row.startswith("|"):
                    break
                for key in dict.fromkeys(self.keys_of(cells(row)[0], spaces, file == REFERENCE)):
                    if not any(cell.startswith("none: names of others") or cell.startswith("none: three parts")
                               for cell in cells(row)):
                        self.rows.setdefault(key, []).append((file, section, line, row))

    def keys_of(self, cell, spaces, all_are):
        for code in re.findall(r"`([^`]+)`", cell):
            found = re.match(r"(?:((?:\w+::)*\w+)::)?([a-z]\w*)(?=[<(]|$)", code)
            if not found or (found[1] or "") not in (*(s for s, _ in self.headers.functions), "jax"):
                continue
            tried = (found[1],) if found[1] else (*spaces, "")
            known = [(s, found[2]) for s in tried if (s, found[2]) in self.headers.functions]
            if known:
                yield known[0]
            elif all_are and re.match(r"(?:\w+::)*\w+[<(]", code):
                yield (found[1] or "", found[2])

    def blocks(self, file):
        text = (self.root / file).read_text()
        for m in BLOCK.finditer(text):
            if m[1] in ("code", "given"):
                output = OUTPUT.match(text, m.end() + 1) if m[1] == "code" else None
                yield Example(file, m[1], m[2], m[3], output and (output[2], output[3]))

    def without_example(self):
        """What lacks an example with its output, or a place among those without."""
        found = [f"{qualified(k)} has no example with its output: write a part of {BY_EXAMPLE}*.cpp (CONTRIBUTING.md)"
                 for k in self.rows if qualified(k) not in WITHOUT_OUTPUT
                 and not any(one.output for one in self.examples.get(k, ()))]
        known = {qualified(k) for k in self.rows}
        for path in sorted((self.root / "examples").glob(os.path.basename(BY_EXAMPLE) + "*.cpp")):
            for name in re.findall(r"^ *// docs: (\S+)$", path.read_text(), re.M):
                key = next((k for k in self.rows if qualified(k) == name), None)
                if name not in ("names", "mesh", "end") and not (key and any(one.of for one in self.examples.get(key, ()))):
                    found.append(f"{path.name}: part {name} calls no function of this name that a table has")
        return found + [f"WITHOUT_OUTPUT: {name} is no function of a table, or has an example" for name in WITHOUT_OUTPUT
                        if name not in known or any(one.output for k in self.rows if qualified(k) == name
                                                    for one in self.examples.get(k, ()))]

    def read_program(self, number, file, text):
        first = set()
        for line, statement in statements(text):
            for key in calls(statement) & set(self.rows):
                if number == 0 and key not in first and not file.startswith(BY_EXAMPLE):
                    self.programs.setdefault(key, []).append((file, line))
                    first.add(key)
                rank = (number, "CHECK" in statement or "static_assert" in statement, len(statement))
                if statement.count("\n") < 8 and rank < self.statements.get(key, ((9,),))[0]:
                    self.statements[key] = (rank, file, line, statement)

    def page_of(self, key):
        return f"function/{'/'.join(one for one in key if one)}.md"

    def call_of(self, key):
        """How it is called, as its first row has it."""
        for file, _, _, row in self.rows[key]:
            for code in re.findall(r"`([^`]+)`", cells(row)[0]):
                m = re.match(r"(?:\w+::)*(\w+)[<(]", code)
                if m and m[1] == key[1] and balanced(code):
                    return f"{key[0]}::{code}" if key[0] and not code.startswith(key[0]) else code
        return qualified(key) + "(...)"

    def linked(self, row):
        """A row of the reference whose calls lead to their pages."""
        first, rest = CELLS.split(row, 2)[1:]

        def link(m):
            key = next(iter(self.keys_of(m[0], ("",), True)), None)
            return f"[{m[0]}](function:{qualified(key)})" if key in self.rows else m[0]

        return f"|{re.sub(r'`[^`]+`', link, first)}|{rest}"

    def target(self, name, page):
        *space, last = name.split("::")
        return os.path.relpath(self.page_of(("::".join(space), last)), os.path.dirname(page) or ".")

    def line(self, file, line, page):
        """A link to a line of a source; HTML, because the generator does not know the lines."""
        to = re.sub(r"\.md$", ".html", self.site.target(file, page))
        return f'<a href="{to}#__codelineno-0-{line}">{file.removeprefix("include/")}, line {line}</a>'

    def write(self):
        self.boost = self.boosts()
        for key in self.rows:
            self.site.write(self.page_of(key), self.function(key))
        self.site.write("function/index.md", self.index())
        self.site.write("type/index.md", self.types())
        print(f"site: {len(self.rows)} functions")
        self.site.errors += self.without_example()

    def documented(self, text, page):
        """A docstring as Markdown."""
        parts = re.split(r"((?:^    .*\n?|^\n(?=    ))+)", text + "\n", flags=re.M)
        out = []
        for k, part in enumerate(parts):
            if k % 2 and part.strip():
                out.append("\n```cpp\n" + re.sub(r"^    ", "", part, flags=re.M).strip("\n") + "\n```\n")
            else:
                part = re.sub(r"(`[^`]*`)|([<*|_])", lambda m: m[1] or ("&lt;" if m[2] == "<" else "\\" + m[2]), part)
                out.append(self.site.prose(part, REFERENCE, page))
        return "".join(out)

    def boosts(self):
        """The search also finds names that begin with what is asked, and calls with an argument of that name: `sin` comes
        before `sinh`, `planned` before `explain_choices(planned)`."""
        words = {k: set(re.findall(r"\w+", self.call_of(k).lower())) | {k[1]} for k in self.rows}
        before = {k: [o for o in self.rows if o[1] != k[1] and any(w.startswith(k[1]) for w in words[o])]
                  for k in self.rows}
        out = {k: BASE / 2 if k[0] == "jax" else BASE for k in self.rows}
        for _ in range(6):
            for k in self.rows:
                out[k] = max([out[k], *(FACTOR * out[o] for o in before[k] if k not in before[o])])
        return out

    def function(self, key):
        page, known = self.page_of(key), self.headers.functions.get(key)
        out = [f"---\nsearch:\n  boost: {self.boost[key]:g}\n---\n\n# `{self.call_of(key)}`\n"]
        if known and known.texts:
            out.append("\n\n".join(self.documented(t, page) for t in known.texts))
        out.append(self.tables(key, page))
        examples = sorted(self.examples.get(key, ()), key=lambda one: one.rank)
        if examples:
            out.append(self.example(examples[0], page))
        elif key in self.statements:
            _, file, line, code = self.statements[key]
            out.append(f"## Example\n\nFrom {self.line(file, line, page)}:\n\n```cpp\n{code}\n```\n")
        if known:
            where = self.line(known.header, known.line, page)
            signatures = "\n".join(dict.fromkeys(known.signatures))
            out.append(f"## Declaration\n\nIn {where}" + (f":\n\n```cpp\n{signatures}\n```\n" if signatures else ".\n"))
        out.append(self.errors(key, known, page))
        out.append(self.others(key, page))
        return "\n".join(one for one in out if one)

    def tables(self, key, page):
        groups = {}
        for file, section, head, row in self.rows[key]:
            groups.setdefault((file, section, head), []).append(row)
        out = ["## Forms\n"]
        for (file, section, head), rows in groups.items():
            text = "\n".join([head, re.sub(r"[^|]+", "---", head), *rows]) + "\n"
            text = self.site.prose(re.sub(r"\[([A-Z]+\d+)\]", r"\1", text), file, page)
            out.append(f"{text}\nFrom [{section or 'its page'}]({self.section(file, section, page)}).\n")
        return "\n".join(out)

    def section(self, file, section, page):
        anchor = "#" + self.site.anchor(section) if section else ""
        return self.site.link(f"../{file}{anchor}", "docs/reference.md", page)

    def example(self, one, page):
        where = self.site.title(one.file)
        out = [f"## Example\n\nFrom [{where}]({self.site.target(one.file, page)}):\n"] if one.file != REFERENCE else \
            ["## Example\n\nFrom the reference:\n"]
        if one.named:
            mark = f"<!-- code: {' '.join(one.named)} -->"
            out.append(self.site.mark(mark, page, "")[0])
        out.append(f"```cpp\n{one.code}```\n")
        if one.output:
            out.append('<p class="of" data-search-exclude>output</p>\n\n' + one.output[1].replace("```\n", "```text\n", 1)
                       + "\n")
        if one.of:
            out.append(self.names(one))
        return "\n".join(out)

    def names(self, one):
        """The declarations of the names in an example."""
        text = (self.root / one.named[0]).read_text()
        names = re.search(r"^ *// docs: names\n(.*?)^ *// docs: end$", text, re.M | re.S)[1]
        declarations = list(declarations_in(names))
        has_mesh = re.search(r"\bmesh\b", one.code) is not None
        kept, used = set(), one.code + (" X" if has_mesh else "")
        for _ in declarations:  # they use names before them
            for text in declarations:
                name = re.search(r"^(?:struct|using|constexpr \w+) (\w+)", text, re.M)[1]
                if text not in kept and re.search(rf"\b{name}\b", used):
                    kept.add(text)
                    used += text
        shown = [text for text in declarations if text in kept]
        if has_mesh:
            shown.append("Mesh<X> const mesh(env.world());  // on two ranks; Environment const env(argc, argv);\n")
        said = ["With these names:\n\n```cpp\n" + "".join(shown) + "```\n"] if shown else []
        if re.search(r"\bsay\(", one.code):
            said.append("`say` prints a line on the first rank.\n")
        return "\n".join(said)

    def errors(self, key, known, page):
        text = "\n".join([*(row for _, _, _, row in self.rows[key]), *(known.texts if known else ())])
        codes = []
        for m in re.finditer(r"\[?\b([A-Z]{1,2}\d{1,2})\b\]?(?: to \[?([A-Z]{1,2}\d{1,2})\b)?", text):
            last = re.fullmatch(r"([A-Z]+)(\d+)", m[2] or m[1])
            first = re.fullmatch(r"([A-Z]+)(\d+)", m[1])
            codes += [f"{first[1]}{n:0{len(first[2])}}" for n in range(int(first[2]), int(last[2]) + 1)]
        rows = [f"| {code} | {self.titles[code]} |" for code in sorted(set(codes)) if code in self.titles]
        if not rows:
            return ""
        return "## Refusals and errors\n\n" + self.site.prose(
            "\n".join(["| code | what |", "|---|---|", *rows]), REFERENCE, page) + "\n"

    def others(self, key, page):
        files = [f for f in dict.fromkeys(self.pages_of.get(key, ())) if f != REFERENCE][:6]
        said = [f"[{self.site.title(f)}]({self.site.target(f, page)})" for f in files]
        ran = [self.line(name, line, page) for name, line in self.programs.get(key, ())[:6]]
        lines = (["Pages whose programs call it: " + ", ".join(said) + ".\n"] if said else []) + \
                (["Programs: " + ", ".join(ran) + ".\n"] if ran else [])
        return "## Used by\n\n" + "\n".join(lines) if lines else ""

    def index(self):
        rows = ["---\nsearch:\n  exclude: true\n---\n", "# Functions from A to Z\n", "| call | what it does |", "|---|---|"]
        for key in sorted(self.rows, key=lambda k: (k[1], k[0])):
            known = self.headers.functions.get(key)
            text = known.texts[0] if known and known.texts else ""
            first = re.match(r"(.*?[.:;])(?:\s|$)", " ".join(text.split()))
            said = self.documented(first[1], "function/index.md").strip() if first else ""
            said = re.sub(r"[:;]$", ".", said).replace("\\|", "|").replace("|", "\\|") if "`" not in said or "|" not in said else ""
            rows.append(f"| [`{self.call_of(key)}`]({self.target(qualified(key), 'function/index.md')}) | {said} |")
        return "\n".join(rows) + "\n"

    def types(self):
        """The types of `nn`, `train` and `checkpoint` of which pages speak."""
        page = "type/index.md"
        text = {f: (self.root / f).read_text() for f in TABLES if (self.root / f).exists()}
        out = ["---\nsearch:\n  boost: 8\n---\n", "# Types of nn, train and checkpoint\n",
               "The structs that functions of these namespaces take and give, with their members.\n"]
        for space in TYPES:
            out.append(f"## {space}\n")
            for (of, name), one in sorted(self.headers.types.items()):
                written = f"{space}::{name}"
                own = "".join(t for f, t in text.items() if space in TABLES[f])
                if of != space or not (any(re.search(rf"\b{written}\b", t) for t in text.values())
                                       or re.search(rf"`{name}\b", own)):
                    continue
                out.append(f"### {written}\n\n{self.documented(one.text, page)}\n"
                           f"In {self.line(one.header, one.line, page)}.\n")
                rows = self.members(written, one)
                if rows:
                    out.append(self.site.prose("\n".join(["| member | meaning |", "|---|---|", *rows]), REFERENCE, page)
                               + "\n")
        return "\n".join(out) + "\n" + self.site.prose(self.site.definitions, REFERENCE, page) + "\n"

    def members(self, written, one):
        found = re.search(rf"^### (?:Members of|Asked of) `{written}`\n(.*?)(?=^#|\Z)",
                          (self.root / REFERENCE).read_text(), re.M | re.S)
        listed = [cells(row) for row in re.findall(r"^\| (?!member|--).*\|$", found[1], re.M)] if found else []
        rows, used = [], set()
        for declaration, meaning in one.members:
            names = declared(declaration)
            row = next((k for k, (code, *_) in enumerate(listed)
                        if any(re.search(rf"(?:\.|::){n}\b", code) for n in names)), None)
            if row is not None and not meaning:
                meaning = listed[row][1]
            if row is not None:
                used.add(row)
            if not meaning and (shape := re.search(rf"\b{names[0]}\b(?: and \w+|,? of type `\w+`,?)* (`\[[^`]*\]`)",
                                                   " ".join(one.text.split()))):
                meaning = shape[1]
            code = re.sub(r"\s+", " ", declaration).replace("|", "\\|")
            rows.append(f"| `{code}` | {meaning if row is not None and meaning == listed[row][1] else escaped(meaning)} |")
        return rows + [f"| {' | '.join(row)} |" for k, row in enumerate(listed) if k not in used]


def escaped(text):
    return re.sub(r"(`[^`]*`)|([<|])", lambda m: m[1] or ("&lt;" if m[2] == "<" else "\\|"), text)


def declared(declaration):
    """The names that a declaration of members declares."""
    if m := re.search(r"[\w>&*] (\w+)\((?!.*>\s*\w+$)", declaration):
        return [m[1]]
    bare = re.sub(r"\s*(?:=|\{).*$", "", declaration)
    return [one.split()[-1] for one in re.split(r",(?![^<]*>)", bare) if one.split()]


def balanced(code):
    return code.count("(") == code.count(")") and code.endswith(")") and code.count("(") >= 1


def declarations_in(text):
    """Its declarations, of one or several lines."""
    out, depth = "", 0
    for line in text.splitlines(True):
        bare = re.sub(r"//.*", "", line).rstrip()
        out += line
        depth += bare.count("{") - bare.count("}")
        if depth == 0 and bare.endswith((";", "}")):
            yield out
            out = ""


def calls(text):
    text = re.sub(r"//.*", "", text)
    return {((m[1] or "").removeprefix("shardtype").removeprefix("::"), m[2]) for m in CALL.finditer(text)}


def statements(text):
    """Line and text of each statement, of one or several whole lines."""
    begin, depth, found = 1, 0, []
    for number, line in enumerate(text.splitlines(), 1):
        code = re.sub(r'//.*|"(?:\\.|[^"\\])*"', "", line)
        found.append(line)
        depth += code.count("(") - code.count(")")
        if not code.strip() or (depth <= 0 and re.search(r"[;{}]\s*$", code)):
            shown = [one for one in found if not one.strip().startswith("//")]
            if shown and shown[0].strip() and shown[-1].rstrip().endswith(";"):
                indent = min(len(one) - len(one.lstrip()) for one in shown)
                yield begin + len(found) - len(shown), "\n".join(one[indent:] for one in shown)
            begin, depth, found = number + 1, 0, []
