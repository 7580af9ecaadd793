"""What goes over the wire, in its names. Ids are decimal strings, times milliseconds since 1970."""
from typing import Any, Literal, NotRequired, TypedDict


class NotificationSetting(TypedDict, total=False):
    persistEnable: bool
    pushEnable: bool
    needBadge: bool
    needPushNick: bool
    routeEnable: bool


class NewNotification(TypedDict, total=False):
    """What is given of the ids and `toAccids` says whom it is for."""

    messageClientId: str
    serverId: str
    channelId: str
    groupId: str
    roomId: str
    toAccids: list[str]
    fromAccount: str
    fromNick: str
    fromClientType: str | int
    fromDeviceId: str
    body: str
    ext: str
    attach: Any
    status: int
    pushPayload: Any
    pushContent: str
    setting: NotificationSetting
    env: str
    expireAt: int
    type: int
    toType: int


class Notification(TypedDict):
    messageServerId: str
    time: int
    type: int
    toType: int
    status: int
    setting: NotificationSetting
    messageClientId: NotRequired[str]
    serverId: NotRequired[str]
    channelId: NotRequired[str]
    groupId: NotRequired[str]
    roomId: NotRequired[str]
    toAccids: NotRequired[list[str]]
    fromAccount: NotRequired[str]
    fromNick: NotRequired[str]
    fromClientType: NotRequired[str | int]
    fromDeviceId: NotRequired[str]
    body: NotRequired[str]
    ext: NotRequired[str]
    attach: NotRequired[Any]
    pushPayload: NotRequired[Any]
    pushContent: NotRequired[str]
    env: NotRequired[str]
    expireAt: NotRequired[int]
    updateTime: NotRequired[int]
    callbackExt: NotRequired[str]


class SendReceipt(TypedDict):
    messageServerId: str
    messageClientId: str
    time: int
    #: Whether it had been sent before, perhaps by this very call's first try. Nobody receives it again then.
    duplicate: bool
    type: int
    toType: int
    serverId: NotRequired[str]
    channelId: NotRequired[str]
    groupId: NotRequired[str]
    roomId: NotRequired[str]


#: What lay between the two ids was dropped by retention.
GapRange = TypedDict("GapRange", {"from": str, "to": str})


class UnreadPage(TypedDict):
    notifications: list[Notification]
    #: The place behind the last of them, for the next page or for a feed.
    cursor: str
    gap: NotRequired[GapRange]


class UnreadInSpace(TypedDict):
    space: str
    unread: int


class UnreadOfType(TypedDict):
    type: int
    unread: int


class UnreadCounts(TypedDict):
    unread: int
    #: Those of them that count in the number on an app's icon.
    badge: int
    spaces: list[UnreadInSpace]
    types: list[UnreadOfType]
    #: Whether more is unread than was counted.
    isCapped: bool


class ReadItem(TypedDict):
    messageServerId: str
    type: NotRequired[int]


class Preference(TypedDict):
    level: Literal["all", "parties", "none"]
    space: NotRequired[str]
    types: NotRequired[list[int]]
    until: NotRequired[int]
