"""Which notifications a log may have trimmed: those with as many entries behind them as a log keeps at least."""

from bisect import bisect_right
from collections import defaultdict

from ..history import REFUSED, Call, History

# An account that joins or leaves is told so, and so are the others.
ENTRIES_OF_A_CHANGE = 2


def find_perhaps_trimmed(history: History) -> frozenset[str]:
    """Ids. All that may be an entry counts as one, also each try of a call that was not answered, so that no id is missing."""
    if history.entries_per_space is None:
        return frozenset()
    ends = _ends_of_entries(history)
    return frozenset(
        send.id
        for send in history.sends
        if send.id and _count_after(ends[send.log], send.began) > history.entries_per_space
    )


def _ends_of_entries(history: History) -> dict[str, list[float]]:
    """By log, until when each entry was appended at the latest. Logs of accounts are none: what waits there is kept."""
    ends: dict[str, list[float]] = defaultdict(list)
    log_of_id = {send.id: send.log for send in history.sends if send.id}

    def add(log: str, call: Call, count: int) -> None:
        if log.startswith(("server:", "group:")):
            ends[log] += [call.ended] * count

    for send in history.sends:
        if send.outcome != REFUSED or send.tries > 1:
            add(send.log, send, 1)
    for change in [*history.updates, *history.recalls]:
        add(log_of_id.get(change.id, ""), change, change.tries)
    for change in history.changes:
        for _, what, _ in change.effects:
            space = what.split(" ")[1].split("/")[0].replace("channel:", "server:")
            add(space, change, ENTRIES_OF_A_CHANGE * max(change.tries, 1))
    for times in ends.values():
        times.sort()
    return ends


def _count_after(ends: list[float], time: float) -> int:
    return len(ends) - bisect_right(ends, time)
