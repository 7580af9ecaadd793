"""Finds sentences that are hard to read: they begin with a relative clause or a loose preposition, or use a word that makes readers
stop. Pure functions, tested by scripts/docs/test_voice.py. It is a measure, not a verdict: read the sentence aloud."""
import re

from swift_texts import is_sentence, read_literals

OPENINGS = re.compile(r"^(What|Whatever|Who|Whoever|Whom|Whose|Where|Wherever|Of|By)\b(?!.*\?$)")
WORDS = re.compile(
    r"\b(whoever|whatever|whichever|wherever|anew|beside|besides|by then|stands? in for|nobody else's|of which|to whom|thereby"
    r"|therein|hereby)\b", re.IGNORECASE)
COMMENT_MARKS = {"swift": r"///?", "lua": r"--", "c": r"//", "h": r"//"}


def comment_runs(path, text):
    """The comments of a file of code: consecutive lines are one text, and each item of a list is one."""
    mark = COMMENT_MARKS[path.rsplit(".", 1)[-1]]
    runs, run = [], []
    for line in text.splitlines() + [""]:
        found = re.match(rf"\s*{mark}(?!!)\s?(.*)$", line)
        words = found.group(1).strip() if found else None
        if words is not None and not words.startswith(("swift-format", "- ", "|", "```")):
            run.append(words)
            continue
        if run:
            runs.append(" ".join(run))
        run = [words[2:].strip()] if words is not None and words.startswith("- ") else []
    return runs


def document_runs(text):
    """The paragraphs, items and cells of a page, without its blocks of code, comments and headings."""
    text = re.sub(r"```.*?```|<!--.*?-->", "", text, flags=re.DOTALL)
    text = re.sub(r"(?m)^#.*$", "", text)
    parts = (part for block in text.split("\n\n") for part in re.split(r"\n(?=[-*|\d])|\s\|\s|^\|", block))
    return [re.sub(r"\s+", " ", part) for part in parts if part.strip(" |-")]


def user_texts(text):
    """The string literals of Swift source that are sentences."""
    return [re.sub(r"\s+", " ", literal.text) for literal in read_literals(text) if is_sentence(literal.text)]


def runs_of(path, text, kind):
    if kind == "texts":
        return user_texts(text)
    return comment_runs(path, text) if kind == "comments" else document_runs(text)


def sentences(runs):
    for run in runs:
        for sentence in re.split(r"(?<=[.!?:;])\s+(?=[A-Z`(])", run):
            sentence = sentence.strip(" |*#>-")
            if len(sentence.split()) >= 3:
                yield sentence


def hard_sentences(runs):
    """A sentence with both faults counts twice, as a sentence with two faults is twice as hard."""
    found = []
    for sentence in sentences(runs):
        found += [sentence] * (bool(OPENINGS.match(sentence)) + bool(WORDS.search(sentence)))
    return found


def verdict(kind, count, ceiling):
    """What to say about a count, and whether it fails."""
    if count > ceiling:
        return f"{kind}: {count} hard sentences, and {ceiling} is the ceiling. Rewrite what you added:", True
    if count < ceiling:
        return f"{kind}: {count} hard sentences. Lower the ceiling of {ceiling} in scripts/shared/voice-ceilings.json to {count}", False
    return "", False
