"""What a feed tells, in the order in which it happened."""
import json
from dataclasses import dataclass
from typing import Any

from .errors import BelfryError
from .server_sent_events import ServerSentEvent
from .types import Notification, Preference, UnreadCounts


@dataclass(frozen=True)
class NotificationReceived:
    """A notification, unread so far."""

    notification: Notification
    #: The place right behind it, for `notifications(after=…)`. None only of one that is not stored, before anything that is.
    cursor: str | None


@dataclass(frozen=True)
class Updated:
    """A notification received before has another body, ext or status now."""

    notification: Notification
    cursor: str | None


@dataclass(frozen=True)
class Retracted:
    """A notification that may have been received before was recalled: it is not to be shown any more."""

    message_server_id: str
    cursor: str | None


@dataclass(frozen=True)
class Read:
    """Another device of the account, or this one by another way, has read these, or everything up to one."""

    message_server_ids: tuple[str, ...] = ()
    up_to: str | None = None


@dataclass(frozen=True)
class Preferences:
    """The account wants to hear this now. What was received before is to be dropped: what is left of it follows again."""

    preferences: list[Preference]


@dataclass(frozen=True)
class Counts:
    """How much is unread now; only if it was asked for."""

    counts: UnreadCounts


@dataclass(frozen=True)
class Device:
    """Another device of the account did something, such as joining a channel."""

    operation: str
    of: str
    target: Any
    device: str | None = None


@dataclass(frozen=True)
class Gap:
    """Notifications between the two ids may be missing: retention dropped them, or Redis lost them."""

    from_id: str
    to_id: str


@dataclass(frozen=True)
class Kicked:
    """The broker ended the connection on purpose. With `retry`, and for `tokenExpired` and `tokenRevoked` with another
    token, the feed comes back by itself; otherwise this is its last event."""

    reason: str
    retry: bool
    by_device: str | None = None

    @property
    def feed_returns(self) -> bool:
        return self.retry or self.needs_token

    @property
    def needs_token(self) -> bool:
        return self.reason in ("tokenExpired", "tokenRevoked")


@dataclass(frozen=True)
class Connected:
    """The feed is connected, at first or again."""


@dataclass(frozen=True)
class Disconnected:
    """The connection broke or was not made. The feed tries again after the pause; nothing is lost."""

    because: BelfryError
    pause_seconds: float


@dataclass(frozen=True)
class Other:
    """An event that this version does not know or cannot read, as it came."""

    event: str
    data: str


FeedEvent = (
    NotificationReceived | Updated | Retracted | Read | Preferences | Counts | Device | Gap | Kicked | Connected
    | Disconnected | Other)


def feed_event(event: ServerSentEvent) -> FeedEvent:
    """What cannot be read becomes Other: one odd event must not end a feed, and must not vanish either."""
    try:
        data = json.loads(event.data)
        match event.name:
            case "notification" if isinstance(data["messageServerId"], str):
                return NotificationReceived(data, event.id)
            case "updated" if isinstance(data["messageServerId"], str):
                return Updated(data, event.id)
            case "retracted":
                return Retracted(data["messageServerId"], event.id)
            case "read" if "upTo" in data:
                return Read(up_to=data["upTo"])
            case "read":
                return Read(tuple(data["messageServerIds"]))
            case "preferences":
                return Preferences(data["preferences"])
            case "counts" if isinstance(data["unread"], int):
                return Counts(data)
            case "device":
                return Device(data["operation"], data["of"], data["target"], data.get("device"))
            case "gap":
                return Gap(data["from"], data["to"])
            case "kicked":
                return Kicked(data["reason"], bool(data["retry"]), data.get("byDevice"))
    except (ValueError, LookupError, TypeError, AttributeError, RecursionError):
        pass
    return Other(event.name, event.data)
