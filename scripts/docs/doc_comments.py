"""The Swift examples in the doc comments of the library that programs import, and its public types that have none."""
import glob
import os
import re
import tempfile

import swift
from blocks import blocks

# The library, and the module whose types `import BelfryClient` brings along.
FOLDERS = ["Sources/BelfryClient", "Sources/BelfryModel"]
SURROUNDINGS = os.path.join(os.path.dirname(os.path.abspath(__file__)), "doc_comments.swift")

COMMENT = re.compile(r"\s*///(?: (.*))?$")
TYPE = re.compile(r"\s*public (?:indirect |final )?(?:struct|enum|class|actor|protocol) (\w+)")


def examples(name, text):
    """The Swift blocks of a source's doc comments. Lines keep their numbers, so that errors name the line of the source."""
    comments = (COMMENT.match(line) for line in text.split("\n"))
    markdown = "\n".join((comment.group(1) or "") if comment else "" for comment in comments)
    return [block for block in blocks(name, markdown) if block.language == "swift"]


def types_without_example(name, text):
    """The public types whose doc comment has no Swift block, each with its place."""
    found, comment = [], []
    for number, line in enumerate(text.split("\n"), 1):
        declared = TYPE.match(line)
        if declared and not any(each.strip() == "/// ```swift" for each in comment):
            found.append(f"{name}:{number}: {declared.group(1)}")
        if COMMENT.match(line):
            comment.append(line)
        elif not line.lstrip().startswith("@"):
            comment = []
    return found


def sources(root):
    """The Swift sources of the library: their paths below the root, and their texts."""
    for folder in FOLDERS:
        for path in sorted(glob.glob(os.path.join(root, folder, "**", "*.swift"), recursive=True)):
            with open(path, encoding="utf-8") as file:
                yield os.path.relpath(path, root), file.read()


def check(root):
    """Compiles all examples as one file. Returns how many there are, and what is wrong."""
    found, wrong = [], []
    for name, text in sources(root):
        found += examples(name, text)
        wrong += [f"{each} is public and has no example" for each in types_without_example(name, text)]
    with open(SURROUNDINGS, encoding="utf-8") as file:
        program = swift.examples_program(found, file.read())
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "examples.swift")
        with open(path, "w", encoding="utf-8") as file:
            file.write(program)
        try:
            swift.compile_source(root, os.path.join(root, ".build", "debug"), path, os.path.join(folder, "examples.o"))
        except swift.SwiftError as error:
            wrong.append(f"examples in doc comments do not compile:\n{error}")
    return len(found), wrong
