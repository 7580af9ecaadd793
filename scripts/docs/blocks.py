"""The blocks of a page of Markdown, in order."""
import dataclasses
import re


@dataclasses.dataclass
class Block:
    page: str
    line: int           # of the first line of its content, from 1
    language: str       # "redis" for an indented transcript, "" for other indented text
    words: list         # what follows the language
    text: str
    not_run: str = ""   # why it is not run, from the comment before it

    def __str__(self):
        return f"{self.page}:{self.line}"


class PageError(Exception):
    pass


NOT_RUN = re.compile(r"<!--\s*not run:\s*(.*?)\s*-->", re.DOTALL)


def blocks(page, text):
    found, lines, index, reason, after_blank = [], text.split("\n"), 0, "", True
    while index < len(lines):
        line = lines[index]
        fence = re.match(r"( {0,3})```(.*)$", line)
        if line.startswith("<!--"):
            end = index
            while "-->" not in lines[end]:
                end += 1
            comment = NOT_RUN.search("\n".join(lines[index:end + 1]))
            reason = " ".join(comment.group(1).split()) if comment else ""
            index = end + 1
            continue
        if fence:
            words, start = fence.group(2).split(), index + 1
            index = start
            while index < len(lines) and lines[index].strip() != "```":
                index += 1
            content = "\n".join(one.removeprefix(fence.group(1)) for one in lines[start:index])
            found.append(Block(page, start + 1, words[0] if words else "", words[1:], content, reason))
            reason = ""
        elif line.startswith("    ") and after_blank:
            start = index
            while index + 1 < len(lines) and (lines[index + 1].startswith("    ") or (
                    not lines[index + 1].strip() and index + 2 < len(lines) and lines[index + 2].startswith("    "))):
                index += 1
            content = "\n".join(one[4:] for one in lines[start:index + 1])
            found.append(Block(page, start + 1, "redis" if content.startswith("> ") else "", [], content, reason))
            reason = ""
        elif line.strip():
            reason = ""
        after_blank = not line.strip()
        index += 1
    return found


def transcript(text, prompt):
    """The commands of a transcript, each with the lines that follow it."""
    steps = []
    for line in text.split("\n"):
        if line.startswith(prompt):
            steps.append((line.removeprefix(prompt), []))
        elif steps and steps[-1][0].endswith("\\"):
            steps[-1] = (steps[-1][0] + "\n" + line, [])
        elif steps:
            steps[-1][1].append(line)
        elif line.strip():
            raise PageError(f"a transcript begins with {prompt!r}")
    return [(command, [line for line in lines if line.strip()]) for command, lines in steps]
