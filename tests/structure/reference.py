#!/usr/bin/env python3
"""docs/reference.md is complete, and names nothing that is not there.

An entry is a row of a table that begins with the column `call`, `name`, `member`, `variable` or `option`; what stands
in backticks in its first cell is what the row is about.

- Every name in namespace shardtype and of from_jax.hpp (clang is asked for them: engine names belong in the namespace of
  their folder, core/namespaces.hpp), and every operation with a sample (registry.py) as `op::Name` has an entry; so
  have the environment variables that the headers read and the options of CMakeLists.txt.
- Below a heading "Members of `Tensor`" stand all public members of Tensor; clang is asked for them. Below "Asked of
  `Plan`" stand some.
- Entries of what does not exist are faults, and so are `op::`, `jax::` and `SHARDTYPE_` names elsewhere in the text.
- The codes in the docstring of a public function stand in an entry of it, or in the text above its table.
- The programs of the page compile, as functions of what stands before each as `<!-- given: parameters -->`.
- Programs of tutorials compile as they are copied: in the page's frame (scripts/snippets.py). Without --all those of the
  pages that are read first.
- checking::Poisoned, which a refused operation gives, has the public members of Tensor: one that it lacked would add a
  second message to the one mistake.
- Every code of docs/errors.md is spoken of, as a link `[C01]`; the links at the end of the page are those that the
  headings of docs/errors.md ask for, and every other link leads somewhere.

usage: reference.py ROOT HEADERS FLAGS CLANG [--self-test] [--write] [--all]

HEADERS includes every header; FLAGS has lines KEY=a|b (cmake/ExpectError.cmake). --write makes the links anew.
"""
import copy
import re
import sys
from pathlib import Path

from completion import Completion, flags

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "scripts"))
import snippets  # noqa: E402

PAGE = "docs/reference.md"
ENTRIES = ("call", "name", "member", "variable", "option")

# What is there in a program of the page.
NAMES = ("using namespace shardtype;\n"
         'struct X : Axis<"X"> {}; struct I : Index<"I"> {}; struct J : Index<"J"> {}; struct K : Index<"K"> {};\n')
# What clang completes after `::` of each class; whether all members must stand on the page.
CLASSES = {
    "Tensor": ("A", True),
    "Local": ("Local<float, Dim<I>, Varying<X>>", True),
    "Mesh": ("Mesh<X>", True),
    "Pending": ("Pending<A>", True),
    "Halo": ("Halo<A, I>", True),
    "TopK": ("TopK<A, A>", True),
    "Unique": ("Unique<A, A, A>", True),
    "Environment": ("Environment", True),
    "Error": ("Error", True),
    "RandomKey": ("RandomKey", True),
    "Axis": ("X", True),
    "Index": ("I", True),
    "Machine": ("Machine", True),
    "DryRun": ("decltype(dry_run<A>([](auto a) { return evaluate<Dim<I>>(a + a); }))", True),
    "Rows": ("core::Rows", True),
    "Range": ("core::Range", True),
    "Plan": ("Plan", False),
    "ProgramPlan": ("ProgramPlan", False),
    "PlannedProgram": ("PlannedProgram", False),
    "TransferPlan": ("TransferPlan", False),
    "FunctionPlan": ("FunctionPlan<4, 4, 4, 4>", False),
    "nn::AttentionOptions": ("nn::AttentionOptions", True),
    "nn::CrossEntropy": ("nn::CrossEntropy", True),
    "nn::KeyValueCache": ("nn::KeyValueCache<A>", True),
    "nn::Routes": ("nn::Routes<A, A>", True),
    "nn::Capacity": ("nn::Capacity", True),
    "nn::Gated": ("nn::Gated<A>", True),
    "train::Initial": ("train::Initial", True),
    "train::Rate": ("train::Rate", True),
    "train::Options": ("train::Options", True),
    "train::AdamW": ("train::AdamW", False),
    "train::Stepped": ("train::Stepped", True),
    "train::State": ("train::State<A, 2>", True),
    "train::Tokens": ("train::Tokens<Mesh<X>>", True),
    "train::ArrayFile": ("train::ArrayFile<Mesh<X>>", True),
    "checkpoint::Loaded": ("checkpoint::Loaded", True),
    "checkpoint::Step": ("checkpoint::Step", True),
    "checkpoint::Extra": ("checkpoint::Extra", True),
    "checkpoint::Options": ("checkpoint::Options", True),
    "checkpoint::LoadOptions": ("checkpoint::LoadOptions", True),
    "checkpoint::FileOptions": ("checkpoint::FileOptions", True),
    "checkpoint::Saver": ("checkpoint::Saver", True),
}
# Whatever the operation; the page says so once.
EVERYWHERE = {"T01", "T02", "T03", "T04", "T05", "T06", "T07", "T08", "T09", "V01", "A04", "A06", "L01", "E01", "E23",
              "E24", "E26", "E27", "E60"}
