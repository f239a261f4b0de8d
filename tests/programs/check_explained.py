#!/usr/bin/env python3
"""Compares what program_explains writes with what its plans say.

usage: check_explained.py PROGRAM FOLDER

The JSON files must be JSON with the plans' own totals; the pages must be well-formed, hold one picture with
every step in it, and refer to nothing outside.
"""
import json
import os
import re
import subprocess
import sys
import xml.etree.ElementTree as xml

SVG = "{http://www.w3.org/2000/svg}"


def check_json(plan, line, text):
    """What is wrong with a plan as JSON, beside the plan's own numbers and its text."""
    size, collectives, sent, messages, flops, peak, seconds = line
    totals, steps = plan["totals"], plan["steps"]
    wants = [("steps", len(steps), int(size)),
             ("collectives", totals["collectives"], int(collectives)),
             ("bytes_per_rank", totals["bytes_per_rank"], int(sent)),
             ("messages", totals["messages"], int(messages)),
             ("flops", totals["flops"], int(flops)),
             ("peak_bytes", totals["peak_bytes"], int(peak)),
             ("sum of messages", sum(s["messages"] for s in steps), int(messages)),
             ("sum of flops", sum(s["flops"] for s in steps), int(flops)),
             ("collectives among the steps", sum(s["collective"] is not None for s in steps),
              int(collectives)),
             ("most live bytes", max((s["live_bytes"] for s in steps), default=0), int(peak))]
    for name, is_, want in wants:
        if is_ != want:
            yield f"{name} is {is_}, not {want}"
    for name, is_ in [("predicted_seconds", totals["predicted_seconds"]),
                      ("their sum", sum(s["predicted_seconds"] for s in steps))]:
        if abs(is_ - float(seconds)) > 1e-6 * float(seconds):
            yield f"{name} is {is_}, not {seconds}"
    bound, gap = totals["bound_seconds"], totals["gap"]
    if (gap is None) != (bound is None or not plan["possible"]):
        yield f"bound_seconds is {bound}, gap {gap}"
    if gap is not None:
        if not 0 <= gap < 1 or totals["predicted_seconds"] * (1 - gap) > bound * (1 + 1e-9):
            yield f"gap is {gap} with {bound} s of {totals['predicted_seconds']} s"
        proof = "optimal" if gap <= 1e-9 else "of the best possible"
        if not re.search(f" predicted, .*{proof}\n", text):
            yield f"the text does not say {proof}"
    if sum(s["bytes"] for s in steps) < int(sent):
        yield "the steps send less than all together"
    for k, s in enumerate(steps):
        if s["step"] != k or any(m >= k for m in s["inputs"]):
            yield f"step {k} is {s['step']} and reads {s['inputs']}"
        if s["kind"] != "given" and s["text"] not in text:
            yield f"the text does not say {s['text']}"
        if s["before"] is not None and s["before"] != steps[s["inputs"][0]]["after"]:
            yield f"step {k} begins with {s['before']}, which its operand is not"
        if (s["collective"] is not None) != (s["kind"] == "collective") or \
                (s["collective"] is not None) != bool(s["axes"] and s["messages"]):
            yield f"step {k}: {s['kind']}, {s['collective']}, over {s['axes']}"


def check_page(page, plan):
    """What is wrong with a page."""
    if re.search(r"<script|src=|href=|@import|url\((?!#)", page):
        yield "refers to something outside"
    try:
        root = xml.fromstring(page.split("\n", 1)[1])
    except xml.ParseError as fault:
        yield f"is not well-formed: {fault}"
        return
    if not plan["possible"]:
        return
    pictures = [p for p in root.iter(SVG + "svg") if p.get("aria-label") == "the plan as a picture"]
    if len(pictures) != 1:
        yield f"has {len(pictures)} pictures"
        return
    def written(text):
        return text.replace("\x01", "\ufffd")

    titles = sorted(t.text for t in pictures[0].iter(SVG + "title"))
    if titles != sorted(written(s["text"]) for s in plan["steps"]):
        yield f"the picture's values are {titles}"
    words = ["".join(t.itertext()) for t in pictures[0].iter(SVG + "text")]
    run = [s for s in plan["steps"] if s["kind"] != "given"]
    for number, s in enumerate(run, 1):
        what = (s["collective"] + " " + ",".join(s["axes"])) if s["collective"] else s["kind"]
        if written(what) not in words or str(number) not in words:
            yield f"the picture does not name step {number}, {what}"
    rows = list(root.iter("tbody"))[0].findall("tr")
    if len(rows) != len(run):
        yield f"the table has {len(rows)} rows for {len(run)} steps"
    arrows = [p for p in pictures[0].iter(SVG + "path") if p.get("marker-end")]
    if len(arrows) != sum(len(s["inputs"]) for s in run):
        yield f"the picture has {len(arrows)} arrows"
    # cards do not lie on each other, nor outside
    width, height = int(pictures[0].get("width")), int(pictures[0].get("height"))
    cards = [[int(r.get(a)) for a in ("x", "y", "width", "height")]
             for r in pictures[0].iter(SVG + "rect") if r.get("class", "").split()[:1] == ["card"]]
    for k, (x, y, w, h) in enumerate(cards):
        if x < 0 or y < 0 or x + w > width or y + h > height:
            yield f"card {k} is outside"
        for x2, y2, w2, h2 in cards[:k]:
            if x < x2 + w2 and x2 < x + w and y < y2 + h2 and y2 < y + h:
                yield f"card {k} lies on another"


def main():
    program, folder = sys.argv[1:]
    os.makedirs(folder, exist_ok=True)
    nowhere = os.path.join(folder, "nowhere", "plan.html")
    run = subprocess.run([program, folder, nowhere], capture_output=True, text=True)
    faults = []
    if "came to its end" not in run.stdout:
        faults.append(f"ended with status {run.returncode}")
    elif f"[shardtype E72] cannot write {nowhere}: No such file" not in run.stderr:
        faults.append(f"a page that cannot be written: {run.stderr}")
    lines = [line.split() for line in run.stdout.splitlines() if len(line.split()) == 8]
    if [line[0] for line in lines] != ["chain", "impossible", "product", "tree", "scalar"]:
        faults.append(f"wrote {lines}")
    for name, *line in lines:
        def read(kind):
            with open(os.path.join(folder, f"{name}.{kind}"), encoding="utf-8", newline="") as file:
                return file.read()
        try:
            plan = json.loads(read("json"))
        except json.JSONDecodeError as fault:
            faults.append(f"{name}.json: {fault}")
            continue
        if plan["possible"] != (name != "impossible"):
            faults.append(f"{name}: possible is {plan['possible']}")
        faults += [f"{name}.json: {fault}" for fault in check_json(plan, line, read("txt"))]
        faults += [f"{name}.html: {fault}" for fault in check_page(read("html"), plan)]
        if name == "chain":
            if [(a["name"], a["size"], a["latency"]) for a in plan["axes"]] != [
                    ("X", 2, 2e-6), ("Y", 4, 1e-5)] or plan["labels"][0] != {"name": "I",
                                                                            "extent": 8193}:
                faults.append(f"{name}.json: {plan['axes']}, {plan['labels']}")
        if name == "tree" and 'a "b" <c> & \\d\n\x01' not in [a["name"] for a in plan["axes"]]:
            faults.append(f"{name}.json: {plan['axes']}")
        if name == "product" and not 1 <= plan["totals"]["lower_bound_ratio"] < 10:
            faults.append(f"{name}.json: {plan['totals']}")
    for fault in faults:
        print(f"FAULT: {fault}")
    print(f"{len(lines)} plans")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
