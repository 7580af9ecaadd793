"""The client: sending, receiving, marking read, subscribing."""
import json
import socket
import ssl
import uuid
from collections.abc import Callable, Iterable, Mapping, Sequence
from types import TracebackType
from typing import Any, TypeVar, cast

from .errors import BelfryError, refusal
from .feed import NotificationFeed
from .http import Request, Stream, Timing, Transport
from .policy import ReconnectPolicy
from .tokens import TokenProvider, TokenStore, is_header_value
from .types import NewNotification, Notification, Preference, ReadItem, SendReceipt, UnreadCounts, UnreadPage

#: Above every id: `mark_read_up_to(LAST_MESSAGE_ID)` marks everything there is.
LAST_MESSAGE_ID = str(2**63 - 1)

_NOTIFICATIONS = "/v1/notifications"

_Each = TypeVar("_Each")


class BelfryClient:
    """Talks to a broker. Any thread may use it at any time; each feed is one thread's."""

    #: How often a request is tried before its error is raised.
    attempts_limit = 3

    def __init__(
        self, url: str, token: str | TokenProvider, *, account: str | None = None, device: str | None = None,
        ssl_context: ssl.SSLContext | None = None
    ):
        """`token` may be a function: it is called for the first request, half a minute before the token that it gave
        expires, and when that is refused. `account` is whom to act for, with an app or operator token; `device` is the
        device that acts, when the token does not name it."""
        headers: dict[str, str] = {}
        for header, name, value in (("Belfry-Account", "account", account), ("Belfry-Device", "device", device)):
            if value is None:
                continue
            if not is_header_value(value):
                raise ValueError(f"{name} must be visible ASCII characters, not {value!r}")
            headers[header] = value
        self._tokens = TokenStore(token)
        self._transport = Transport(url, self._tokens, headers, Timing(), ssl_context)

    def close(self) -> None:
        """Lets go of the connections that are kept for the next request. Feeds are closed by themselves."""
        self._transport.close()

    def __enter__(self) -> "BelfryClient":
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self.close()

    # Sending

    def send(self, notification: NewNotification) -> SendReceipt:
        """Sends a notification once, whatever happens to the answers on the way: without a `messageClientId` it is given
        one, so that all tries are one send. `message_client_id` of an error tells it."""
        return self._send(notification, _NOTIFICATIONS)

    def resend(self, notification: NewNotification) -> SendReceipt:
        """Sends a notification whose first send may or may not have arrived. Needs the `messageClientId` of that."""
        return self._send(notification, f"{_NOTIFICATIONS}/resend", makes_id=False)

    def send_batch(self, notifications: Iterable[NewNotification]) -> list[SendReceipt | BelfryError]:
        """Sends up to 1,000 in one request. One result each, in the same order; a refused one does not hold up the others.

        Those without a `messageClientId` are given one, and the errors tell it: send again, after a pause, those that are
        `may_pass`. If the batch fails as a whole, send the error's `notifications` again. In what order they arrive is not
        promised."""
        identified = [_identified(each) for each in _list_of(notifications)]
        if not identified:
            return []
        lines = b"".join(_encoded(each) + b"\n" for each in identified)
        request = Request(
            "POST", f"{_NOTIFICATIONS}/batch", headers={"Content-Type": "application/x-ndjson"}, body=lines,
            is_repeatable=True)
        try:
            answers = self._transport.ask(request, self.attempts_limit).splitlines()
        except BelfryError as error:
            error.notifications = [dict(each) for each in identified]
            raise
        if len(answers) != len(identified):
            raise BelfryError(
                "protocol",
                f"{len(identified)} notifications were sent, but {len(answers)} results came back: "
                "check what arrived before you send again")
        return [_batch_result(line, sent) for line, sent in zip(answers, identified)]

    def update(
        self, message_server_id: str, *, body: str | None = None, ext: str | None = None, status: int | None = None
    ) -> Notification:
        """Changes a notification that was sent. None leaves a field as it is."""
        changes = {"body": body, "ext": ext, "status": status}
        given = {name: value for name, value in changes.items() if value is not None}
        return cast(Notification, self._value("PATCH", f"{_NOTIFICATIONS}/{_id(message_server_id)}", given))

    def recall(self, message_server_id: str) -> None:
        """Takes a notification back: nobody is shown it any more. Doing it twice is doing it once."""
        self._ask("DELETE", f"{_NOTIFICATIONS}/{_id(message_server_id)}")

    # Receiving

    def notifications(
        self, *, after: str | None = None, with_counts: bool = False, waits_for_broker: bool = False
    ) -> NotificationFeed:
        """Everything unread, then what happens as it happens. `after` is the `cursor` of an event, a feed or a page: it
        begins behind that. Ends after a `Kicked` that says not to return, and with an error when asking again cannot help:
        401, 403, 400 and the like. Everything else is waited out, but for a first connection that nobody answers: that is an
        error, since the URL may be wrong, unless `waits_for_broker`."""
        if after is not None and not is_header_value(after):
            raise BelfryError("invalidField", "the cursor is not a cursor of Belfry", field="after")
        policy = ReconnectPolicy(self._transport.timing.backoff)
        return NotificationFeed(self, after, with_counts, policy, waits_for_broker)

    def unread(
        self, *, limit: int | None = None, after: str | None = None, wait_seconds: int | None = None
    ) -> UnreadPage:
        """What is unread and not yet past the cursor, oldest first. When there is nothing, waits so long for something."""
        return cast(UnreadPage, self._decoded(self._transport.ask(Request(
            "GET", _NOTIFICATIONS, {"limit": limit, "after": after, "wait": wait_seconds}, is_repeatable=True,
            hold_seconds=max(wait_seconds or 0, 0)), self.attempts_limit)))

    def counts(self) -> UnreadCounts:
        """How much is unread."""
        return cast(UnreadCounts, self._value("GET", f"{_NOTIFICATIONS}/counts"))

    # Marking read

    def mark_read(self, notifications: Iterable[Notification | ReadItem | str | int]) -> int:
        """Marks up to 500 as read, for good and on all devices of the account; ids will do. How many were unread until now."""
        return self._mark({"items": [_read_item(each) for each in _list_of(notifications)]})

    def mark_read_up_to(self, message_server_id: str) -> int:
        """Marks everything up to this one as read; `LAST_MESSAGE_ID` for everything there is."""
        return self._mark({"upTo": message_server_id})

    # What an account hears

    def subscribe(self, server: str, channel: str | None = None) -> None:
        """To a server's own notifications, or to those of one channel. In large servers only subscribers
        receive what is sent to all."""
        self._ask("PUT", _subscription(server, channel))

    def unsubscribe(self, server: str, channel: str | None = None) -> None:
        self._ask("DELETE", _subscription(server, channel))

    def preferences(self) -> list[Preference]:
        """What the account wants to hear."""
        return cast(list[Preference], self._value("GET", "/v1/account/preferences")["preferences"])

    def set_preferences(self, preferences: Sequence[Preference]) -> None:
        """In the place of all that was said before."""
        self._ask("PUT", "/v1/account/preferences", {"preferences": list(preferences)})

    # For feeds

    def open_feed(
        self, after: str | None, with_counts: bool, on_wire: Callable[[socket.socket], None]
    ) -> Stream:
        # Compression would make a proxy hold events back until it has a block of them.
        headers = {"Accept": "text/event-stream", "Accept-Encoding": "identity"}
        if after is not None:
            headers["Last-Event-ID"] = after
        request = Request("GET", f"{_NOTIFICATIONS}/stream", {"counts": 1 if with_counts else None}, headers)
        return self._transport.open_stream(request, self._transport.timing.stream_silence_seconds, on_wire)

    def forget_token(self, token: str) -> None:
        self._tokens.forget(token)

    def _send(self, notification: NewNotification, path: str, *, makes_id: bool = True) -> SendReceipt:
        sent = _identified(notification) if makes_id else notification
        try:
            return cast(SendReceipt, self._value("POST", path, sent))
        except BelfryError as error:
            error.message_client_id = sent.get("messageClientId")
            raise

    def _mark(self, marking: dict[str, Any]) -> int:
        # Marking twice is marking once; only the count of a repeated call would be lower.
        return int(self._value("POST", f"{_NOTIFICATIONS}/read", marking)["read"])

    def _value(self, method: str, path: str, body: Any = None) -> Any:
        answer = self._decoded(self._ask(method, path, body))
        if not isinstance(answer, dict):
            raise BelfryError("protocol", "the answer is not what was asked for")
        return answer

    def _ask(self, method: str, path: str, body: Any = None) -> bytes:
        request = Request(method, path, body=None if body is None else _encoded(body), is_repeatable=True)
        return self._transport.ask(request, self.attempts_limit)

    @staticmethod
    def _decoded(body: bytes) -> Any:
        try:
            return json.loads(body)
        except (ValueError, RecursionError) as error:
            raise BelfryError("protocol", f"the answer is not JSON: {error}") from None