# Members of a class that no user calls by name.
UNNAMED = re.compile(r"^(~.*|operator.*)$")
BASES = {"Axis": {"AxisBase"}, "Index": {"IndexBase"}, "Mesh": {"MeshRef"}, "Error": {"runtime_error", "exception"}}

# What an operator looks like in an entry.
OPERATORS = {f"operator{o}": rf"^\w+ {re.escape(o)} \w+$" for o in
             "+ - * / % == != < <= > >= && || & | ^ << >> += -= *= /=".split()}
OPERATORS["operator!"] = r"^!\w+$"
OPERATORS["operator~"] = r"^~\w+$"
OPERATORS |= {f'operator""_{unit}': rf"^\d+_{unit}$" for unit in ("KiB", "MiB", "GiB")}


class Library:
    """What there is: sets of names."""

    def __init__(self, pages, root, headers, flag_file, clang):
        include = root / "include/shardtype"
        tests = [root / "tests/structure/registry.cpp", *sorted((root / "tests/harness/cases").glob("*.hpp"))]
        self.operations = {name for file in tests for name in re.findall(r'\bon<"(\w+)",', file.read_text())}
        texts = [re.sub(r"//[^\n]*", "", file.read_text()) for file in sorted(include.rglob("*.[hi]pp"))]
        text = "\n".join(texts)
        self.objects = self.operations | set(re.findall(
            r"\b(?:struct|class|enum class|using|constexpr [\w:]+) (\w+)", text))
        self.docstrings = {}  # function -> codes
        for file in sorted(include.rglob("*.[hi]pp")):
            for name, codes in docstrings(file.read_text()):
                self.docstrings[name] = self.docstrings.get(name, set()) | codes
        self.variables = set(re.findall(r'\{"(SHARDTYPE_\w+)", (?:"|nullptr)', text))  # tables of runtime::Variable
        self.read = set(re.findall(r'\b(?:getenv|named_file)\(\s*"(SHARDTYPE_\w+)"', text))
        cmake = "".join(file.read_text() for file in (root / "CMakeLists.txt", *sorted(include.glob("*/family.cmake"))))
        # switches, and words that are no switches
        self.options = set(re.findall(r"^option\((SHARDTYPE_\w+)", cmake, re.M))
        self.options |= set(re.findall(r"^shardtype_choice\((SHARDTYPE_\w+)", cmake, re.M))
        self.switches = self.variables | self.options | set(re.findall(r"\bSHARDTYPE_\w+", text + cmake))
        with Names(headers, flags(flag_file), clang) as complete:
            self.members = {name: complete.members(name, written) for name, (written, _) in CLASSES.items()}
            self.members["Poisoned"] = complete.members("Poisoned", "checking::Poisoned")
            assert len(self.members["Tensor"]) >= 10, "clang completes members otherwise"
            self.names = complete.after("shardtype")
            assert {"Tensor", "matmul"} <= self.names, "clang completes shardtype:: otherwise"
            self.jax = complete.after("shardtype::jax")
            self.machines = complete.after("shardtype::machines")
            framed = [(page, program) for page, program in snippets.framed(root) if pages.search(page)]
            self.compile_errors = complete.errors_in((root / PAGE).read_text(), framed)


def docstrings(text):
    """Pairs of a function and the codes that the comment above it names."""
    comment, found = "", []
    for line in text.splitlines():
        if line.startswith("///"):
            comment += line[3:] + "\n"
            continue
        function = re.match(r"(?:constexpr |inline )*(?:auto|void|bool|std::\w+|detail::[\w:<>. ]+) (\w+)\(", line)
        if function and comment:
            found.append((function[1], codes_in(comment, r"\b{}\b")))
        if function or not re.match(r"template|\s+requires|#", line):
            comment = "" if not line.startswith(" ") else comment
    return found


def codes_in(text, written):
    """Codes as they are `written`, "C01 to C03" among them."""
    code = written.format(r"([A-Z]\d\d|IO\d)")
    found = set(re.findall(code, text))
    for first, last in re.findall(rf"{code} to {code}", text):
        found |= set(codes_between(first, last))
    return found


