"""Everything unread, then what happens as it happens."""
import socket
import threading
from collections import deque
from collections.abc import Callable, Iterator
from random import random
from types import TracebackType
from typing import Protocol

from .errors import BelfryError
from .events import Connected, Disconnected, FeedEvent, Kicked, feed_event
from .http import Stream, hang_up
from .policy import ReconnectPolicy
from .server_sent_events import EVENT_BYTES_MAX, EventTooLong, Item, Position, Retry, ServerSentEvent, ServerSentEventParser


class StreamSource(Protocol):
    def open_feed(
        self, after: str | None, with_counts: bool, on_wire: Callable[[socket.socket], None]
    ) -> Stream: ...

    def forget_token(self, token: str) -> None: ...


class NotificationFeed(Iterator[FeedEvent]):
    """The events of one account's feed: an iterator, to be used by one thread, and a context manager.

    Reconnects by itself and goes on where it was: each notification comes once. The cursor moves when an event is handed
    out, and what arrived is handed out before a new connection is made, which so begins exactly behind it. No thread of its
    own: it reads while it is asked for the next event, and a slow loop makes the broker wait.
    """

    def __init__(
        self, source: StreamSource, after: str | None, with_counts: bool, policy: ReconnectPolicy,
        waits_for_broker: bool = False
    ):
        #: The place behind the last event that was handed out.
        self.cursor = after
        self._source, self._with_counts, self._policy = source, with_counts, policy
        self._stream: Stream | None = None
        # The socket of a connection whose answer is yet to come.
        self._wire: socket.socket | None = None
        self._parser = ServerSentEventParser()
        self._arrived: deque[Item] = deque()
        # What the client itself has to tell, after all that arrived.
        self._remarks: deque[FeedEvent] = deque()
        self._pause_seconds: float | None = None
        self._is_known_connected = False
        self._waits_for_broker = waits_for_broker
        # No answer at all, the first time, is more likely a wrong URL than a broker that will come.
        self._was_answered = False
        self._error: BelfryError | None = None
        self._has_ended = False
        self._closed = threading.Event()
        # Between the thread that opens a stream and the one that closes the feed.
        self._lock = threading.Lock()

    def __iter__(self) -> "NotificationFeed":
        return self

    def __next__(self) -> FeedEvent:
        while not self._closed.is_set():
            while self._arrived:
                event = self._take(self._arrived.popleft())
                if event is not None:
                    return event
            if self._remarks:
                return self._remarks.popleft()
            if self._has_ended:
                break
            self._advance()
        self._let_go()
        error, self._error = self._error, None
        if error is not None and not self._closed.is_set():
            raise error
        raise StopIteration

    def close(self) -> None:
        """Ends the feed. May be called by any thread; one that waits for the next event gets StopIteration."""
        with self._lock:
            self._closed.set()
            if self._stream is not None:
                self._stream.hang_up()
            elif self._wire is not None:
                hang_up(self._wire)

    def __enter__(self) -> "NotificationFeed":
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self.close()
        self._let_go()

    def __del__(self) -> None:
        self._let_go()

    def _let_go(self) -> None:
        with self._lock:
            stream, self._stream = self._stream, None
        if stream is not None:
            stream.close()

    def _advance(self) -> None:
        if self._pause_seconds is not None:
            pause, self._pause_seconds = self._pause_seconds, None
            self._closed.wait(pause)
        elif self._stream is None:
            self._connect()
        else:
            self._read(self._stream)

    def _connect(self) -> None:
        try:
            stream = self._source.open_feed(self.cursor, self._with_counts, self._note_wire)
        except BelfryError as error:
            self._failed(error)
            return
        finally:
            with self._lock:
                self._wire = None
        self._was_answered = True
        with self._lock:
            self._stream = stream
        # The last id outlives a connection: what has none of its own stands behind it.
        self._parser = ServerSentEventParser(self.cursor)
        if not self._is_known_connected:
            self._remarks.append(Connected())
        self._is_known_connected = True

    def _note_wire(self, wire: socket.socket) -> None:
        with self._lock:
            self._wire = wire
            if self._closed.is_set():
                hang_up(wire)

    def _read(self, stream: Stream) -> None:
        try:
            piece = stream.read()
        except BelfryError as error:
            self._failed(error)
            return
        if not piece:
            self._failed(BelfryError("transport", "the broker hung up"))
            return
        self._policy.heard()
        items: list[Item] = []
        try:
            self._parser.parse(piece, items)
        except EventTooLong:
            # Asked again, the broker would send the same line again.
            self._end(BelfryError("protocol", f"an event of the stream is longer than {EVENT_BYTES_MAX} bytes"))
        for item in items:
            self._arrived.append(item)
            if isinstance(item, Retry):
                self._policy.asked(item.seconds)
            elif isinstance(item, ServerSentEvent) and item.name == "kicked":
                event = feed_event(item)
                if isinstance(event, Kicked):
                    self._kicked(event, stream)
                    break

    def _kicked(self, event: Kicked, stream: Stream) -> None:
        self._let_go()
        self._is_known_connected = False
        if event.needs_token:
            self._source.forget_token(stream.token)
        if event.feed_returns:
            self._pause_seconds = self._policy.pause_after(None, random())
        else:
            self._end(None)

    def _failed(self, error: BelfryError) -> None:
        self._let_go()
        self._was_answered = self._was_answered or error.code != "transport"
        pause = self._policy.pause_after(error, random()) if self._was_answered or self._waits_for_broker else None
        if pause is None:
            self._end(error)
            return
        self._pause_seconds = pause
        self._is_known_connected = False
        self._remarks.append(Disconnected(error, pause))

    def _end(self, error: BelfryError | None) -> None:
        self._has_ended, self._error = True, error
        self._let_go()

    def _take(self, item: Item) -> FeedEvent | None:
        if isinstance(item, Position):
            self.cursor = item.id
        if not isinstance(item, ServerSentEvent):
            return None
        if item.id is not None:
            self.cursor = item.id
        return feed_event(item)
