"""A history, looked at from all the sides that the rules need."""

from collections import defaultdict
from functools import cached_property

from ..history import OK, REFUSED, FOREVER, Fault, History, Send, Shown, Told
from .audience import MUST, Audience
from .patience import Patience
from .reading import Reading, ReadTold
from .timeline import Timelines
from .trimming import find_perhaps_trimmed

CUSTOM = 100
# What a broker allows for in its reckoning with time.
SAFETY_WINDOW = 65.0


class Case:
    def __init__(self, history: History, bound: float):
        self.history = history
        self.bound = bound
        self.patience = Patience(history, bound)
        self.timelines = Timelines(history.changes, history.faults)
        self.audience = audience = Audience(self.timelines, history.threshold)
        self.send_of_client_id = {send.client_id: send for send in history.sends}
        self.send_of_id = {send.id: send for send in history.sends if send.id}
        self.receivers: dict[str, dict[str, str]] = {
            send.client_id: audience.of(send, history.accounts)
            for send in history.sends
            if send.outcome != REFUSED or send.tries > 1
        }
        self.perhaps_recalled = {recall.id for recall in history.recalls if recall.may_be_done}
        """Nobody has to be shown these, nor told that they are read; who was shown them has to be told of the recall."""
        self.perhaps_trimmed = find_perhaps_trimmed(history)
        """They may be missing from a feed, where nobody comes for them with a cursor. Devices are told a gap."""
        self.lost_ids = {id for fault in history.faults for id in [*fault.lost_ids, *fault.excused_ids]}

    @cached_property
    def shown_to_device(self) -> dict[str, list[Shown]]:
        found: dict[str, list[Shown]] = {name: [] for name in self.history.devices}
        for shown in self.history.shown:
            found[shown.device].append(shown)
        return found

    @cached_property
    def first_shown_to_device(self) -> dict[str, dict[str, Shown]]:
        return {
            device: {shown.id: shown for shown in reversed(all)} for device, all in self.shown_to_device.items()
        }

    @cached_property
    def first_shown(self) -> dict[str, dict[str, float]]:
        """By account and id."""
        found: dict[str, dict[str, float]] = {account: {} for account in self.history.accounts}
        for shown in self.history.shown:
            times = found[self.history.account_of(shown.device)]
            times[shown.id] = min(times.get(shown.id, FOREVER), shown.at)
        return found

    @cached_property
    def first_shown_to_anyone(self) -> dict[str, float]:
        found: dict[str, float] = {}
        for times in self.first_shown.values():
            for id, at in times.items():
                found[id] = min(found.get(id, FOREVER), at)
        return found

    @cached_property
    def told_device(self) -> dict[str, list[Told]]:
        found: dict[str, list[Told]] = {name: [] for name in self.history.devices}
        for told in self.history.told:
            found[told.device].append(told)
        return found

    @cached_property
    def gaps(self) -> dict[str, list[Told]]:
        return {
            device: [one for one in all if one.what == "gap"] for device, all in self.told_device.items()
        }

    @cached_property
    def read_told(self) -> dict[str, ReadTold]:
        return {device: ReadTold(all) for device, all in self.told_device.items()}

    @cached_property
    def reading(self) -> dict[str, Reading]:
        marks = defaultdict(list)
        for mark in self.history.marks:
            marks[mark.account].append(mark)
        return {
            account: Reading(marks[account], self.history.faults, self.first_shown[account])
            for account in self.history.accounts
        }

    @cached_property
    def devices_of(self) -> dict[str, list[str]]:
        found: dict[str, list[str]] = defaultdict(list)
        for device in self.history.devices.values():
            found[device.account].append(device.name)
        return found

    def must_have(self):
        """Each acknowledged notification with each account that must receive it, unless it went with a lost tail."""
        for send in self.history.sends:
            if send.outcome != OK or send.id in self.lost_ids or send.id in self.perhaps_recalled:
                continue
            for account, verdict in self.receivers[send.client_id].items():
                if verdict == MUST:
                    yield send, account

    def is_in_gap(self, device: str, send: Send) -> bool:
        """The device was told that something is gone there; not what was sent after it was told."""
        return any(
            send.began < gap.at and int(gap.first) <= int(send.id) <= int(gap.last)
            for gap in self.gaps.get(device, ())
        )

    def is_in_doubt(self, first: float, last: float) -> bool:
        """Clocks stepped, or a tail was lost: then repeating is allowed, and passing over is not."""
        return bool(self._doubts(first, last))

    def may_be_shown_again(self, device: str, id: str, first: float, again: float) -> bool:
        """After a step of a clock, anything. After a lost tail, only what lies in a gap that the device was told since."""
        doubts = self._doubts(first, again)
        if not doubts or any(fault.lost_since == FOREVER for fault in doubts):
            return bool(doubts)
        return any(
            first <= gap.at <= again and int(gap.first) < int(id) <= int(gap.last) for gap in self.gaps[device]
        )

    def _doubts(self, first: float, last: float) -> list[Fault]:
        return [
            fault
            for fault in self.history.faults
            if fault.is_step and fault.began <= last and fault.ended >= first - SAFETY_WINDOW
        ]
