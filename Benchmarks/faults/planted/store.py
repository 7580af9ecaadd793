"""Faults in the store: the library of functions is changed on its way to Redis, and the broker is as it is."""

import re

from ..machinery.proxy import Rewriter


class Missing(Exception):
    """The library has no such text any more: the plant has to follow it."""


class FunctionRewriter(Rewriter):
    """Commands on their way to Redis; only FUNCTION LOAD is changed."""

    def __init__(self, pattern: str, replacement: str, found: set):
        self._pattern, self._replacement, self._found = re.compile(pattern), replacement, found
        self._rest = b""

    def feed(self, piece: bytes) -> bytes:
        self._rest += piece
        out = []
        while (end := command_end(self._rest)) is not None:
            raw, self._rest = self._rest[:end], self._rest[end:]
            out.append(self._rewrite(raw) if raw[:64].upper().find(b"FUNCTION") >= 0 else raw)
        return b"".join(out)

    def _rewrite(self, raw: bytes) -> bytes:
        words = words_of(raw)
        if words[1].upper() != b"LOAD":
            return raw
        text, count = self._pattern.subn(self._replacement, words[-1].decode())
        self._found.add(count > 0)
        words[-1] = text.encode()
        return b"*%d\r\n" % len(words) + b"".join(b"$%d\r\n%s\r\n" % (len(word), word) for word in words)


def command_end(raw: bytes) -> int | None:
    """None where it has not arrived whole."""
    line = raw.find(b"\r\n")
    if line < 0:
        return None
    at = line + 2
    for _ in range(int(raw[1:line])):
        line = raw.find(b"\r\n", at)
        if line < 0:
            return None
        at = line + 2 + int(raw[at + 1 : line]) + 2
        if at > len(raw):
            return None
    return at


def words_of(raw: bytes) -> list[bytes]:
    line = raw.find(b"\r\n")
    at, words = line + 2, []
    for _ in range(int(raw[1:line])):
        line = raw.find(b"\r\n", at)
        length = int(raw[at + 1 : line])
        words.append(raw[line + 2 : line + 2 + length])
        at = line + 2 + length + 2
    return words
