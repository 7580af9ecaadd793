"""Sends and receives the notifications of a Belfry broker, with nothing but the standard library."""
from .client import LAST_MESSAGE_ID, BelfryClient
from .errors import BelfryError
from .events import (
    Connected, Counts, Device, Disconnected, FeedEvent, Gap, Kicked, NotificationReceived, Other, Preferences, Read,
    Retracted, Updated)
from .feed import NotificationFeed
from .tokens import TokenProvider
from .types import (
    GapRange, NewNotification, Notification, NotificationSetting, Preference, ReadItem, SendReceipt, UnreadCounts,
    UnreadInSpace, UnreadOfType, UnreadPage)

__all__ = [
    "LAST_MESSAGE_ID", "BelfryClient", "BelfryError", "Connected", "Counts", "Device", "Disconnected", "FeedEvent", "Gap",
    "GapRange", "Kicked", "NewNotification", "Notification", "NotificationFeed", "NotificationReceived",
    "NotificationSetting", "Other", "Preference", "Preferences", "Read", "ReadItem", "Retracted", "SendReceipt",
    "TokenProvider", "UnreadCounts", "UnreadInSpace", "UnreadOfType", "UnreadPage", "Updated",
]
