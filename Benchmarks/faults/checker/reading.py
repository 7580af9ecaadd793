"""What was marked read: certainly, or possibly."""

from bisect import bisect_left
from collections import defaultdict

from ..history import FOREVER, OK, REFUSED, Fault, Mark
from .timeline import was_lost


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
        covering = self._up_to[bisect_left(self._places, int(entry)) :] if self._up_to else []
        return self._by_item.get(entry, []) + [mark for mark in covering if mark.ended > sent]

    def certainly(self, entry: str) -> Mark | None:
        """The earliest acknowledged mark that covered the entry for certain: it had been shown to the account before."""
        shown = self._first_shown.get(entry, FOREVER)
        found = None
        for mark in self.possibly(entry, 0):
            if mark.outcome != OK or id(mark) in self._lost or mark.began < shown:
                continue
            if not found or mark.ended < found.ended:
                found = mark
        return found

    @property
    def is_counted_exactly(self) -> bool:
        """Each mark was settled at the first try, and none was lost: then the counts add up."""
        return not self._lost and all(mark.outcome == OK and mark.tries == 1 for mark in self.marks)