def _identified(notification: NewNotification) -> NewNotification:
    if not isinstance(notification, Mapping):
        raise TypeError(f"a notification must be a dict, not {notification!r}")
    identified = notification.copy()
    identified["messageClientId"] = notification.get("messageClientId") or str(uuid.uuid4())
    return identified


def _encoded(value: Any) -> bytes:
    try:
        return json.dumps(value, ensure_ascii=False, allow_nan=False, separators=(",", ":")).encode()
    except (ValueError, TypeError, RecursionError) as error:
        raise BelfryError("invalidField", f"cannot be written as JSON: {error}") from None


def _batch_result(line: bytes, sent: NewNotification) -> SendReceipt | BelfryError:
    try:
        result = json.loads(line)
    except (ValueError, RecursionError):
        result = None
    if not isinstance(result, dict) or not isinstance(result.get("status"), int):
        raise BelfryError("protocol", "a result of the batch is not one")
    if "messageServerId" in result:
        del result["status"]
        return cast(SendReceipt, result)
    error = refusal(result["status"], None, line)
    error.message_client_id = sent.get("messageClientId")
    return error


def _list_of(notifications: Iterable[_Each]) -> list[_Each]:
    """A text and a notification are iterable, too: without this, letters or names of fields would be sent one by one."""
    if isinstance(notifications, (str, bytes, Mapping)) or not isinstance(notifications, Iterable):
        raise TypeError(f"notifications must be a list, not {notifications!r}")
    return list(notifications)


def _read_item(each: Notification | ReadItem | str | int) -> ReadItem:
    if isinstance(each, (str, int)):
        return {"messageServerId": str(each)}
    item: ReadItem = {"messageServerId": each["messageServerId"]}
    if "type" in each:
        item["type"] = each["type"]
    return item


def _id(text: str | int) -> str:
    if not str(text).isascii() or not str(text).isdigit():
        raise BelfryError("invalidField", f"{text!r} is not an id")
    return str(text)


def _subscription(server: str, channel: str | None) -> str:
    return f"/v1/servers/{_id(server)}" + (f"/channels/{_id(channel)}" if channel is not None else "") + "/subscription"
