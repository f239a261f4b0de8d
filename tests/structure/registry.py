#!/usr/bin/env python3
"""The registries of operations against the headers, the documents and the random programs.

- Each struct with `using operation = ...` stands in exactly one registry; where aliases name it (`CumSum` is a
  `Cumulative`, `Take` a `TakeRows` or its named result), each of these stands instead. Each entry names one.
- The sample in registry.cpp, or beside a case of the random programs, is of the object that its name says.
- A row of a table of operations names the function: in docs/rules.md, of manual mode in docs/manual.md.
- A case of the random programs (tests/harness) calls it, and stands in a list; or a test of TESTED_ELSEWHERE calls it.
- A case that automatic mode records calls it too (its programs draw them all: tests/unit/random_programs.cpp), or it
  stands in NOT_RECORDED.
- An operation with a gradient is called by a test of gradients (tests/mpi/gradients_*.cpp, the programs of
  tests/harness/real_gradients.hpp). One without, in a list of tests/harness/registered_gradients.hpp, has a row in the
  table of docs/rules.md that says why, and nothing else has one. An elementwise function has a Derivative, unless it gives truths.

Operations of autodiff/ are those that backward passes alone call.

usage: registry.py ROOT [--self-test]
"""
import re
import sys
from pathlib import Path

# Of each folder with operations: the document with its rows.
ROWS = {"ops": "docs/rules.md", "manual": "docs/manual.md", "nn": "docs/nn.md",
        "linalg": "docs/linalg.md"}
# Operations that no function of a user's calls, and who does.
INTERNAL = {
    "AttentionBack": "the gradient of attention (nn/attention.hpp)",
    "AttentionBackKeys": "the gradient of attention (nn/attention.hpp)",
    "AttentionBackQueries": "the gradient of attention (nn/attention.hpp)",
    "CombineRows": "moe (nn/moe.hpp)",
    "CrossEntropyBack": "the gradient of cross_entropy (nn/cross_entropy.hpp)",
    "CrossEntropyJoin": "cross_entropy (nn/cross_entropy.hpp)",
    "CrossEntropyNumbers": "cross_entropy (nn/cross_entropy.hpp)",
    "DetFactored": "det and slogdet (linalg/determinant.hpp)",
    "DivideByGaps": "the gradient of eigh (linalg/spectral.hpp)",
    "EighBoth": "eigh and eigvalsh (linalg/spectral.hpp)",
    "EighValues": "eigh and eigvalsh (linalg/spectral.hpp)",
    "EighVectors": "eigh (linalg/spectral.hpp)",
    "ExchangeRows": "moe (nn/moe.hpp)",
    "ExpertCounts": "moe and the losses of routers (nn/moe.hpp)",
    "ExpertPlaces": "moe (nn/moe.hpp)",
    "FactorsOf": "lu_factor (linalg/factors.hpp)",
    "InverseFactored": "inv, and the gradient of det (linalg/determinant.hpp)",
    "LuFactor": "lu_factor, inv, det, and the gradient of solve (linalg/solve.hpp)",
    "OwnExpertPlaces": "moe (nn/moe.hpp)",
    "PivotsOf": "lu_factor (linalg/factors.hpp)",
    "QrBoth": "qr and lstsq (linalg/orthogonal.hpp)",
    "QrPartOf": "qr and lstsq (linalg/orthogonal.hpp)",
    "RaggedOuter": "the gradient of ragged_dot (nn/ragged_dot.hpp)",
    "ReduceParts": "the gradients of reductions (autodiff/counted.hpp)",
    "RingAttention": "attention with a named result (nn/attention.hpp)",
    "RingAttentionBack": "the gradient of attention with a named result (nn/attention.hpp)",
    "RingAttentionPart": "the gradient of attention with a named result (nn/attention.hpp)",
    "RowDots": "the gradient of moe's weights (nn/moe.hpp)",
    "RowNormBack": "the gradients of norms (nn/norm.hpp)",
    "RowNormGain": "the gradients of norms (nn/norm.hpp)",
    "RowsOnRanks": "moe (nn/moe.hpp)",
    "SolveFactored": "the gradient of solve (linalg/solve.hpp)",
    "SpreadRows": "moe (nn/moe.hpp)",
    "SvdAll": "svd and svdvals (linalg/spectral.hpp)",
    "SvdPartOf": "svd and svdvals (linalg/spectral.hpp)",
}
# Operations that automatic mode does not record, and why.
NOT_RECORDED = {
    "AllGather": "the planner chooses collectives",
    "AllReduce": "the planner chooses collectives",
    "AllToAll": "the planner chooses collectives",
    "CountedMax": "two results",
    "CountedMin": "two results",
    "CountedProd": "two results",
    "HaloAdd": "the blocks of its operand overlap",
    "HaloExchange": "the blocks of its result overlap",
    "ReduceScatter": "the planner chooses collectives",
    "ToPartial": "the planner chooses what stays unreduced",
    "ToReduced": "a state of shardings, which the planner chooses",
    "Transfer": "its result is on another mesh",
    "UsedAs": "a state of shardings, which the planner chooses",
}
# Folders whose operations the random programs do not draw: the tests that call each of them.
TESTED_ELSEWHERE = {
    # it needs a library that is optional, and its results are rounded: the programs compare integers
    "fft": ("tests/mpi/fourier.cpp", "tests/mpi/fourier_long.cpp"),
    # results are rounded, as those of fft
    "nn": ("tests/mpi/nn.cpp", "tests/mpi/nn_attention.cpp", "tests/mpi/nn_moe.cpp"),
    "linalg": ("tests/mpi/linalg_batched.cpp",),
}
ENTRY = re.compile(r'^ *\{"(\w+)", "([^"]+)"\},$', re.M)


