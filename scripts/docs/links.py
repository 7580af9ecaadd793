"""Whether the links of the pages, and the files of this repository that they name, are there."""
import os
import re

FOLDERS = "Sources|Tests|Benchmarks|scripts|config|docs|examples"
NAMED_FILE = re.compile(rf"`((?:{FOLDERS}|Belfry[A-Z]\w+|belfry)/[\w./-]+|\w+\.(?:swift|lua))`")


def anchors(text):
    found = set()
    for heading in re.findall(r"(?m)^#+ (.*)$", text):
        plain = re.sub(r"[^\w\- ]", "", re.sub(r"\[([^]]*)\]\([^)]*\)", r"\1", heading)).lower()
        found.add(plain.replace(" ", "-"))
    return found


def pages(root):
    for folder in ("", "docs", "docs/decisions", "examples", "Benchmarks"):
        place = os.path.join(root, folder)
        for name in sorted(os.listdir(place)) if os.path.isdir(place) else []:
            if name.endswith(".md"):
                yield os.path.join(folder, name)


def read(path):
    with open(path, encoding="utf-8") as file:
        return file.read()


def is_there(root, path):
    """Whether there is such a file or folder; what begins with a module's name lies below Sources, a mere name anywhere."""
    if "/" in path:
        return any(os.path.exists(os.path.join(root, folder, path)) for folder in ("", "Sources", "Tests"))
    return any(path in files for folder in ("Sources", "Tests", "examples") for _, _, files in os.walk(os.path.join(root, folder)))


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
        # A decision names what there was when it was made.
        if not page.startswith("docs/decisions"):
            complaints += [f"{page}: no {path}" for path in NAMED_FILE.findall(text) if not is_there(root, path)]
    return complaints
