"""Redis's append-only file, read and cut short while Redis is down."""

import re
from dataclasses import dataclass
from pathlib import Path

EPOCH_MILLISECONDS = 1_704_067_200_000


@dataclass
class Lost:
    """What a cut took away."""

    bytes: int
    commands: int


class AppendOnlyFile:
    """The part of it that grows; the base that a rewrite made is left alone."""

    def __init__(self, folder: Path):
        self.folder = folder / "appendonlydir"

    @property
    def path(self) -> Path:
        return max(self.folder.glob("*.incr.aof"), key=lambda path: int(path.name.split(".")[-3]))

    def size(self) -> int:
        return self.path.stat().st_size

    def cut(self, size: int) -> Lost:
        """At the last command at or before `size` that is not inside a transaction."""
        raw = self.path.read_bytes()
        boundary, depth, commands = 0, 0, 0
        for end, words in parse(raw):
            name = words[0].upper()
            depth += (name == b"MULTI") - (name == b"EXEC")
            if depth == 0 and end <= size:
                boundary = end
            elif end > size:
                commands += 1
        with self.path.open("r+b") as file:
            file.truncate(boundary)
        return Lost(len(raw) - boundary, commands)

    def ids(self) -> set[str]:
        """Of all notifications whose append is in the file."""
        found = set()
        for _, words in parse(self.path.read_bytes()):
            if words[0].upper() == b"XADD":
                for word in words[2:6]:
                    if match := re.fullmatch(rb"(\d+)-(\d+)", word):
                        found.add(message_id(int(match[1]), int(match[2])))
                        break
        return found


def message_id(milliseconds: int, sequence: int) -> str:
    return str((milliseconds - EPOCH_MILLISECONDS) << 22 | sequence)


def parse(raw: bytes):
    """Each command with where it ends. A cut one at the end is left out, as Redis does."""
    at = 0
    while at < len(raw):
        try:
            if raw[at : at + 1] == b"#":
                at = raw.index(b"\r\n", at) + 2
                continue
            line = raw.index(b"\r\n", at)
            count = int(raw[at + 1 : line])
            here, words = line + 2, []
            for _ in range(count):
                line = raw.index(b"\r\n", here)
                length = int(raw[here + 1 : line])
                words.append(raw[line + 2 : line + 2 + length])
                here = line + 2 + length + 2
        except ValueError:
            return
        if here > len(raw):
            return
        yield here, words
        at = here
