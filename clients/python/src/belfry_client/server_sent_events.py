"""Reads a `text/event-stream` from whatever pieces the network delivers (WHATWG HTML, "Server-sent events")."""
import re
from dataclasses import dataclass

#: One line, and the data of one event. A notification at all its limits, every character of it escaped, stays under 200 KiB.
EVENT_BYTES_MAX = 1024 * 1024

_LINE_END = re.compile(rb"\r\n|\r|\n")


@dataclass(frozen=True)
class ServerSentEvent:
    name: str
    data: str
    #: The last one seen, in this event or before it.
    id: str | None


@dataclass(frozen=True)
class Position:
    """An id with no data: the place in the stream moves on, and there is nothing to say."""

    id: str


@dataclass(frozen=True)
class Retry:
    """What to wait before connecting again."""

    seconds: float


Item = ServerSentEvent | Position | Retry


class EventTooLong(Exception):
    """A line, or the data of one event, beyond the limit."""


class ServerSentEventParser:
    """Any bytes are a valid stream; only length can be wrong."""

    def __init__(self, last_id: str | None = None, limit: int = EVENT_BYTES_MAX):
        self._limit = limit
        self._line = bytearray()
        self._is_first_line = True
        # The last byte was CR, which ended a line at once: an LF that follows belongs to it.
        self._ended_by_cr = False
        self._name = ""
        self._data: list[bytes] = []
        self._data_bytes = 0
        self._last_id = last_id
        self._has_new_id = False

    def parse(self, piece: bytes, into: list[Item]) -> None:
        """Appends what the piece completes. Of one that is too long, what was complete before is appended all the same."""
        if self._ended_by_cr and piece[:1] == b"\n":
            piece = piece[1:]
        if not piece:
            self._ended_by_cr = False
            return
        self._ended_by_cr = piece.endswith(b"\r")
        *ended, rest = _LINE_END.split(piece)
        for part in ended:
            self._extend(part)
            line = bytes(self._line)
            self._line.clear()
            if self._is_first_line:
                line = line.removeprefix(b"\xef\xbb\xbf")
            self._is_first_line = False
            if line:
                self._read_field(line, into)
            else:
                self._dispatch(into)
        self._extend(rest)

    def _extend(self, part: bytes) -> None:
        if len(self._line) + len(part) > self._limit:
            raise EventTooLong
        self._line += part

    def _read_field(self, line: bytes, into: list[Item]) -> None:
        name, _, value = line.partition(b":")
        value = value.removeprefix(b" ")
        if name == b"event":
            self._name = value.decode(errors="replace")
        elif name == b"data":
            self._data_bytes += len(value) + 1
            if self._data_bytes > self._limit + 1:
                raise EventTooLong
            self._data.append(value)
        elif name == b"id" and b"\0" not in value:
            self._last_id = value.decode(errors="replace")
            self._has_new_id = True
        elif name == b"retry" and value.isdigit():
            # Twelve digits are thirty years.
            into.append(Retry(int(value[:12]) / 1000))

    def _dispatch(self, into: list[Item]) -> None:
        if self._data:
            data = b"\n".join(self._data).decode(errors="replace")
            into.append(ServerSentEvent(self._name or "message", data, self._last_id))
        elif self._has_new_id and self._last_id is not None:
            into.append(Position(self._last_id))
        self._name = ""
        self._data, self._data_bytes = [], 0
        self._has_new_id = False
