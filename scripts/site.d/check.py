#!/usr/bin/env python3
"""Links of a built site: to pages, files and anchors that exist; nothing is loaded from elsewhere. Each function has a page,
which the search finds first by its name, with the call as its title.

usage: check.py FOLDER | --self-test
"""
import html
import json
import math
import re
import sys
import tempfile
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

LOADS = {"script", "img", "source", "iframe", "video", "audio", "embed", "link"}


class Page(HTMLParser):
    def __init__(self, text):
        super().__init__()
        self.anchors = {""}
        self.links = []
        self.loaded = []
        self.feed(text)

    def handle_starttag(self, tag, attributes):
        for key, value in attributes:
            if key in ("id", "name") and value:
                self.anchors.add(value)
            if key in ("href", "src") and value is not None:
                self.links.append(value)
                if tag in LOADS and dict(attributes).get("rel") != "canonical":
                    self.loaded.append(value)


def check(folder):
    found = []
    # The page of a missing page is written for the root of a server.
    pages = {p.resolve(): Page(p.read_text()) for p in sorted(folder.rglob("*.html")) if p.name != "404.html"}
    if not pages:
        found.append(f"{folder}: no pages")
    for path, page in pages.items():
        name = path.relative_to(folder.resolve())
        found += [f"{name}: loads {url}" for url in page.loaded if urlsplit(url).scheme not in ("", "data")
                  or url.startswith("//")]
        for url in page.links:
            parts = urlsplit(url)
            if parts.scheme or parts.netloc:
                continue
            to = (path.parent / unquote(parts.path)).resolve() if parts.path else path
            to = to / "index.html" if to.is_dir() else to
            if not to.exists():
                found.append(f"{name}: no file {url}")
            elif parts.fragment and to in pages and unquote(parts.fragment) not in pages[to].anchors:
                found.append(f"{name}: no anchor {url}")
    for style in folder.rglob("*.css"):
        for url in re.findall(r"""(?:url\(|@import\s+)["']?((?:https?:)?//[^"')]+)""", style.read_text()):
            found.append(f"{style.relative_to(folder)}: loads {url}")
    return found


class Search:
    """The order in which the search shows pages and sections: that of lunr, which it uses (BM25 by fields), with the words
    that begin with what is asked, and Material's factors."""
    FIELDS = {"title": 1000.0, "text": 1.0}

    def __init__(self, index):
        self.docs, separator = index["docs"], re.compile(index["config"]["separator"])
        self.counts = {}  # word -> field -> document -> how often
        lengths = {}
        for k, doc in enumerate(self.docs):
            for field in self.FIELDS:
                words = [w for w in separator.split(re.sub(r"<[^>]*>", " ", doc[field]).lower()) if w]
                lengths[k, field] = len(words)
                for word in words:
                    one = self.counts.setdefault(word, {}).setdefault(field, {})
                    one[k] = one.get(k, 0) + 1
        self.words = sorted(self.counts)
        mean = {f: sum(lengths[k, f] for k in range(len(self.docs))) / max(1, len(self.docs)) for f in self.FIELDS}
        self.norm = {at: 1.2 * (0.25 + 0.75 * n / (mean[at[1]] or 1)) for at, n in lengths.items()}

    def __call__(self, asked):
        found = [w for w in self.words if w.startswith(asked.lower())]
        scores = {}
        for word in found:
            fields = self.counts[word]
            holding = len(set().union(*fields.values()))
            rare = math.log(1 + abs((len(self.docs) - holding + 0.5) / (holding + 0.5)))
            for field, counts in fields.items():
                for k, n in counts.items():
                    score = rare * 2.2 * n / (self.norm[k, field] + n)
                    score *= self.FIELDS[field] * self.docs[k].get("boost", 1)
                    scores[k] = scores.get(k, 0) + score
        for k in scores:
            scores[k] *= 2 if "#" in self.docs[k]["location"] else 5
        return [self.docs[k] for k in sorted(scores, key=scores.get, reverse=True)]


def functions(folder):
    """Each function's page is found first by its name, and its title is the call."""
    index = folder / "search/search_index.json"
    if not index.exists():
        return [f"{folder}: no index of the search"]
    index = json.loads(index.read_text())
    search, found = Search(index), []
    pages = [d for d in index["docs"] if re.fullmatch(r"function/(?!index\.)[\w/]+\.html", d["location"])]
    if "function/sort.html" not in {p["location"] for p in pages}:
        found.append("the function sort has no page")
    for page in pages:
        title = html.unescape(re.sub(r"<[^>]*>", "", page["title"]))
        name = Path(page["location"]).stem
        if not re.search(rf"\b{name}[<(]", title):
            found.append(f"{page['location']}: its title, {title}, is not how it is called")
        first = search(name)[:1]
        if not first or Path(first[0]["location"].partition("#")[0]).stem != name:
            found.append(f"the search for {name} finds {first[0]['location'] if first else 'nothing'} first")
    return found


def self_test():
    right = '<link rel="stylesheet" href="a.css"><h1 id="x">A</h1><a href="#x">x</a><a href="b.html#y">b</a>'
    faults = {"a dead link": ("b.html#y", "c.html"), "a dead anchor": ("#y", "#z"),
              "a dead anchor of its own": ('"#x"', '"#z"'),
              "a script from elsewhere": ("<h1", '<script src="https://example.org/a.js"></script><h1'),
              "a picture that is missing": ("<h1", '<img src="a.svg"><h1'),
              "a style from elsewhere": ('href="a.css"', 'href="//example.org/a.css"')}
    missed = []
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "a.css").write_text("p { background: url(data:image/png;base64,) }")
        (folder / "b.html").write_text('<p id="y"></p><a href="https://example.org">elsewhere</a>')
        (folder / "a.html").write_text(right)
        if check(folder):
            missed.append(f"a site that is right is refused: {check(folder)}")
        for fault, (old, new) in faults.items():
            (folder / "a.html").write_text(right.replace(old, new, 1))
            if not check(folder):
                missed.append(f"{fault} goes unnoticed")
        (folder / "a.html").write_text(right)
        (folder / "a.css").write_text("@import 'https://example.org/a.css';")
        if not check(folder):
            missed.append("an import of a style goes unnoticed")
        def docs(title, boost):
            return {"config": {"separator": r"[\s<>()`]+"}, "docs": [
                {"location": "function/sort.html", "title": title, "text": "", "boost": boost},
                {"location": "sorting.html", "title": "Sort", "text": "sort, sort and sort"},
                {"location": "other.html", "title": "Other", "text": "sort"}]}

        (folder / "search").mkdir()
        for fault, title, boost in (("", "<code>sort&lt;I&gt;(a)</code>", 30), ("a title that is no call", "sort", 30),
                                    ("a function that is not found first", "<code>sort&lt;I&gt;(a)</code>", 0.1)):
            text = json.dumps(docs(html.unescape(title).replace("<I>", "&lt;I&gt;"), boost))
            (folder / "search/search_index.json").write_text(text)
            if bool(functions(folder)) != bool(fault):
                missed.append(f"{fault} goes unnoticed" if fault else f"a search that is right is refused: {functions(folder)}")
        (folder / "search/search_index.json").write_text(text.replace("function/sort", "function/other"))
        if not functions(folder):
            missed.append("a function without a page goes unnoticed")
    return missed


def main():
    folder = Path(sys.argv[1])
    found = self_test() if sys.argv[1] == "--self-test" else check(folder) + functions(folder)
    for line in found:
        print(line, file=sys.stderr)
    sys.exit(1 if found else 0)


if __name__ == "__main__":
    main()
