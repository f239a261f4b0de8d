#!/usr/bin/env python3
"""A user's own function of a public name is never replaced by ours in silence.

For every public function, found by clang, pieces of program: the user's function of that name in a namespace of the
user's, and in the global one beside `using namespace shardtype`, for parameters `auto const&`, `auto&&` and of the
exact types; called with variables, constants, temporaries and expressions, with and without template arguments, with
tensors in each place, and as our own signatures are called. In the user's namespace the user's is called; in the global
one it is, or the call is ambiguous. Where the user's parameter takes a conversion, an expression to a tensor or a float
to a double, C++ may choose ours: the block `ours-by-conversion` of DOCS lists the names for which it does. And all
public functions are in namespace api, where argument-dependent lookup does not find them.

Where only UMBRELLA is included, the same holds of the names that check/elsewhere.hpp refuses, which are all names of the
other headers.

usage: user_names.py HEADERS UMBRELLA FLAGS DOCS CLANG COMPILER... [--once] [--write] [--keep=FOLDER]

HEADERS includes every header; UMBRELLA is shardtype.hpp; FLAGS has lines KEY=a|b. CLANG lists the names, each COMPILER
judges the calls. --once: one kind of parameters after the other is judged by one of the compilers, in turn, for every
fourth name. --write makes the block of DOCS anew.
"""
import re
import subprocess
import sys
import tempfile
import textwrap
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from completion import Completion, flags

PRELUDE = """#include "{headers}"
#include <array>
#include <string>
#include <utility>
namespace labels {{
struct X : shardtype::Axis<"X"> {{}};
struct I : shardtype::Index<"I"> {{}};
struct Mine {{}};
// Not in the global namespace, where argument-dependent lookup would find the user's functions there too.
struct F {{ Mine operator()(auto const&...) const; }};
}}
using labels::X, labels::I, labels::F, labels::Mine;
using A = shardtype::Tensor<float, shardtype::Dim<I, X>>;
using E = decltype(std::declval<A&>() + 1.0F);
using M = shardtype::Mesh<X>;
template <class R> constexpr char whose() {{ return std::is_same_v<R, Mine> ? 'h' : 'o'; }}
"""
LETTERS = {"T": "A", "F": "F", "M": "M", "N": "float"}
EXACT, CONVERTED = "exact", "converted"
FORMS = ("auto const&", "auto&&", EXACT, CONVERTED)
BLOCK = re.compile(r"(<!-- ours-by-conversion -->\n```\n)(.*?)(```\n)", re.S)


# The kind of argument for a parameter of ours, by its type; of a refused call, whose refusal was printed, none.
SAMPLES = {
    r".*\bMesh\w*<.*": "M", r".*Argument<.*|checking::Anything": "T", r"checking::Word": "char const*",
    r"checking::Poisoned": None, r".*::element|.*created_element<.*": "float",
    r".*(?:extents_of|created_extents)<.*|Extents": "std::array<std::int64_t, 0>",
    r".*sizeof\.\.\.\(.*": "std::array<std::int64_t, 1>", r"std::string_view": "std::string",
    r"F|Forward|Backward|Body|Condition|Yes|No": "F"}