class Names(Completion):
    """Names of the library, and what clang says against programs."""

    def errors_in(self, text, framed):
        """What clang says against the programs of the page, and against framed ones (scripts/snippets.py), each in a
        namespace of its own: in one run, and with a planted one, which must be refused."""
        programs = re.findall(r"(?:<!-- given: ([^\n]*) -->\n)?```cpp\n(.*?)```", text, re.S)
        lines = [NAMES] + [f'#line 1 "{PAGE}"\nvoid program_{k}({given}) {{\n{program}}}\n'
                           for k, (given, program) in enumerate(programs)]
        for k, (page, program) in enumerate([*framed, ("planted", "int main() { return unknown; }\n")]):
            program = re.sub(r"^(?:#include .*|using namespace shardtype;)$", "", program, flags=re.M)
            program = program.replace("int main(", "int program(")
            lines.append(f'#line 1 "{page}"\nnamespace framed_{k} {{\n{program}}}\n')
        file = Path(self.folder.name) / "programs.cpp"
        # after the others' names: those of a frame are its own
        file.write_text("".join(lines))
        run = self.run(["-include-pch", str(self.compiled), "-fsyntax-only", str(file)])
        said = re.findall(r"^(.*?):\d+:\d+: (?:fatal )?error: (.*)", run.stderr, re.M)
        if not any(page == "planted" for page, _ in said):
            return ["a planted program is accepted"]
        return ([f"{page}: {words}" for page, words in said if page != "planted"][:3] or
                ([] if programs and framed else ["there are no programs"]))

    def after(self, namespace):
        return {name for name, _, _ in self.lines("", namespace)} - {"operator"}

    def members(self, name, written):
        before = NAMES + f"using A = Tensor<float, Dim<I, X>>;\nusing Asked = {written};\n"
        found = self.lines(before, "Asked")
        # the class and its bases have destructors and their own names
        types = {one[1:] for one, _, _ in found if one.startswith("~")} | {name} | BASES.get(name, set())
        return {one for one, how, _ in found
                if "Inaccessible" not in how and not UNNAMED.match(one) and one not in types}


class Page:
    """The entries, code links and other links of the reference."""

    def __init__(self, text):
        self.entries = []  # (column, heading, span)
        self.told = {}  # name -> the codes of its entries and of the text above them
        self.codes, self.loose, self.links, self.definitions, self.anchors = set(), set(), [], {}, set()
        column, heading, above, start, fenced = None, "", "", True, False
        for line in text.splitlines():
            if line.startswith("```"):
                fenced = not fenced
            if fenced:
                continue
            if line.startswith("#"):
                heading = line.lstrip("# ")
                self.anchors.add(anchor(heading))
                above = ""
            if not line.startswith("|"):
                column, start = None, True
                above += line + "\n"
            else:
                first = re.split(r"(?<!\\)\|", line)[1].strip()
                if start:
                    column = first if first in ENTRIES else None
                elif column:
                    for span in re.findall(r"`([^`]+)`", first):
                        self.entries.append((column, heading, span.replace("\\|", "|")))
                        self.told.setdefault(head_of(span), set()).update(codes_in(above + line, r"\[{}\]"))
                start = False
            definition = re.match(r"\[([A-Z]+\d+)\]: (\S+)$", line)
            if definition:
                self.definitions[definition[1]] = definition[2]
                continue
            plain = re.sub(r"`[^`]*`", "", line)
            self.codes |= codes_in(plain, r"\[{}\]")
            self.loose |= set(re.findall(r"\b[A-Z]{1,2}\d+\b", re.sub(r"\[[A-Z]+\d+\]|\]\([^)]*\)", "", plain)))
            self.links += re.findall(r"\]\(([^)\s]+)\)", plain)

    def members_below(self, name, start):
        """What entries below "Members of `name`" (or "Asked of") name."""
        spans = [span for _, heading, span in self.entries
                 if heading.startswith(start) and f"`{name}`" in heading]
        return [member_of(span) for span in spans]


def codes_between(first, last):
    letters = re.match(r"[A-Z]+", first)[0]
    width = len(first) - len(letters)
    return [f"{letters}{n:0{width}}" for n in range(int(first[len(letters):]), int(last[len(letters):]) + 1)]


def anchor(heading):
    """GitHub's."""
    return re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-")


def member_of(span):
    """`a.extents()`, `A::rank`, `std::move(pending).wait()`: what is asked of the object."""
    found = re.findall(r"(?:\.|\w::(?:template )?)(\w+)", re.sub(r"^std::move\(\w+\)", "a", span))
    return found[0] if found else re.match(r"\w*", span)[0]


def head_of(span):
    """What an entry is about: (namespace, name)."""
    found = re.match(r"(?:(op|jax|machines)::)?(\w+)", span)
    return (found[1], found[2]) if found else (None, "")


