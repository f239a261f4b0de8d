#!/usr/bin/env python3
"""The list of all operations against the headers, the documents and the random programs.

The list are the samples, `on<"Object", "function", Operands...>(op::Object<...>...)`, beside the cases of the random
programs or in registry.cpp, which asks the compiler for what it knows.

- Each struct with `using operation = ...` has one sample; where aliases name it (`CumSum` is a `Cumulative`, `Take` a
  `TakeRows` or its named result), each of these has one instead.
- A sample is of the object that its name says.
- A row of a table of operations names the function: in docs/rules.md, of manual mode in docs/manual.md.
- A case of the random programs (tests/harness) calls it, and stands in a list; or a test of TESTED_ELSEWHERE calls it.
- A case that automatic mode records calls it too (its programs draw them all: tests/unit/random_programs.cpp), or it
  stands in NOT_RECORDED.
- An operation of whose gradient programs with gradients draw no case is called by tests/mpi/gradients_*.cpp, nn*.cpp or linalg*.cpp.
  One without a gradient has a row in the table of docs/rules.md that says why, and nothing else has one. An elementwise
  function has a Derivative, unless it gives truths.

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
    "AttentionWithSums": "attention whose gradient is wanted (nn/attention.hpp)",
    "AvgPoolBack": "the gradient of avg_pool (nn/pool.hpp)",
    "Cofactors": "the gradient of det (linalg/determinant.hpp)",
    "CombineRows": "moe (nn/moe.hpp)",
    "ConvKernel": "the gradients of conv and conv_transposed (nn/conv.hpp)",
    "CrossEntropyBack": "the gradient of cross_entropy (nn/cross_entropy.hpp)",
    "CrossEntropyJoin": "cross_entropy (nn/cross_entropy.hpp)",
    "CrossEntropyLosses": "cross_entropy of expressions (nn/cross_entropy.hpp)",
    "CrossEntropyNumbers": "cross_entropy (nn/cross_entropy.hpp)",
    "DetFactored": "det and slogdet (linalg/determinant.hpp)",
    "DivideByGaps": "the gradient of eigh (linalg/spectral.hpp)",
    "EnterManual": "shard_map over some axes (manual/manual_axes.hpp)",
    "ExchangeRows": "moe (nn/moe.hpp)",
    "ExpertCounts": "moe and the losses of routers (nn/moe.hpp)",
    "ExpertPlaces": "moe (nn/moe.hpp)",
    "GumbelLike": "categorical (random/categorical.hpp)",
    "GroupMeans": "group_norm (nn/group_norm.hpp)",
    "GroupSpread": "group_norm and its gradient (nn/group_norm.hpp)",
    "IdentityLike": "matrix_power (linalg/norms.hpp)",
    "InverseFactored": "inv, and the gradient of slogdet (linalg/determinant.hpp)",
    "LeaveManual": "shard_map over some axes (manual/manual_axes.hpp)",
    "LuFactor": "lu_factor (linalg/factors.hpp)",
    "MaxPoolBack": "the gradient of max_pool (nn/pool.hpp)",
    "MaxPoolTaps": "max_pool whose gradient is wanted (nn/pool.hpp)",
    "NumberOfOne": "the gradient of det and slogdet of one matrix (linalg/cyclic_inverse.hpp)",
    "OwnExpertPlaces": "moe (nn/moe.hpp)",
    "PoolTake": "the second derivative of max_pool (nn/pool.hpp)",
    "RaggedOuter": "the gradient of ragged_dot (nn/ragged_dot.hpp)",
    "ReduceParts": "the gradients of reductions (autodiff/counted.hpp)",
    "RingAttention": "attention with a named result (nn/attention.hpp)",
    "RingAttentionBack": "the gradient of attention with a named result (nn/attention.hpp)",
    "RingAttentionWithSums": "attention with a named result whose gradient is wanted (nn/attention.hpp)",
    "RowDots": "the gradient of moe's weights (nn/moe.hpp)",
    "RowNormBack": "the gradients of norms (nn/norm.hpp)",
    "RowNormGain": "the gradients of norms (nn/norm.hpp)",
    "RowsOnRanks": "moe (nn/moe.hpp)",
    "ScaledLu": "inv, det, and the gradient of solve (linalg/solve.hpp)",
    "SharedTopK": "top_k with a named result (ops/shared_top_k.hpp)",
    "SharedUnique": "unique with a named result (ops/unique.hpp)",
    "SolveFactored": "the gradient of solve (linalg/solve.hpp)",
    "SpreadRows": "moe (nn/moe.hpp)",
    "SvdVectorsPull": "the gradient of svd (linalg/svd_gradients.hpp)",
    "TallQr": "qr and lstsq of one tall matrix (linalg/tall.hpp)",
}
# Operations that automatic mode does not record, and why.
NOT_RECORDED = {
    "AllGather": "the planner chooses collectives",
    "AllReduce": "the planner chooses collectives",
    "AllToAll": "the planner chooses collectives",
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
    "nn": ("tests/mpi/nn.cpp", "tests/mpi/nn_attention.cpp", "tests/mpi/nn_conv.cpp", "tests/mpi/nn_moe.cpp",
           "tests/mpi/nn_pool.cpp"),
    "linalg": ("tests/mpi/linalg_batched.cpp", "tests/mpi/linalg_norms.cpp",
               "tests/mpi/linalg_condition.cpp", "tests/mpi/linalg_qr.cpp", "tests/mpi/linalg_spectral.cpp"),
}
# The folder of a list of samples, unless it is "ops".
LISTS = {"manual": "manual", "fft": "fft", "nn": "nn", "linalg": "linalg"}
SAMPLE = re.compile(r'\bon<"(\w+)",\s*"([^"]+)",[^;]*?>\(\s*op::(\w+)[<{]')


def code_of(text):
    return re.sub(r"//[^\n]*", "", text)


def objects(headers):
    """The names of all operations: of structs, or of their aliases."""
    text = "\n".join(code_of(header) for header in headers)
    # those of namespace linalg, of one matrix over many ranks, have other bases
    structs = re.findall(r"struct (\w+)(?: : (?:[\w:<>]+|linalg::detail::\w+<\w, \w>|nn::detail::PoolCalls<[^>]*>))? \{\s*using operation = \1;", text)
    aliases = re.findall(r"^using (\w+) =\s+(?:MaybeNamed<|typename detail::\w+Of<)?(\w+)\b", text, re.M)
    named = {alias: struct for alias, struct in aliases if struct in structs}
    return sorted([s for s in structs if s not in named.values()] + list(named)), structs


def entries(samples):
    """Of each folder, (object, function, the sample's object)."""
    found = {"ops": []} | {folder: [] for folder in LISTS.values()}
    for name, text in re.findall(r"std::tuple (\w+)_samples\{(.*?)\};", samples, re.S):
        if name != "block":  # second samples
            found[LISTS.get(name, "ops")] += SAMPLE.findall(text)
    return found


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
    listed = re.findall(r"\w+", " ".join(re.findall(r"using \w+ =\s*CaseList<(.*?)>;", text, re.S)))
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


def gradient_faults(operations, harness, documents, tests):
    found = []
    without = listed("without_gradient", harness)
    rows = rows_without_gradient(documents["ops"])
    functions = {name: function for entries_of in operations.values() for name, function, _ in entries_of}
    expected = {functions.get(name) for name in without}
    found += [f"{function} has no gradient, and no row in docs/rules.md that says why"
              for function in sorted(expected - set(rows) - {None})]
    found += [f"{function} has a gradient, and a row in docs/rules.md that denies it"
              for function in sorted(set(rows) - expected)]
    undrawn = listed("enumerated_apart", harness) + [name for name, _, _ in operations["nn"]]
    found += [f"{functions[name]} has a gradient, and no test of it" for name in undrawn
              if not has_case(functions[name], code_of(tests["gradients"]))]
    tags = re.findall(r"^struct (\w+) : (?!.*Predicate|Base)[^{;]*\{", tests["functions"], re.M)
    if len(tags) < 40:
        found.append(f"only {len(tags)} functions found; are they still written so?")
    found += [f"functions::{tag} has no Derivative" for tag in tags
              if not re.search(rf"(?:Derivative<functions::|SHARDTYPE_\w+\(){tag}\b", tests["derivatives"])]
    return found


def faults(headers, documents, harness, tests):
    operations = entries(harness)
    found = gradient_faults(operations, harness, documents, tests)
    all_objects, structs = objects(headers)
    everywhere = [name for entries_of in operations.values() for name, _, _ in entries_of]
    if len(structs) < 30:
        found.append(f"only {len(structs)} operations found; are they still written so?")
    if len(everywhere) != len(re.findall(r'\bon<"', harness)) - len(re.findall(
            r'\bon<"', re.search(r"block_samples\{(.*?)\};", harness, re.S)[1])):
        found.append('a sample is not written as on<"Object", "function", Operands...>(op::Object<...>...)')
    found += [f"op::{name} of INTERNAL is no operation" for name in INTERNAL if name not in all_objects]
    for name in all_objects:
        if everywhere.count(name) != (0 if name in INTERNAL else 1):
            found.append(f"op::{name} has {everywhere.count(name)} samples")
    found += [f"{name} has a sample and is no operation, or has samples of its aliases"
              for name in everywhere if name not in all_objects]
    bodies = performed(harness)
    bodies_recorded = performed(recorded_cases(harness))
    found += [f"op::{name} of NOT_RECORDED is no operation" for name in NOT_RECORDED if name not in all_objects]
    found += [f"{name} of tests/harness/cases stands in no list" for name in unlisted(harness + tests["only with gradients"])]
    for folder, entries_of in operations.items():
        for name, function, of in entries_of:
            if of != name:
                found.append(f"the sample of op::{name} is of op::{of}")
            if not has_row(function, documents[folder]):
                found.append(f"{function} has no row in {ROWS.get(folder, ROWS['ops'])}")
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
    return ([path.read_text() for path in sorted(include.rglob("*.[hi]pp")) if path.parent.name != "autodiff"],
            {folder: (root / ROWS.get(folder, ROWS["ops"])).read_text() for folder in ["ops", *LISTS.values()]},
            "\n".join(path.read_text() for path in [root / "tests/structure/registry.cpp",
                                                    *sorted((root / "tests/harness").rglob("*.hpp"))]
                      if path.name != "gradients.hpp"),
            {folder: "\n".join((root / test).read_text() for test in names)
             for folder, names in TESTED_ELSEWHERE.items()} | {
                "gradients": "\n".join(path.read_text() for path in [
                    *sorted((root / "tests/mpi").glob("gradients_*.cpp")), *sorted((root / "tests/mpi").glob("nn*.cpp"))]),
                "only with gradients": (root / "tests/harness/cases/gradients.hpp").read_text(),
                "functions": (include / "check/functions.hpp").read_text(),
                "derivatives": (include / "autodiff/derivatives.hpp").read_text()})


def self_test(headers, documents, harness, tests):
    """What goes unnoticed of planted faults."""
    def edited(texts, *change):
        return {folder: re.sub(*change, text, flags=re.M) for folder, text in texts.items()}

    roll = '    on<"Roll", "roll", A>(op::Roll<J>{3}),\n'
    own = "struct Twist {\n  using operation = Twist;\n"
    planted = {
        "an operation without a sample": (headers, documents, harness.replace(roll, ""), tests),
        "a sample of no operation": (headers, documents, harness.replace(roll, roll + roll.replace("Roll", "Rollback")), tests),
        "an operation that stands twice": (headers, documents, harness.replace(roll, roll + roll), tests),
        "a new operation": (headers + [own], documents, harness, tests),
        "a sample of another": (headers, documents, harness.replace("op::Roll<", "op::Flip<"), tests),
        "a missing row": (headers, edited(documents, r"^\| `roll<.*\n", ""), harness, tests),
        "a missing case": (headers, documents, re.sub(r"\broll<typename", "flip<typename", harness), tests),
        "a case that is not recorded": (headers, documents, harness.replace(
            "struct Roll : Case {", "struct Roll : Case {\n  static constexpr bool recorded = false;"), tests),
        "a case in no list": (headers, documents, re.sub(r"\bRoll, ", "", harness), tests),
        "no test elsewhere": (headers, documents, harness, edited(tests, r"\birfft<", "ifft<")),
        "no test of a gradient": (headers, documents, harness, edited(tests, r"\bnorm_inf<", "norm<")),
        "no reason": (headers, edited(documents, "`halo_add`", ""), harness, tests),
        "a gradient that is denied": (headers, edited(documents, "`halo_add`", "`cumsum`, `halo_add`"), harness, tests),
        "no derivative": (headers, documents, harness, edited(tests, r"DERIVATIVE\(Tanh", "")),
    }
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
