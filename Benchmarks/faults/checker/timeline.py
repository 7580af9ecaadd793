"""What accounts were at a time, as far as acknowledged changes say."""

from bisect import bisect_right
from collections import defaultdict

from ..history import FOREVER, OK, REFUSED, Change, Fault
from .lateness import late_until

YES, NO, MAYBE = frozenset([True]), frozenset([False]), frozenset([True, False])


class _Line:
    """One property of one account. Its changes were made one after the other."""

    def __init__(self):
        self.began: list[float] = []
        self.values: list[bool] = []
        self.certain_ended: list[float] = []
        self.certain_index: list[int] = []
        self.late: list[tuple[float, float, bool]] = []

    def add(self, began: float, ended: float, value: bool) -> None:
        if ended < FOREVER:
            self.certain_ended.append(ended)
            self.certain_index.append(len(self.values))
        self.began.append(began)
        self.values.append(value)

    def add_late(self, began: float, until: float, value: bool) -> None:
        """It may be so once more, at any time until then: an earlier try is carried out, whatever was changed since."""
        self.late.append((began, until, value))

    def during(self, first: float, last: float) -> frozenset:
        known = bisect_right(self.certain_ended, first) - 1
        index = self.certain_index[known] if known >= 0 else -1
        found = self.values[index] if known >= 0 else False
        result = {found}
        for at in range(index + 1, len(self.values)):
            if self.began[at] > last:
                break
            result.add(self.values[at])
        # What began after it makes it certain again.
        known_began = self.began[index] if index >= 0 else -FOREVER
        result.update(value for began, until, value in self.late if began <= last and known_began <= until)
        return MAYBE if len(result) == 2 else YES if True in result else NO


class Timelines:
    def __init__(self, changes: list[Change], faults: list[Fault]):
        self._lines: dict[tuple[str, str], _Line] = defaultdict(_Line)
        self.accounts_with: dict[str, set[str]] = defaultdict(set)
        for change in sorted(changes, key=lambda change: change.began):
            # Of several tries an earlier one may have been carried out, whatever the last was answered.
            if change.outcome == REFUSED and change.tries <= 1:
                continue
            ended = change.ended if change.outcome == OK else FOREVER
            if was_lost(ended, faults):
                ended = FOREVER
            for account, what, value in change.effects:
                self._lines[account, what].add(change.began, ended, value)
                if change.unanswered:
                    self._lines[account, what].add_late(change.began, late_until(change, faults), value)
                self.accounts_with[what].add(account)

    def during(self, account: str, what: str, first: float, last: float) -> frozenset:
        """The values that it may have had between two times."""
        line = self._lines.get((account, what))
        return line.during(first, last) if line else NO

    def count(self, what: str, first: float, last: float) -> tuple[int, int]:
        """The fewest and the most accounts that it may have held for."""
        least = most = 0
        for account in self.accounts_with[what]:
            values = self.during(account, what, first, last)
            least += values is YES
            most += True in values
        return least, most


def was_lost(ended: float, faults: list[Fault]) -> bool:
    """Whether what was acknowledged then may have gone with a lost tail."""
    return any(fault.lost_since <= ended <= fault.ended for fault in faults)
