"""What was marked read: certainly, or possibly. And when a device was told so."""

from bisect import bisect_left
from collections import defaultdict

from ..history import FOREVER, OK, REFUSED, Fault, Mark, Told
from .timeline import was_lost

NEVER = float("inf")
# Beyond every id.
EVERYTHING = 1 << 63


class Reading:
    """The marks of one account."""

    def __init__(self, marks: list[Mark], faults: list[Fault], first_shown: dict[str, float]):
        self.marks = [mark for mark in marks if mark.outcome != REFUSED]
        self._first_shown = first_shown
        self._by_item: dict[str, list[Mark]] = defaultdict(list)
        for mark in self.marks:
            for entry in mark.items:
                self._by_item[entry].append(mark)
        self._up_to = sorted((mark for mark in self.marks if mark.up_to), key=lambda mark: int(mark.up_to))
        self._places = [int(mark.up_to) for mark in self._up_to]
        self._lost = {id(mark) for mark in self.marks if was_lost(mark.ended, faults)}

    def possibly(self, entry: str, sent: float) -> list[Mark]:
        """Marks that may have covered the entry, which was sent at that time."""
        return self._by_item.get(entry, []) + [mark for mark in self._covering(entry) if mark.ended > sent]

    def _covering(self, entry: str) -> list[Mark]:
        return self._up_to[bisect_left(self._places, int(entry)) :]

    def certainly(self, entry: str) -> Mark | None:
        """The earliest acknowledged mark that covered the entry for certain: it had been shown to the account before."""
        certain = (mark for mark in self.possibly(entry, 0) if self._is_certain(mark, entry))
        return min(certain, key=lambda mark: mark.ended, default=None)

    def _is_certain(self, mark: Mark, entry: str) -> bool:
        return mark.outcome == OK and id(mark) not in self._lost and mark.began >= self._first_shown.get(entry, FOREVER)

    def told_uncertainly(self, entry: str) -> int:
        """Up to where devices may be told of marks that do not cover the entry for certain, though it lies below: the
        account's index may have learned of it after they were made."""
        places = [int(mark.up_to) for mark in self._covering(entry) if not self._is_certain(mark, entry)]
        return max(places, default=0)

    @property
    def is_counted_exactly(self) -> bool:
        """Each mark was settled at the first try, and none was lost: then the counts add up."""
        return not self._lost and all(mark.outcome == OK and mark.tries == 1 for mark in self.marks)


class ReadTold:
    """When a device was told that an entry is read."""

    def __init__(self, told: list[Told]):
        self._by_id: dict[str, list[float]] = defaultdict(list)
        self._up_to = []
        # Places up to which it let go, also of what is not read.
        self._let_go = []
        self._started_over = [one.at for one in told if one.what == "preferences"]
        for one in told:
            if one.what == "read":
                for id in one.ids:
                    self._by_id[id].append(one.at)
                if one.up_to:
                    self._up_to.append((one.at, int(one.up_to)))
                    self._let_go.append((one.at, int(one.up_to)))
            elif one.what == "preferences":
                # The device lets go of all that it shows. Unread notifications follow again.
                self._let_go.append((one.at, EVERYTHING))

    def first(self, id: str, since: float, *, beyond: int = 0) -> float:
        """Since a time: by name, or up to a place beyond another."""
        times = self._by_id.get(id, [])
        at = bisect_left(times, since)
        by_name = times[at] if at < len(times) else NEVER
        return min(by_name, self.first_up_to(id, since, beyond=beyond))

    def first_let_go(self, id: str, since: float) -> float:
        """When it was told to let go of all up to a place, or of everything, the entry among it."""
        return next((at for at, place in self._let_go if at >= since and place >= int(id)), NEVER)

    def first_up_to(self, id: str, since: float, *, beyond: int = 0) -> float:
        """When it was told that all up to a place is read, the entry among it."""
        least = max(int(id), beyond + 1)
        return next((at for at, place in self._up_to if at >= since and place >= least), NEVER)

    def has_started_over(self, since: float, until: float) -> bool:
        return any(since <= at <= until for at in self._started_over)

    def last_let_go(self, id: str) -> float | None:
        return next((at for at, place in reversed(self._let_go) if place >= int(id)), None)