class Function:
    """A public name with the arguments of its signatures."""

    def __init__(self, name):
        self.name = name
        self.calls = set()     # tuples of kinds: see `sample`
        self.most = 0          # arguments at most, but no more than 3
        self.explicit = set()  # template arguments

    def add(self, signature, types):
        given = re.match(r"\[#.*?#\](?:api::)?\w+(<.*?>)?\(", signature)
        for one in re.findall(r"<#(.*?)#>", given.group(1) or ""):
            self.explicit.add({"int": "0", "MeshAxis": "X"}.get(one.split()[0], "I"))
        if re.search(r"\bParts\b|Mesh\w*<", signature):
            self.explicit = {"double"}  # no type of an argument, which the user's `auto` would take for its own
        inside = signature[given.end():]
        may = [one for one in re.findall(r"<#(.*?)#>", inside) if "CallSite" not in one]
        must = [one for one in re.findall(r"<#(.*?)#>", inside.split("{#")[0]) if "..." not in one.split()[-1]]
        self.most = 3 if any("..." in one.split()[-1] for one in may) else max(self.most, min(3, len(may)))
        self.calls.add(tuple(sample(one, types) for one in must))

    def all_calls(self):
        """The kinds of arguments of its signatures, and tensors, numbers and functions in their places."""
        calls = {one for one in self.calls if None not in one}
        for one in ("T", "F", "TT", "TN", "NT", "FT", "TTT", "NTT", "TNN", "FTT", "FNT"):
            if len(one) <= self.most:
                calls.add(tuple(one))
        return sorted(calls)

    def heads(self):
        return ["", *sorted(self.explicit)]

    def call(self, explicit, arguments):
        return f"{self.name}{'<' + explicit + '>' if explicit else ''}({arguments})"


def sample(parameter, types):
    """The kind of argument for a parameter of ours: T a tensor, F a function, M a mesh, N a number, or a type as it is;
    None if it depends on other arguments."""
    kind = re.sub(r"(?<=[ &])\w+$", "", parameter).strip()
    kind = re.sub(r"^const ", "", kind).strip(" &")
    if re.fullmatch(r"core::Taken<.*>", kind):
        kind = kind[12:-1]
    for pattern, one in SAMPLES.items():
        if re.fullmatch(pattern, kind):
            return one
    if re.fullmatch(r"[A-Z]\w*", kind) and kind not in types:
        return "T"
    return None if "typename" in kind or "<" in kind and not kind.startswith("std::") else kind


def functions(headers, options, clang):
    """The public functions, and faults: those that argument-dependent lookup finds."""
    found = {}
    with Completion(headers, options, clang) as complete:
        known = [(name, signature) for name, _, signature in complete.lines("", "shardtype")]
        inner = {name for name, _, _ in complete.lines("", "shardtype::api")}
    types = {name for name, signature in known if not signature.startswith("[#")}
    faults = set()
    for name, signature in known:
        if name.isidentifier() and re.match(r"\[#.*?#\](?:api::)?" + name + r"(<.*?>)?\(", signature):
            found.setdefault(name, Function(name)).add(signature, types)
            hides = any("#]api::" in other for one, other in known if one == name)
            if name not in inner or hides:
                faults.add(f"{name} is a function of namespace shardtype itself, where argument-dependent lookup finds "
                           "it; public functions are in shardtype::api")
    return [found[name] for name in sorted(found)], sorted(faults)


def refused_elsewhere(everything, umbrella, options, clang):
    """The functions of check/elsewhere.hpp, and faults: names that the umbrella does not know."""
    known, faults = functions(umbrella, options, clang)
    text = (Path(umbrella).parent / "check/elsewhere.hpp").read_text()
    listed = set(re.findall(r"^SHARDTYPE_OF_\w+\((?:\w+, )?(\w+)\)", text, re.M))
    unknown = {one.name for one in everything} - {one.name for one in known}
    return ([one for one in known if one.name in listed], faults + [
        f"{name} is in a header beside {Path(umbrella).name}, and check/elsewhere.hpp does not refuse it" for name in sorted(unknown)])


def categories(kinds, form):
    """The types of the arguments of each call."""
    plain = [LETTERS.get(one, one) for one in kinds]
    expressions = ["E" if one == "T" else LETTERS.get(one, one) for one in kinds]
    if form == CONVERTED:
        return [expressions, [one + "&" for one in expressions], [one + " const&" for one in expressions]]
    out = [[one + "&" for one in plain], [one + " const&" for one in plain], plain]
    return out + [expressions, [one + "&" for one in expressions]] if "T" in kinds else out


def calls_of(function, form):
    if form != CONVERTED:
        return function.all_calls()
    return [one for one in function.all_calls() if one and set(one) <= {"T", "N"}]


