"""What the headers say of public functions and types: docstrings, signatures and members.

They are read as text, in which clang-format puts what is in a namespace at the beginning of a line and what is in a class
two columns further; a docstring, lines of `///`, stands before its declaration.
"""
import re

PUBLIC = ("", "nn", "linalg", "train", "checkpoint", "machines", "jax")
# Parameters that no user passes.
HIDDEN = re.compile(r",?\s*(?:checking::CallSite|std::source_location(?: const&)?) where"
                    r"(?: = (?:\{\}|std::source_location::current\(\)))?")


class Function:
    def __init__(self, header, line):
        self.header, self.line = header, line
        self.signatures, self.texts = [], []


class Type:
    def __init__(self, header, line, text):
        self.header, self.line, self.text = header, line, text
        self.members = []  # pairs of a declaration and its meaning


class Headers:
    """`functions` and `types` by namespace and name."""

    def __init__(self, root):
        self.functions, self.types = {}, {}
        for file in sorted((root / "include/shardtype").rglob("*.hpp")):
            self.read(str(file.relative_to(root)), file.read_text())

    def read(self, name, text):
        # A brace is else that of a body.
        text = re.sub(r"^ +requires requires\([^()]*\) \{[^{}]*\}$", "  requires(true)", text, flags=re.M)
        hidden = {}  # classes in namespaces that are not public -> members
        last = None
        for space, line, comment, declaration, body in declarations(text.splitlines()):
            bare = without_template(declaration)
            made = re.match(r"SHARDTYPE_(?!NOT_|REFUSED|[A-Z]+_OF_|NAME_IN|PARTS_|OF_HEADER|OF_ANOTHER|OF_NUMBERS)\w+\((\w+),", bare)
            kind = re.match(r"(?:struct|class) (\w+)(?! *<)", bare)
            alias = re.match(r"using (\w+) = typename detail::(\w+)<.*>::template Parameters", bare)
            function = re.match(r"(?!using|return)[\w:<>, .\[\]]*?[\w>&*] (\w+)\(", bare)
            if kind and space not in PUBLIC:
                hidden[kind[1]] = members(body)
            if space not in PUBLIC or comment.startswith("Refused") or "checking::Anything" in declaration:
                continue
            if kind or alias:
                if comment:
                    one = self.types.setdefault((space, (kind or alias)[1]), Type(name, line, comment))
                    one.members = one.members or (members(body) if kind else hidden.get(alias[2], []))
            elif made or function:
                key = (space, (made or function)[1])
                if not comment and not made and key != last:
                    continue
                one = self.functions.setdefault(key, Function(name, line))
                if comment:
                    one.texts.append(comment)
                if function and not made:
                    one.signatures.append(signature(declaration))
                last = key


def without_template(declaration):
    """A declaration behind its `template <...>` and `requires`, on one line."""
    text = " ".join(declaration.split())
    while text.startswith("template <"):
        depth = 0
        for k, c in enumerate(text):
            depth += (c == "<") - (c == ">" and text[k - 1] not in "-=")
            if depth == 0 and c == ">":
                break
        text = text[k + 1:].lstrip()
    found = re.match(r"requires .*?(?= (?:constexpr|inline|auto|void|struct|class) )", text)
    if found:
        return text[found.end():].lstrip()
    if text.startswith("requires("):
        depth = 0
        for k, c in enumerate(text):
            depth += (c == "(") - (c == ")")
            if depth == 0 and c == ")":
                break
        return text[k + 1:].lstrip()
    return text


def signature(declaration):
    text = re.sub(r"core::Argument<(\w+)>(&&| const&)", r"\1\2", declaration.replace("\n  requires(true)", ""))
    return re.sub(r"\b(?:inline|static) (?=constexpr|auto|void)", "", HIDDEN.sub("", text)).strip() + ";"


def declarations(lines):
    """Namespace, line, docstring, declaration and body of what begins in the first column."""
    spaces, comment, at = [], [], 0
    while at < len(lines):
        line = lines[at]
        if line.startswith("///"):
            comment.append(line[3:].removeprefix(" "))
            at += 1
            continue
        opened = re.match(r"namespace ([\w:]+) {$", line)
        if opened:
            spaces.append(opened[1])
        elif line.startswith("}  // namespace") and spaces:
            spaces.pop()
        if opened or not re.match(r"[A-Za-z\[]", line):
            comment = comment if line.startswith("#") else []
            at += 1
            continue
        begin = at
        text, rest = "", ""
        while at < len(lines) and not rest:  # to the first brace or semicolon outside of parentheses
            text, rest = head(text + re.sub(r"\s*//.*", "", lines[at]) + "\n")
            at += 1
            if re.match(r"SHARDTYPE_\w+\(.*\)$", text.strip()):
                break
        body = []
        if rest.startswith("{") and not rest.rstrip().rstrip(";").endswith("}"):
            while at < len(lines) and not lines[at].startswith("}"):
                body.append(lines[at])
                at += 1
            at += 1
        space = "::".join(one for s in spaces for one in s.split("::") if one not in ("shardtype", "api"))
        yield space, begin + 1, "\n".join(comment).strip(), text.strip(), body
        comment = []


def head(text):
    """The text before the body of a declaration, or its semicolon, and what follows."""
    depth, quoted = 0, False
    for k, c in enumerate(text):
        quoted ^= c == '"' and text[k - 1] != "\\"
        if not quoted:
            depth += (c == "(") - (c == ")")
            if depth == 0 and c in "{;":
                return text[:k], text[k:]
    return text, ""


def members(body):
    """Pairs of a declaration and its meaning: public data, and functions with a docstring."""
    inside, public, behind = [], True, {}
    for line in body:
        if access := re.match(r" (public|private|protected):", line):
            public = access[1] == "public"
        elif public:
            inside.append(line[2:])
    if any(line == "struct Parameters {" for line in inside):
        inside = [line[2:] for line in inside if line.startswith("  ")]
    for k, line in enumerate(inside):
        if found := re.match(r"(.*?)\s*///< ?(.*)", line):
            behind[found[1].split(";")[0]] = found[2]
    out = []
    for _, _, text, declaration, _ in declarations(inside):
        bare = without_template(HIDDEN.sub("", declaration))
        if re.match(r"(?:using|friend|static_assert|struct|class|enum|explicit)\b", bare) or "operator" in bare \
                or bare.endswith("= delete") or text.startswith("Refused"):
            continue
        meaning = " ".join(text.split()) or behind.get(declaration.splitlines()[-1], "")
        if meaning or not re.search(r"[\w>&*] ~?\w+\(|^~?\w+\(", bare):
            out.append((bare, meaning))
    return out
