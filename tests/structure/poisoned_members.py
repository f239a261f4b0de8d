#!/usr/bin/env python3
"""Poisoned has exactly the public members of Tensor, by name, plus those of EXTRA.

What a refused operation returns is used further by the program around it; a member that Poisoned lacked
would add a second message to the one mistake.

usage: poisoned_members.py ROOT [--self-test]
"""
import re
import sys
from pathlib import Path

# Operators, and doors that read a tensor, declared in Poisoned as friends.
EXTRA = {"operator T", "operator()", "operator[]", "to_host", "item", "save_npy"}


def body_of(text, head):
    """The text between the braces of the class whose head matches."""
    text = re.sub(r"//[^\n]*|/\*.*?\*/", "", text, flags=re.S)
    text = re.sub(r'"(?:\\.|[^"\\])*"', '""', text)
    start = text.index("{", re.search(head, text).end())
    depth = 0
    for k in range(start, len(text)):
        depth += {"{": 1, "}": -1}.get(text[k], 0)
        if depth == 0:
            return text[start + 1:k]
    raise ValueError("the class does not end")


def declarations(body):
    """The members' declarations without the bodies of functions, and `public:` and its like."""
    out, piece, depth = [], "", 0
    for c in body:
        if c == "{":
            depth += 1
        elif c == "}":
            depth -= 1
            if depth == 0:
                out.append(piece)
                piece = ""
        elif depth == 0:
            piece += c
            access = re.fullmatch(r"\s*(public|private|protected)\s*:", piece)
            if c == ";" or access:
                out.append(piece)
                piece = ""
    return [p.strip() for p in out if p.strip() not in ("", ";")]


def name_of(declaration):
    declaration = re.sub(r"^template\s*<[^<>]*(?:<[^<>]*>[^<>]*)*>\s*", "", declaration)
    declaration = re.sub(r"^requires\s*\((?:[^()]|\([^()]*\))*\)\s*", "", declaration)
    if m := re.search(r"\boperator\s*(T|\(\)|\[\])", declaration):
        return "operator " + m[1] if m[1] == "T" else "operator" + m[1]
    if m := re.match(r"using\s+(\w+)\s*=", declaration):
        return m[1]
    without_arguments = declaration
    while "<" in without_arguments:
        shorter = re.sub(r"<[^<>]*>", "", without_arguments)
        if shorter == without_arguments:
            break
        without_arguments = shorter
    m = re.search(r"(\w+)\s*(?:\(|=|;|$)", without_arguments)
    return m[1] if m else None


def public_members(text, head, public):
    names = set()
    own = re.search(r"(\w+)\W*$", head)[1]
    for declaration in declarations(body_of(text, head)):
        if m := re.fullmatch(r"(public|private|protected)\s*:", declaration):
            public = m[1] == "public"
        # every class can be assigned to
        elif public and (name := name_of(declaration)) and name not in (own, "operator"):
            names.add(name)
    return names


def differences(tensor, poisoned):
    ours = (public_members(tensor, r"\nclass HeldBlock ", False) |
            public_members(tensor, r"\nclass HeldRows ", False) |
            public_members(tensor, r"\nstruct Declared ", True) |
            public_members(tensor, r"\nclass Held ", False) |
            public_members(tensor, r"\nclass Tensor ", False))
    theirs = public_members(poisoned, r"\nstruct Poisoned", True)
    if len(ours) < 10:
        return [f"only {len(ours)} public members of Tensor found; is the class still written there?"]
    return ([f"Tensor::{n} is missing in Poisoned" for n in sorted(ours - theirs)] +
            [f"Poisoned::{n} is no public member of Tensor" for n in sorted(theirs - ours - EXTRA)])


def main():
    include = Path(sys.argv[1]) / "include/shardtype"
    tensor = "\n".join((include / "tensor" / f).read_text() for f in ("held.hpp", "tensor.hpp"))
    poisoned = (include / "check/poisoned.hpp").read_text()
    found = differences(tensor, poisoned)
    if "--self-test" in sys.argv and not found:
        planted = {
            "function": ("  int new_one() const { return 0; }\n", "new_one"),
            "template": ("  template <class I, class... Xs>\n  std::array<int, 2> new_one(I) const&;\n", "new_one"),
            "type": ("  using new_one = int;\n", "new_one"),
            "value": ("  static constexpr std::size_t new_one = 3;\n", "new_one"),
        }
        for what, (member, name) in planted.items():
            faulty = tensor.replace("  /// Whether another tensor or operation holds", member + "  ///", 1)
            if faulty == tensor or not any(name in d for d in differences(faulty, poisoned)):
                found.append(f"a new {what} of Tensor goes unnoticed")
            extra = poisoned.replace("  static bool shared();", "  static bool shared();\n" + member, 1)
            if extra == poisoned or not any(name in d for d in differences(tensor, extra)):
                found.append(f"a new {what} of Poisoned goes unnoticed")
    for line in found:
        print(line, file=sys.stderr)
    sys.exit(1 if found else 0)


if __name__ == "__main__":
    main()
