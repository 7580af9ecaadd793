"""Whether the links of the pages, and the paths that the README and CONTRIBUTING name, lead somewhere."""
import os
import re

NAMED_PATHS = ("README.md", "CONTRIBUTING.md")


def anchors(text):
    found = set()
    for heading in re.findall(r"(?m)^#+ (.*)$", text):
        plain = re.sub(r"[^\w\- ]", "", re.sub(r"\[([^]]*)\]\([^)]*\)", r"\1", heading)).lower()
        found.add(plain.replace(" ", "-"))
    return found


def pages(root):
    for folder in ("", "docs", "docs/decisions", "examples"):
        place = os.path.join(root, folder)
        for name in sorted(os.listdir(place)) if os.path.isdir(place) else []:
            if name.endswith(".md"):
                yield os.path.join(folder, name)


def read(path):
    with open(path, encoding="utf-8") as file:
        return file.read()


def wrong(root):
    complaints = []
    for page in pages(root):
        text = re.sub(r"(?ms)^```.*?^```", "", read(os.path.join(root, page)))
        for target in re.findall(r"\]\(([^)\s]+)\)", text):
            path, _, anchor = target.partition("#")
            if re.match(r"[a-z]+:", path):
                continue
            place = os.path.normpath(os.path.join(root, os.path.dirname(page), path)) if path else os.path.join(root, page)
            if not os.path.exists(place):
                complaints.append(f"{page}: no {target}")
            elif anchor and anchor not in anchors(read(place)):
                complaints.append(f"{page}: no heading for {target}")
        if page in NAMED_PATHS:
            for path in re.findall(r"`((?:Sources|Tests|scripts|config|docs|examples)/[\w./-]+)", text):
                if not os.path.exists(os.path.join(root, path)):
                    complaints.append(f"{page}: no {path}")
    return complaints
