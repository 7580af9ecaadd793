"""Until when what was asked, and not answered, may still be carried out."""

from ..history import FOREVER, Call, Fault

# For what was held up to be carried out, when all is well again.
HELD_UP_SECONDS = 3.0


def late_until(call: Call, faults: list[Fault]) -> float:
    """A request lies before whoever stands still or does not hear, for as long as the fault lasts; and then perhaps
    before the next one. Where each try was answered, no longer than until the last answer."""
    until = max(call.unanswered, default=-FOREVER)
    for fault in sorted(faults, key=lambda fault: fault.began):
        if fault.holds_requests and fault.began <= until + HELD_UP_SECONDS:
            until = max(until, fault.ended)
    return until + HELD_UP_SECONDS