def declared(function, form):
    """The user's functions of this name, with and without template arguments."""
    lists = set()
    for kinds in calls_of(function, form):
        if form == EXACT:
            for arguments in categories(kinds, form):
                lists.add(", ".join(one.removesuffix("&").removesuffix(" const") + " const&" for one in arguments))
        elif form == CONVERTED:
            lists.add(", ".join("double" if one == "N" else "A const&" for one in kinds))
        else:
            lists.add(", ".join([form] * len(kinds)))
    heads = {f"template <{'int' if one == '0' else 'class'} T_> " if one else "" for one in function.heads()}
    return [f"{head}Mine {function.name}({one}) {{ return {{}}; }}" for one in sorted(lists) for head in sorted(heads)]


def probe(function):
    """A struct that says whose function is called: h the user's, o ours, a neither, because the call is ambiguous."""
    lines = []
    for k, explicit in enumerate(function.heads()):
        call = function.call(explicit, "std::declval<Ts>()...")
        lines.append(f"template <class... Ts> static constexpr char of_{k}() {{ if constexpr (requires {{ {call}; }}) "
                     f"return whose<decltype({call})>(); else return 'a'; }}")
    return f"struct Probe_{function.name} {{ {' '.join(lines)} }};"


def unit(everything, form, headers):
    """The beginning of a translation unit for one form of parameters, and its cases: where the user's function is, its
    name, the call and the expression that says whose is called."""
    lines = [PRELUDE.format(headers=headers)]
    mine = form in ("auto const&", "auto&&")
    if mine:
        lines.append("namespace mine {")
        for one in everything:
            lines += [*declared(one, form), probe(one)]
        lines.append("}")
    lines.append("using namespace shardtype;")
    for one in everything:
        lines += [*declared(one, form), probe(one)]
    cases = []
    for one in everything:
        for kinds in calls_of(one, form):
            for arguments in categories(kinds, form):
                for k, explicit in enumerate(one.heads()):
                    text = ", ".join(arguments)
                    of = f"Probe_{one.name}::of_{k}<{text}>()"
                    cases.append(("global", one.name, one.call(explicit, text), of))
                    if mine:
                        cases.append(("own", one.name, one.call(explicit, text), "mine::" + of))
    return "\n".join(lines) + "\n", cases


def outcomes(head, cases, source, options, compiler, together):
    """Whose function each case calls. A case that does not compile calls ours, with arguments that it refuses; the rest
    is compiled again without it and those of the same `together`: an error comes once per refusal and types, so that
    many rounds would be needed for cases one by one."""
    made = source.with_suffix(".o")
    first = head.count("\n") + 2
    limit = "-ferror-limit=0" if "clang" in Path(compiler).name else "-fmax-errors=0"
    ours = set()
    while True:
        lines = [" " if k in ours else case[-1] + "," for k, case in enumerate(cases)]
        source.write_text(head + "extern const char outcomes[]; const char outcomes[] = {'@', 'O', 'U', 'T', ':',\n" +
                          "\n".join(lines) + "\n'@', 0};\n")
        run = subprocess.run([compiler, "-std=c++20", "-w", "-O0", "-ftemplate-backtrace-limit=0", limit, *options, "-c",
                              str(source), "-o", str(made)], capture_output=True, text=True)
        if run.returncode == 0:
            found = iter(re.search(rb"@OUT:([hoa]*)@", made.read_bytes()).group(1).decode())
            return ["o" if k in ours else next(found) for k in range(len(cases))]
        failed = {int(line) - first for line in re.findall(re.escape(source.name) + r":(\d+):", run.stderr)}
        keys = {together(k) for k in failed if 0 <= k < len(cases)}
        failed = {k for k in range(len(cases)) if together(k) in keys} - ours
        if not failed:
            break
        ours |= failed
    raise SystemExit(f"{compiler} does not compile the calls:\n{run.stderr[:4000]}")


