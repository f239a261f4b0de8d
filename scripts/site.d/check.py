#!/usr/bin/env python3
"""Links of a built site: to pages, files and anchors that exist; nothing is loaded from elsewhere.

usage: check.py FOLDER | --self-test
"""
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
    return missed


def main():
    found = self_test() if sys.argv[1] == "--self-test" else check(Path(sys.argv[1]))
    for line in found:
        print(line, file=sys.stderr)
    sys.exit(1 if found else 0)


if __name__ == "__main__":
    main()