def faults(library, text, errors, folder_has):
    page = Page(text)
    found = []
    named = {(space, name) for column, heading, span in page.entries if column in ("call", "name")
             for space, name in [head_of(span)]}
    operators = [span for _, _, span in page.entries]

    def missing(names, space, what):
        for name in sorted(names):
            pattern = OPERATORS.get(name)
            there = any(re.match(pattern, span) for span in operators) if pattern else (space, name) in named
            if not there:
                found.append(f"{what} {name} has no entry in {PAGE}")

    missing(library.names, None, "the public name")
    missing(library.jax, "jax", "the name of from_jax.hpp")
    missing(library.operations, "op", "the operation")
    for column, names in (("variable", library.variables), ("option", library.options)):
        stand = {head_of(span)[1] for kind, _, span in page.entries if kind == column}
        found += [f"{name} has no entry in {PAGE}" for name in sorted(names - stand)]
        found += [f"{PAGE} has an entry for {name}, which nothing reads" for name in sorted(stand - names)]
    found += [f"{name} is read, and no table of variables has it" for name in sorted(library.read - library.variables)]
    for name in sorted(library.names & set(library.docstrings)):
        lacking = library.docstrings[name] - page.told.get((None, name), set()) - EVERYWHERE
        if lacking:
            found.append(f"the entry of {name} in {PAGE} lacks {', '.join(sorted(lacking))}, of its docstring")
    for name, (_, complete) in CLASSES.items():
        start = "Members of" if complete else "Asked of"
        stand = page.members_below(name, start)
        if not stand:
            found.append(f"{PAGE} has no heading '{start} `{name}`' with entries")
        # one section may be about several classes
        others = {m for other in CLASSES for heading in {h for _, h, _ in page.entries}
                  if f"`{name}`" in heading and f"`{other}`" in heading for m in library.members[other]}
        known = library.members[name] | others | {name.split("::")[-1]}
        found += [f"{PAGE}: {name} has no member {m}" for m in sorted(set(stand) - known)]
        if complete:
            found += [f"{name}'s member {m} has no entry in {PAGE}"
                      for m in sorted(library.members[name] - set(stand) - {"self"})]  # of core::Argument

    ours, theirs = library.members["Tensor"], library.members["Poisoned"]
    found += [f"Tensor::{name} is missing in Poisoned" for name in sorted(ours - theirs)]
    found += [f"Poisoned::{name} is no public member of Tensor" for name in sorted(theirs - ours)]

    spaces = {"op": library.objects, "jax": library.jax, "machines": library.machines, None: library.names}
    for column, heading, span in page.entries:
        space, name = head_of(span)
        if column not in ("call", "name") or any(re.match(p, span) for p in OPERATORS.values()):
            continue
        if re.match(r"-\w+$", span):  # the sign
            continue
        if name not in spaces[space]:
            found.append(f"{PAGE} has an entry `{span}`, and there is no {name}")
    for space, name in sorted(set(re.findall(r"\b(op|jax|machines)::(\w+)", text))):
        if name not in spaces[space]:
            found.append(f"{PAGE} speaks of {space}::{name}, which does not exist")
    for name in sorted(set(re.findall(r"\bSHARDTYPE_\w+", text)) - library.switches):
        found.append(f"{PAGE} speaks of {name}, which does not exist")

    wanted = links_of(errors)
    found += [f"{PAGE} speaks of the code {c}, which {'' if c in wanted else 'does not exist'}" for c in
              sorted(page.codes - set(wanted))]
    found += [f"no entry of {PAGE} speaks of {c}" for c in sorted(set(wanted) - page.codes)]
    if page.definitions != wanted:
        found.append(f"the links to codes at the end of {PAGE} are not those of docs/errors.md: reference.py --write")
    found += [f"{PAGE}: the code {code} stands there without its link, [{code}]"
              for code in sorted(page.loose & set(wanted))]
    found += [f"a program of a page does not compile: {said}" for said in library.compile_errors]
    for link in page.links:
        path, _, place = link.partition("#")
        if re.match(r"https?:", link):
            continue
        if path and not folder_has(path):
            found.append(f"{PAGE}: no file for the link {link}")
        if not path and place not in page.anchors:
            found.append(f"{PAGE}: no heading for the link {link}")
    return found


def links_of(errors):
    """Code -> where its section of docs/errors.md is."""
    return {heading.split(":")[0]: f"errors.md#{anchor(heading)}"
            for heading in re.findall(r"^## +([A-Z]+\d+:.*)$", errors, re.M)}