def wrapped(title, names):
    return textwrap.fill(" ".join([title, *names]), 100, subsequent_indent="  ") + "\n"


def of_expression(case):
    """The name of a case, and whether an expression is among its arguments."""
    return case[1], bool(re.search(r"\bE\b", case[2]))


def list_of(cases, found):
    """The names for which ours is called by a conversion of the user's parameter."""
    ours = {of_expression(case) for case, one in zip(cases, found) if one == "o"}
    return "".join(wrapped(title, sorted(name for name, expression in ours if expression == wanted) or ["none"])
                   for title, wanted in (("an expression to a tensor:", True), ("a float to a double:", False)))


def names_of(text, judged):
    """The names of `list_of`'s text that were judged, by title."""
    parts = re.split(r"([a-z ]+:)", text)
    return {title: set(names.split()) & judged for title, names in zip(parts[1::2], parts[2::2])}


def main():
    arguments = [one for one in sys.argv[1:] if not one.startswith("--")]
    headers, umbrella, flag_file, docs, clang, *compilers = arguments
    options = flags(flag_file)
    everything, wrong = functions(headers, options, clang)
    elsewhere, missing = refused_elsewhere(everything, umbrella, options, clang)
    wrong += missing
    lists = {}

    def judge(job):
        included, names, form, compiler, folder = job
        head, cases = unit(names, form, Path(included).resolve())
        source = Path(folder) / f"{Path(included).stem}.{re.sub(chr(92) + 'W+', '_', form)}.{Path(compiler).name}.cpp"

        def together(k):
            return of_expression(cases[k]) if form == CONVERTED else k

        found = outcomes(head, cases, source, options, compiler, together)
        if form == CONVERTED and included == headers:
            lists[compiler] = list_of(cases, found)
            return []
        return [f"{compiler}: {'shardtype::' if one == 'o' else 'no function alone for '}{text} beside the user's "
                f"{name}({form}) in {'his' if place == 'own' else 'the global'} namespace"
                for (place, name, text, _), one in zip(cases, found) if one == "o" or place == "own" and one != "h"]

    every = "--once" not in sys.argv
    keep = [one.split("=")[1] for one in sys.argv if one.startswith("--keep=")]
    with tempfile.TemporaryDirectory() as temporary, ThreadPoolExecutor(2) as pool:
        jobs = [(included, names if every else names[k % 4::4], form, compiler, keep[0] if keep else temporary)
                for k, form in enumerate(FORMS)
                for c, compiler in enumerate(compilers) if every or c == k % len(compilers)
                for included, names in ((headers, everything), (umbrella, elsewhere))]
        for lines in pool.map(judge, jobs):
            wrong += lines
    if len(set(lists.values())) > 1:
        wrong.append("the compilers choose ours by conversions for other names:\n" +
                     "\n".join(f"{compiler}\n{text}" for compiler, text in lists.items()))
    text = Path(docs).read_text()
    block = BLOCK.search(text)
    wanted = next(iter(lists.values()))
    if block is None:
        wrong.append(f"{docs} has no block ours-by-conversion")
    elif not every:
        judged = set(one.name for one in everything[FORMS.index(CONVERTED) % 4::4])
        if names_of(block.group(2), judged) != names_of(wanted, judged):
            wrong.append(f"the block ours-by-conversion of {docs} is not what compilers do; --write without --once makes it anew")
    elif block.group(2) != wanted:
        if "--write" in sys.argv:
            Path(docs).write_text(text[:block.start(2)] + wanted + text[block.end(2):])
        else:
            wrong.append(f"the block ours-by-conversion of {docs} is not what compilers do; --write makes it anew")
    print(f"{len(everything)} functions, {len(elsewhere)} refused without their header")
    for line in wrong[:60]:
        print(line, file=sys.stderr)
    if len(wrong) > 60:
        print(f"and {len(wrong) - 60} more", file=sys.stderr)
    sys.exit(1 if wrong else 0)


if __name__ == "__main__":
    main()
