"""Anchors of headings as GitHub makes them, so that one link serves there and in the site."""
import re


def github(text, separator="-"):
    return re.sub(r"[^\w\- ]", "", text.lower()).replace(" ", separator)
