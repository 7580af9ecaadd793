"""Faults on the way out: streams of which an event is dropped, repeated, put in another order or sent elsewhere."""

from typing import Callable

from ..machinery.proxy import Rewriter

Change = Callable[[bytes], list[bytes]]
EVERY = 15


class StreamRewriter(Rewriter):
    """Events of a stream, one after the other. Other answers pass as they are."""

    def __init__(self, change: Change):
        self._change = change
        self._is_stream: bool | None = None
        self._is_chunked = False
        self._raw = b""
        self._text = b""

    def feed(self, piece: bytes) -> bytes:
        if self._is_stream is False:
            return piece
        self._raw += piece
        head = b""
        if self._is_stream is None:
            end = self._raw.find(b"\r\n\r\n")
            if end < 0:
                return b""
            head, self._raw = self._raw[: end + 4], self._raw[end + 4 :]
            self._is_stream = b"text/event-stream" in head
            self._is_chunked = b"chunked" in head.lower()
            if not self._is_stream:
                rest, self._raw = self._raw, b""
                return head + rest
        self._text += self._unchunk() if self._is_chunked else self._take_raw()
        *whole, self._text = self._text.split(b"\n\n")
        out = b"".join(event + b"\n\n" for one in whole for event in self._change(one))
        if not out:
            return head
        return head + (b"%x\r\n%s\r\n" % (len(out), out) if self._is_chunked else out)

    def _take_raw(self) -> bytes:
        raw, self._raw = self._raw, b""
        return raw

    def _unchunk(self) -> bytes:
        text = b""
        while (line := self._raw.find(b"\r\n")) >= 0:
            size = int(self._raw[:line].split(b";")[0], 16)
            if len(self._raw) < line + 2 + size + 2:
                break
            text += self._raw[line + 2 : line + 2 + size]
            self._raw = self._raw[line + 2 + size + 2 :]
        return text


def is_custom(event: bytes) -> bool:
    return event.startswith(b"event: notification") and b'"type":100' in event


class NowAndThen:
    """Every so many events of a kind, over all streams."""

    def __init__(self, every: int = EVERY):
        self.count, self.every = 0, every

    def is_time(self) -> bool:
        self.count += 1
        return self.count % self.every == 0


def dropping() -> Callable[[], Change]:
    when = NowAndThen()
    return lambda: lambda event: [] if is_custom(event) and when.is_time() else [event]


def doubling() -> Callable[[], Change]:
    when = NowAndThen()
    return lambda: lambda event: [event, event] if is_custom(event) and when.is_time() else [event]


def dropping_events(name: bytes) -> Callable[[], Change]:
    return lambda: lambda event: [] if event.startswith(b"event: " + name) else [event]


def reordering() -> Callable[[], Change]:
    """One is held back until the next has passed."""
    when = NowAndThen()

    def make() -> Change:
        held: list[bytes] = []

        def change(event: bytes) -> list[bytes]:
            if not is_custom(event):
                return [event]
            if held:
                return [event, held.pop()]
            if when.is_time():
                held.append(event)
                return []
            return [event]

        return change

    return make


def misdirecting() -> Callable[[], Change]:
    """What is for some accounts by name is put into the next stream that has something to say."""
    astray: list[bytes] = []
    when = NowAndThen()

    def make() -> Change:
        own: set[bytes] = set()

        def change(event: bytes) -> list[bytes]:
            if is_custom(event) and b"toAccids" in event:
                own.add(event)
                if when.is_time():
                    astray.append(event)
                return [event]
            if astray and astray[0] not in own:
                return [event, astray.pop()]
            return [event]

        return change

    return make