def code_of(text):
    return re.sub(r"//[^\n]*", "", text)


def objects(headers):
    """The names of all operations: of structs, or of their aliases."""
    text = "\n".join(code_of(header) for header in headers)
    structs = re.findall(r"struct (\w+)(?: : [\w:<>]+)? \{\s*using operation = \1;", text)
    aliases = re.findall(r"^using (\w+) =\s+(?:MaybeNamed<|typename detail::\w+Of<)?(\w+)\b", text, re.M)
    named = {alias: struct for alias, struct in aliases if struct in structs}
    return sorted([s for s in structs if s not in named.values()] + list(named)), structs


def entries(registry):
    return ENTRY.findall(registry)


def words(function):
    """What calls and rows have in common: `sum(a, reproducible)` gives sum and reproducible."""
    return re.findall(r"\w\w+", function)


def operation_rows(document):
    """What stands in backticks in the first column of tables of operations."""
    spans, inside, start = [], False, True
    for line in document.splitlines():
        if not line.startswith("|"):
            inside, start = False, True
            continue
        first = line.split("|")[1].strip()
        inside = first in ("operation", "call") if start else inside
        start = False
        if inside:
            spans += re.findall(r"`([^`]*)`", first)
    return spans


def has_row(function, document):
    pattern = re.compile(r"\b" + r"\b.*\b".join(words(function)) + r"\b")
    return any(pattern.search(span) for span in operation_rows(document))


def performed(harness):
    """The bodies of functions that run instructions on real tensors."""
    text = code_of(harness)
    bodies = []
    for head in re.finditer(r"\bperform\w*\([^;{}]*\{", text):
        depth, at = 1, head.end()
        while depth > 0:
            depth += {"{": 1, "}": -1}.get(text[at], 0)
            at += 1
        bodies.append(text[head.end():at])
    return "\n".join(bodies)


def unlisted(harness):
    """Cases that stand in no list: programs would not draw them."""
    text = code_of(harness)
    listed = re.findall(r"\w+", " ".join(re.findall(r"\bCaseList<([^>]*)>;", text)))
    # up to the end of the struct, at the margin
    structs = re.findall(r"^struct (\w+) : [^;{]*\{(.*?)^\};", text, re.M | re.S)
    return [name for name, body in structs if re.search(r"\bperform\(", body) and name not in listed]


def recorded_cases(harness):
    """The harness without the cases that automatic mode does not record, nor those that are made of them."""
    text = code_of(harness)
    structs = re.findall(r"^struct (\w+) : ([\w:]+)[^;{]*\{(.*?)^\};", text, re.M | re.S)
    left_out = {name for name, _, body in structs if "recorded = false" in body}
    left_out |= {name for name, base, _ in structs if base in left_out}
    return re.sub(r"^struct (\w+) : [^;{]*\{.*?^\};", lambda m: "" if m.group(1) in left_out else m.group(0), text,
                  flags=re.M | re.S)