def with_links(text, errors):
    body = re.sub(r"(?m)^\[[A-Z]+\d+\]: .*\n?", "", text).rstrip() + "\n\n"
    return body + "".join(f"[{code}]: {link}\n" for code, link in links_of(errors).items())


def self_test(library, text, errors, folder_has):
    """What goes unnoticed of planted faults."""
    def added(there, more):
        return there + more if isinstance(there, list) else there | more

    def library_with(**more):
        other = copy.copy(library)
        other.__dict__ |= {key: added(getattr(library, key), value) for key, value in more.items()}
        return other

    def without_entries(pattern):
        lines = text.splitlines(keepends=True)
        kept = [line for line in lines if not re.match(r"\|[^|]*`" + pattern, line)]
        if len(kept) == len(lines):
            raise SystemExit(f"self-test: no entry begins with {pattern}")
        return "".join(kept)

    def edited(old, new):
        if old not in text:
            raise SystemExit(f"self-test: {PAGE} has no {old!r}")
        return text.replace(old, new, 1)

    rows = "| call | x |\n|---|---|\n"
    members = library.members
    planted = {
        "a function without an entry": (library, without_entries(r"roll<")),
        "an operator without an entry": (library, without_entries(r"a \+ b")),
        "a member of Tensor without an entry": (library, without_entries(r"a\.local_size")),
        "a member of train::Initial without an entry": (library, without_entries(r"Initial::uniform")),
        "a member of checkpoint::Step without an entry": (library, without_entries(r"step\.number")),
        "a member of Mesh without an entry": (library, without_entries(r"mesh\.coordinate")),
        "a name of from_jax.hpp without an entry": (library, without_entries(r"jax::psum<")),
        "an operation without an entry": (library, edited("`op::Roll`, ", "")),
        "a variable without an entry": (library, without_entries(r"SHARDTYPE_WAIT")),
        "an option without an entry": (library, without_entries(r"SHARDTYPE_BLAS")),
        "a new public name": (library_with(names={"twist"}), text),
        "a new member of Pending": (library_with(members={"Pending": members["Pending"] | {"drop"}}), text),
        "a new member of Tensor": (library_with(members={"Tensor": members["Tensor"] | {"extent_of"}}),
                                   edited("| `a.local_size()`", "| `a.extent_of()`, `a.local_size()`")),
        "a new member of Poisoned": (library_with(members={"Poisoned": members["Poisoned"] | {"drop"}}), text),
        "a program that does not compile": (library_with(compile_errors=["error"]), text),
        "a new variable": (library_with(variables={"SHARDTYPE_NEW"}), text),
        "an entry of no function": (library, text + "\n" + rows + "| `twist<I>(a)` | |\n"),
        "an entry of no object": (library, text + "\n" + rows + "| `op::Twist` | |\n"),
        "an entry of no member": (library, text + "\n## Members of `Mesh`\n\n" + rows.replace("call", "member") +
                                  "| `mesh.gone()` | |\n"),
        "an object that does not exist": (library, text + "\n`op::Twist`\n"),
        "a variable that does not exist": (library, text + "\n`SHARDTYPE_TWIST`\n"),
        "a code that does not exist": (library, text + "\n[C99]\n"),
        "a code without a link": (library, text + "\nC01\n"),
        "a refusal that its entry lacks": (library, edited("[D01], [D04], [B03]", "[D01], [B03]")),
        "a code that nobody speaks of": (library, re.sub(r"\[S05\]", "", text)),
        "a wrong link of a code": (library, edited("]: errors.md#c01-", "]: errors.md#c01x-")),
        "a link to no heading": (library, text + "\n[there](#nowhere)\n"),
        "a link to no file": (library, text + "\n[there](nowhere.md)\n"),
    }
    return [f"this goes unnoticed: {what}" for what, (there, page) in planted.items()
            if not faults(there, page, errors, folder_has)]


def main():
    arguments = [one for one in sys.argv[1:] if not one.startswith("--")]
    root = Path(arguments[0])
    page = root / PAGE
    errors = (root / "docs/errors.md").read_text()
    if "--write" in sys.argv:
        page.write_text(with_links(page.read_text(), errors))
    pages = re.compile("" if "--all" in sys.argv else r"concepts|tutorials/[124]")
    library = Library(pages, root, *arguments[1:])
    given = (library, page.read_text(), errors, lambda path: (page.parent / path).exists())
    found = faults(*given)
    if "--self-test" in sys.argv and not found:
        found = self_test(*given)
    for line in found:
        print(line, file=sys.stderr)
    sys.exit(1 if found else 0)


if __name__ == "__main__":
    main()
