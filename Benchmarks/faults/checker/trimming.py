"""Which notifications a log may have trimmed: those with as many entries behind them as a log keeps at least."""

from bisect import bisect_left, bisect_right
from collections import defaultdict

from ..history import REFUSED, Call, History

# An account that joins or leaves is told so, and so are the others.
ENTRIES_OF_A_CHANGE = 2


def find_perhaps_trimmed(history: History) -> frozenset[str]:
    """Ids. All that may be an entry counts as one, also each try of a call that was not answered, so that no id is missing."""
    if history.entries_per_space is None:
        return frozenset()
    ends = _ends_of_entries(history)
    begins = {send.id: (send.log, send.began) for send in history.sends if send.id}
    begins |= _begins_of_built_ins(history)
    return frozenset(
        id for id, (log, began) in begins.items() if _count_after(ends[log], began) > history.entries_per_space
    )


def _begins_of_built_ins(history: History) -> dict[str, tuple[str, float]]:
    """By id, the log of each built-in notification that was shown, and a time before it was appended.

    No call gives the ids of built-in ones, such as joins and leaves. Ids grow with time in a log, so a built-in one was
    appended after the call of the last send with a smaller id began."""
    sends: dict[str, list[tuple[int, float]]] = defaultdict(list)
    for send in history.sends:
        if send.id and send.log.startswith(("server:", "group:")):
            sends[send.log].append((int(send.id), send.began))
    logs = {log.partition(":")[2]: log for log in sends}
    for of_log in sends.values():
        of_log.sort()
    known = {send.id for send in history.sends}
    begins = {}
    for id, space in {(shown.id, shown.space) for shown in history.shown}:
        log = logs.get(space)
        if id in known or log is None:
            continue
        position = bisect_left(sends[log], (int(id), 0.0))
        begins[id] = (log, sends[log][position - 1][1] if position else 0.0)
    return begins


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
