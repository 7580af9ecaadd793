"""Reads the string literals of Swift source. Pure functions, tested by scripts/docs/test_voice.py."""
import collections
import re

# `line` counts from 1. `before` is the source in front of the literal, up to the literal before it.
Literal = collections.namedtuple("Literal", "line text before")
# All between these is skipped at once: character by character it takes seconds.
_MARKS = re.compile(r'//|/\*|#+"|"')
_PLAIN = re.compile(r'[^"\\]+')


def _interpolation_end(source, at):
    """The index after the parenthesis that closes the interpolation whose content begins at `at`."""
    depth = 1
    while at < len(source) and depth:
        if source[at] == '"':
            at = _literal_end(source, at)[1]
            continue
        depth += {"(": 1, ")": -1}.get(source[at], 0)
        at += 1
    return at


def _literal_end(source, at):
    """The text of the literal that begins at `at`, and the index after it. Interpolations stay as they are."""
    mark = '"""' if source.startswith('"""', at) else '"'
    at += len(mark)
    text = ""
    while at < len(source) and not source.startswith(mark, at):
        if source.startswith("\\(", at):
            end = _interpolation_end(source, at + 2)
            text += re.sub(r"\s+", " ", source[at:end])
            at = end
        elif source[at] == "\\":
            # A line that ends with a backslash goes on in the next one.
            text += {"n": "\n", "\n": " ", '"': '"', "\\": "\\", "t": "\t"}.get(source[at + 1:at + 2], "")
            at += 2
        else:
            plain = _PLAIN.match(source, at)
            text += plain.group() if plain else source[at]
            at = plain.end() if plain else at + 1
    return text, at + len(mark)


def read_literals(source):
    """The literals of a file in their order. Literals that `+` joins are one, on the line of the first."""
    found = []
    at = begin = 0
    while mark := _MARKS.search(source, at):
        at = mark.start()
        if mark.group() == "//":
            at = source.find("\n", at) if "\n" in source[at:] else len(source)
        elif mark.group() == "/*":
            at = source.find("*/", at) + 2 if "*/" in source[at:] else len(source)
        elif mark.group() != '"':
            # A raw literal is a pattern or JSON, not a text.
            signs = mark.group()[:-1]
            at = source.index('"' + signs, at + len(signs) + 1) + 1 + len(signs)
        else:
            text, end = _literal_end(source, at)
            between = re.sub(r"//.*", "", source[begin:at])
            if found and between.strip() == "+":
                found[-1] = found[-1]._replace(text=found[-1].text + text)
            else:
                found.append(Literal(source.count("\n", 0, at) + 1, text, between))
            begin = at = end
    return found


def is_sentence(text):
    """True if people read it: three words or more, interpolations aside, none of them a command to Redis."""
    words = re.findall(r"[A-Za-z][a-z'’-]*[a-z]\b|\b[aAI]\b", re.sub(r"\\\((?:[^()]|\([^()]*\))*\)", "", text))
    return len(words) >= 3 and " " in text.strip()
