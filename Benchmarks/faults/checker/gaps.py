"""A gap says that something is gone. It must not say so of everything where nothing was lost."""

from ..history import FOREVER
from .case import Case
from .violation import Violation


def gap_from_the_beginning(case: Case):
    """A device that was shown something is never told that all since the beginning is gone, unless a tail was lost or logs
    were trimmed."""
    if case.history.entries_per_space is not None:
        return
    losses = [fault.began for fault in case.history.faults if fault.lost_since < FOREVER]
    for device, gaps in case.gaps.items():
        first_shown = min((shown.at for shown in case.shown_to_device[device]), default=FOREVER)
        for gap in gaps:
            is_excused = any(began <= gap.at for began in losses)
            if int(gap.first) == 0 and first_shown < gap.at and not is_excused:
                text = f"told that everything up to {gap.last} is gone, and nothing was lost"
                account = case.history.account_of(device)
                yield Violation("contradicted", text, gap.at, gap.last, account, device)


RULES = [gap_from_the_beginning]