def has_case(function, bodies):
    first, *more = words(function)
    pattern = rf"\b{first}\b(?:<[^;]*?>)?\(" if not more else rf"\b{first}\b" + "".join(rf"[^;]*\b{w}\b" for w in more)
    return re.search(pattern, bodies) is not None


def listed(name, text):
    """The strings of a list of registered_gradients.hpp."""
    found = re.search(rf"\b{name}\[\] = \{{(.*?)\}};", text, re.S)
    return re.findall(r'"(\w+)"', found.group(1)) if found else []


def rows_without_gradient(document):
    """What stands in backticks in the first column of the table "no gradient of"."""
    table = document.split("| no gradient of |")[-1].split("\n\n")[0] if "| no gradient of |" in document else ""
    return re.findall(r"`([^`]*)`", " ".join(line.split("|")[1] for line in table.splitlines()[2:]))


def gradient_faults(registries, samples, documents, tests):
    found = []
    without, constants = listed("without_gradient", samples), listed("constants", samples)
    rows = rows_without_gradient(documents["ops"])
    functions = {name: function for registry in registries.values() for name, function in entries(registry)}
    for name, function in functions.items():
        if name in without:
            if function not in rows:
                found.append(f"{function} has no gradient, and no row in docs/rules.md that says why")
        elif function in rows and name not in constants:
            found.append(f"{function} has a gradient, and a row in docs/rules.md that denies it")
        elif name not in constants and name != "Map" and not has_case(function, code_of(tests["gradients"])):
            found.append(f"{function} has a gradient, and no test of it")
    found += [f"{name} of registered_gradients.hpp is no operation"
              for name in without + constants if name not in functions]
    tags = re.findall(r"^struct (\w+) : (?!.*Predicate|Base)[^{;]*\{", tests["functions"], re.M)
    if len(tags) < 40:
        found.append(f"only {len(tags)} functions found; are they still written so?")
    found += [f"functions::{tag} has no Derivative" for tag in tags
              if not re.search(rf"(?:Derivative<functions::|SHARDTYPE_\w+\(){tag}\b", tests["derivatives"])]
    return found


def faults(headers, registries, samples, documents, harness, tests):
    found = gradient_faults(registries, samples, documents, tests)
    all_objects, structs = objects(headers)
    everywhere = [name for registry in registries.values() for name, _ in entries(registry)]
    if len(structs) < 30:
        found.append(f"only {len(structs)} operations found; are they still written so?")
    found += [f"op::{name} of INTERNAL is no operation" for name in INTERNAL if name not in all_objects]
    for name in all_objects:
        if everywhere.count(name) != (0 if name in INTERNAL else 1):
            found.append(f"op::{name} stands in {everywhere.count(name)} registries")
    found += [f"the registry's {name} is no operation, or stands there by its aliases"
              for name in everywhere if name not in all_objects]
    bodies = performed(harness)
    bodies_recorded = performed(recorded_cases(harness))
    found += [f"op::{name} of NOT_RECORDED is no operation" for name in NOT_RECORDED if name not in all_objects]
    found += [f"{name} of tests/harness/cases stands in no list" for name in unlisted(harness)]
    for folder, registry in registries.items():
        names = [name for name, _ in entries(registry)]
        # what is written otherwise would be overlooked
        if len(names) != registry.count('{"'):
            found.append(f"{folder}/registry.hpp: an entry is not written as {{\"Object\", \"function\"}},")
        if names != sorted(names):
            found.append(f"{folder}/registry.hpp: not in the order of names")
        for name, function in entries(registry):
            if not re.search(rf'\bsample<"{name}"> =\s+on<[^;]*>\(op::{name}<', samples):
                found.append(f"op::{name} has no sample")
            if not has_row(function, documents[folder]):
                found.append(f"{function} has no row in {ROWS[folder]}")
            if folder in TESTED_ELSEWHERE:
                if not has_case(function, code_of(tests[folder])):
                    found.append(f"{function} has no test in {' or '.join(TESTED_ELSEWHERE[folder])}")
            elif not has_case(function, bodies):
                found.append(f"{function} has no case in the random programs")
            elif folder == "ops" and name not in NOT_RECORDED and not has_case(function, bodies_recorded):
                found.append(f"{function} has no case that automatic mode records")
    return found


