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


def _words(text):
    """The words that people read: not interpolations, and not commands to Redis."""
    return re.findall(r"[A-Za-z][a-z'’-]*[a-z]\b|\b[aAI]\b", re.sub(r"\\\((?:[^()]|\([^()]*\))*\)", "", text))


def is_sentence(text):
    """True if it has three words or more, so that people read it wherever it stands."""
    return len(_words(text)) >= 3 and " " in text.strip()


# The first kind whose patterns match the file and the source in front of the literal.
KINDS = [
    ("metrics", r"Serving/Metrics\.swift$", r""),
    ("log lines", r"", r"\bLog\.line\($|\blog\w*\($|\breport\((?:[^()]|\([^()]*\))*$|\bonFailure:$"),
    ("help", r"belfry/Commands/", r"\bdetail:$"),
    ("refusals", r"", r"\b(Refusal|InvalidField|invalidField|refus\w*|RefusedRequest)\([^\n]*$|\bdetail:$|Refusal\([^)]*$"),
    ("refusals", r"BelfryInterface/Problem\.swift$|BelfryInterface/Declaring/Kind\.swift$", r""),
    ("errors", r"", r"Error\([^)]*$|\bcause:$|\bsuggestion:$|StartError|\.refused\([^)]*$"),
    ("operations and fields", r"BelfryInterface/", r""),
    ("notifications", r"Printing/(Sentence|FactText|NotificationSentence|NotificationText)|BelfryModel/(Catalogue|Sending/Words)", r""),
    ("help", r"belfry/(Commands|CommandLine|Shell)/", r""),
    ("output", r"belfry/", r""),
    ("settings", r"BelfryServer/Configuration/", r""),
    ("other", r"", r""),
]


def _kind_of(path, before):
    for kind, in_path, in_front in KINDS:
        if re.search(in_path, path) and re.search(in_front, before.rstrip()[-160:] if in_front else ""):
            return kind
    return "other"


# The first words of short texts that people read.
_ARTICLES = ("a", "an", "the", "its", "when", "whether")


def _is_text(text, kind):
    """True if people read it: a sentence; an event of the log of one word or more; a refusal of two words; a thing with its article,
    such as `the members`."""
    if is_sentence(text):
        return True
    words = _words(text)
    if kind == "log lines":
        return bool(words)
    return len(words) >= 2 and " " in text.strip() and (kind in ("refusals", "errors") or words[0].lower() in _ARTICLES)


def texts_of(path, source):
    """The texts of a file that users read: each as kind, line and words."""
    kind = "other"
    for literal in read_literals(source):
        # After a lone colon it is the other branch of a condition, and of the kind of the first one.
        kind = kind if literal.before.strip() == ":" else _kind_of(path, literal.before)
        if _is_text(literal.text, kind):
            yield kind, literal.line, re.sub(r"\s*\n\s*", " ⏎ ", literal.text.strip())