def read(root):
    include = root / "include/shardtype"
    registries = {path.parent.name: path.read_text() for path in sorted(include.glob("*/registry.hpp"))}
    return ([path.read_text() for path in sorted(include.rglob("*.[hi]pp")) if path.parent.name != "autodiff"], registries,
            "\n".join(path.read_text() for path in
                      [root / "tests/structure/registry.cpp", root / "tests/harness/registered_gradients.hpp",
                       *sorted((root / "tests/harness/cases").glob("*.hpp"))]),
            {folder: (root / ROWS.get(folder, "docs/rules.md")).read_text() for folder in registries},
            "\n".join(path.read_text() for path in sorted((root / "tests/harness").rglob("*.hpp"))),
            {folder: "\n".join((root / test).read_text() for test in names)
             for folder, names in TESTED_ELSEWHERE.items()} | {
                "gradients": "\n".join(path.read_text() for path in [
                    *sorted((root / "tests/mpi").glob("gradients_*.cpp")),
                    *sorted((root / "tests/mpi").glob("nn*.cpp")), root / "tests/harness/real_gradients.hpp"]),
                "functions": (include / "check/functions.hpp").read_text(),
                "derivatives": (include / "autodiff/derivatives.hpp").read_text()})


def self_test(headers, registries, samples, documents, harness, tests):
    """What goes unnoticed of planted faults."""
    def without(texts, entry):
        return {folder: text.replace(entry, "") for folder, text in texts.items()}

    roll = '    {"Roll", "roll"},\n'
    bodies_without = re.sub(r"\broll<V>\(", "flip<V>(", harness)
    rows_without = {folder: re.sub(r"^\| `roll<.*\n", "", text, flags=re.M) for folder, text in documents.items()}
    planted = {
        "an operation that stands nowhere": (headers, without(registries, roll), samples, documents, harness),
        "an entry for no operation": (headers, {**registries, "ops": registries["ops"].replace(
            roll, roll + '    {"Rollback", "roll"},\n')}, samples, documents, harness),
        "an operation that stands twice": (headers, {**registries, "manual": registries["manual"].replace(
            '    {"Rotate"', roll + '    {"Rotate"')}, samples, documents, harness),
        "a new operation": (headers + ["struct Twist {\n  using operation = Twist;\n"], registries, samples,
                            documents, harness),
        "a sample of another": (headers, registries, samples.replace("op::Roll<", "op::Flip<"), documents,
                                harness),
        "a missing row": (headers, registries, samples, rows_without, harness),
        "a missing case": (headers, registries, samples, documents, bodies_without),
        "a case that is not recorded": (headers, registries, samples, documents, harness.replace(
            "struct Roll : Case {", "struct Roll : Case {\n  static constexpr bool recorded = false;")),
        "a case in no list": (headers, registries, samples, documents, re.sub(r"\bRoll, ", "", harness)),
    }
    planted = {what: (*given, tests) for what, given in planted.items()}
    planted["no test elsewhere"] = (headers, registries, samples, documents, harness,
                                    {**tests, "fft": re.sub(r"\birfft<", "ifft<", tests["fft"])})
    planted["no test of a gradient"] = (headers, registries, samples, documents, harness,
                                        {**tests, "gradients": re.sub(r"\bflip<", "roll<", tests["gradients"])})
    planted["no reason"] = (headers, registries, samples, {folder: text.replace("`halo_add`", "")
                                                           for folder, text in documents.items()}, harness, tests)
    planted["a gradient that is denied"] = (headers, registries, samples, {folder: text.replace(
        "`halo_add`", "`cumsum`, `halo_add`") for folder, text in documents.items()}, harness, tests)
    planted["no derivative"] = (headers, registries, samples, documents, harness, {
        **tests, "derivatives": tests["derivatives"].replace("DERIVATIVE(Tanh", "")})
    return [f"this goes unnoticed: {what}" for what, given in planted.items() if not faults(*given)]


def main():
    given = read(Path(sys.argv[1]))
    found = faults(*given)
    if "--self-test" in sys.argv and not found:
        found = self_test(*given)
    for line in found:
        print(line, file=sys.stderr)
    sys.exit(1 if found else 0)


if __name__ == "__main__":
    main()
