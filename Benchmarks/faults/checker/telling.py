"""Resurrected, untold, miscounted."""

from ..history import OK
from .audience import MUST
from .case import Case
from .lateness import late_until
from .reading import NEVER
from .timeline import was_lost
from .violation import Violation


def resurrected(case: Case):
    for device, all in case.shown_to_device.items():
        account = case.history.account_of(device)
        reading = case.reading[account]
        read_told = case.read_told[device]
        for shown in all:
            mark = reading.certainly(shown.id)
            if not mark or mark.ended >= shown.at:
                continue
            told = read_told.first(shown.id, mark.began, beyond=reading.told_uncertainly(shown.id))
            if shown.asked > mark.ended:
                text = f"asked for {shown.asked - mark.ended:.1f} s after it was marked read"
            elif told < shown.at and not _is_told_after(case, device, shown, told):
                text = f"shown {shown.at - told:.1f} s after the device was told that it is read"
            else:
                continue
            yield Violation("resurrected", text, shown.at, shown.id, account, device)
    for account, final in case.history.finals.items():
        for id in {*final.ids, *(final.fresh or ())}:
            mark = case.reading[account].certainly(id)
            if mark and mark.ended < final.asked:
                text = "in the feed at the end, and marked read before"
                yield Violation("resurrected", text, final.asked, id, account)


def _is_told_after(case: Case, device: str, shown, told: float) -> bool:
    """True if the device started over after it was told of a mark, and is told of a later one after the notification: Redis may have
    lost the first mark, and the device stood still while the second was made."""
    read_told = case.read_told[device]
    again = read_told.first(shown.id, shown.at)
    return read_told.has_started_over(told, shown.at) and again <= case.patience.due(device, shown.at)


def untold_read(case: Case):
    for device in case.history.devices.values():
        if device.kind != "stream":
            continue
        reading = case.reading[device.account]
        read_told = case.read_told[device.name]
        for id, shown in case.first_shown_to_device[device.name].items():
            mark = reading.certainly(id)
            # What went with a lost tail cannot be marked any more: its loss is told.
            if any(id in ids for ids in (case.lost_ids, case.perhaps_recalled, case.perhaps_trimmed)):
                continue
            if not mark or any(mark.device == device.name for mark in reading.possibly(id, 0)):
                continue
            due = case.patience.due(device.name, max(mark.ended, shown.at))
            if due >= case.history.ended or _has_let_go(case, device.name, shown, due):
                continue
            told = read_told.first(id, mark.began)
            if told > due:
                told = min(told, read_told.first(id, _unread_since(case, device, id, due)))
            if told > due:
                when = "never" if told == NEVER else f"{told - mark.ended:.1f} s later"
                how = f"upTo {mark.up_to}" if mark.up_to else "by name"
                text = f"marked read {how} on {mark.device}; this device was told {when}"
                yield Violation("untold", text, mark.ended, id, device.account, device.name)


def _has_let_go(case: Case, device: str, shown, due: float) -> bool:
    """True if the device started over after it was shown a notification, and was not shown it again. It holds nothing then that
    it could be told of."""
    last = max((one.at for one in case.shown_to_device[device] if one.id == shown.id and one.at <= due), default=shown.at)
    return case.read_told[device].has_started_over(last, due)


def _unread_since(case: Case, device, id: str, due: float) -> float:
    """Since when the device may hold it as unread. What a mark before told it of, one that may have gone with a lost tail
    and did not, holds until it is shown again."""
    possible = case.reading[device.account].possibly(id, 0)
    shown = [shown.at for shown in case.shown_to_device[device.name] if shown.id == id and shown.at <= due]
    return max([min(mark.began for mark in possible), *shown])


def untold_update(case: Case):
    updates = [
        update
        for update in case.history.updates
        if update.outcome == OK
        and update.id not in case.lost_ids | case.perhaps_recalled | case.perhaps_trimmed
        and not was_lost(update.ended, case.history.faults)
    ]
    for update in updates:
        version = _version_left(case, update)
        for device in case.history.devices.values():
            shown = case.first_shown_to_device[device.name].get(update.id)
            if not shown or case.reading[device.account].possibly(update.id, 0):
                continue
            if shown.asked > update.ended:
                if shown.version < version:
                    text = f"shown in version {shown.version} after version {update.version} was acknowledged"
                    yield Violation("untold", text, shown.at, update.id, device.account, device.name)
                continue
            if device.kind != "stream" or shown.version >= version:
                continue
            due = case.patience.due(device.name, max(update.ended, shown.at))
            if due >= case.history.ended:
                continue
            send = case.send_of_id.get(update.id)
            if not send or not case.audience.stays(send, device.account, update.began, due):
                # Whoever has left since is not told any more.
                continue
            if _version_told(case, device.name, update, due) < version:
                text = f"version {update.version} was acknowledged; this device was not told in time"
                yield Violation("untold", text, update.ended, update.id, device.account, device.name)


def _version_left(case: Case, update) -> int:
    """The oldest that may be there once this was acknowledged: an unanswered try of an earlier one may come after it."""
    late = [
        other.version
        for other in case.history.updates
        if other.id == update.id and other.unanswered and late_until(other, case.history.faults) > update.began
    ]
    return min([update.version, *late])


def _version_told(case: Case, device: str, update, due: float) -> int:
    told = [
        one.version
        for one in case.told_device[device]
        if one.what == "updated" and one.ids == (update.id,) and one.at <= due
    ]
    again = [one.version for one in case.shown_to_device[device] if one.id == update.id and one.at <= due]
    return max(told + again, default=0)


def recalled(case: Case):
    """Nobody is shown it any more, and who was is told."""
    for recall in case.history.recalls:
        if recall.outcome != OK or recall.id in case.lost_ids or was_lost(recall.ended, case.history.faults):
            continue
        for account, final in case.history.finals.items():
            if recall.ended < final.asked and recall.id in {*final.ids, *(final.fresh or ())}:
                text = "in the feed at the end, and recalled before"
                yield Violation("resurrected", text, final.asked, recall.id, account)
        for device in case.history.devices.values():
            shown = case.first_shown_to_device[device.name].get(recall.id)
            if not shown:
                continue
            if shown.asked > recall.ended:
                text = f"asked for {shown.asked - recall.ended:.1f} s after it was recalled"
                yield Violation("resurrected", text, shown.at, recall.id, device.account, device.name)
            elif device.kind == "stream":
                yield from _untold_recall(case, recall, shown, device)


def _untold_recall(case: Case, recall, shown, device):
    send = case.send_of_id.get(recall.id)
    due = case.patience.due(device.name, max(recall.ended, shown.at))
    if due >= case.history.ended or case.reading[device.account].possibly(recall.id, 0):
        return
    if recall.id in case.perhaps_trimmed:
        return
    if not send or not case.audience.stays(send, device.account, recall.began, due):
        return
    if _has_let_go(case, device.name, shown, due):
        return
    told = case.told_device[device.name]
    if not any(one.what == "retracted" and one.ids == (recall.id,) and one.at <= due for one in told):
        text = "recalled; this device was not told in time"
        yield Violation("untold", text, recall.ended, recall.id, device.account, device.name)


def untold_loss(case: Case):
    """Whoever was shown what a lost tail took has a cursor ahead of what there is, and must be told so."""
    for fault in case.history.faults:
        lost = set(fault.lost_ids)
        for device, all in case.shown_to_device.items() if lost else ():
            phantoms = [one for one in all if one.id in lost and one.at < fault.ended]
            due = case.patience.due(device, fault.ended)
            if not phantoms or due >= case.history.ended:
                continue
            if not any(fault.began <= gap.at <= due for gap in case.gaps[device]):
                text = f"{len(phantoms)} shown to it are gone with a lost tail, and it was told no gap"
                account = case.history.account_of(device)
                yield Violation("untold", text, fault.ended, phantoms[-1].id, account, device)


def miscounted(case: Case):
    for account, reading in case.reading.items():
        yield from _feed_as_stream(case, account)
        for mark in reading.marks:
            if mark.items and mark.count > len(mark.items):
                text = f"a mark of {len(mark.items)} by name made {mark.count} read"
                yield Violation("miscounted", text, mark.ended, account=account)
        if reading.marks and reading.is_counted_exactly:
            yield from _count_as_marked(case, account)


def _feed_as_stream(case: Case, account: str):
    final = case.history.finals.get(account)
    if not final:
        return
    feed = set(final.ids)
    # Logs may be trimmed between one look and the next.
    if final.count is not None and not len(feed - case.perhaps_trimmed) <= final.count <= len(feed):
        text = f"the count says {final.count} unread, the feed has {len(feed)}"
        yield Violation("miscounted", text, final.asked, account=account)
    if final.fresh is not None:
        for id in feed.symmetric_difference(final.fresh) - case.perhaps_trimmed:
            where = "the feed but not on a new device" if id in feed else "a new device but not in the feed"
            yield Violation("miscounted", f"it is on {where}", final.asked, id, account)
    reading = case.reading[account]
    # These are lost, if they are not there, and reported as such.
    musts = {send.id for send in case.history.sends if case.receivers.get(send.client_id, {}).get(account) == MUST}
    for device in case.devices_of[account]:
        if case.patience.due(device, case.history.devices[device].began) == NEVER:
            continue
        for id, shown in case.first_shown_to_device[device].items():
            is_excused = any(id in ids for ids in (case.lost_ids, case.perhaps_recalled, case.perhaps_trimmed))
            is_there = id in feed or id in musts or is_excused or reading.possibly(id, 0)
            if not is_there and shown.at < final.asked:
                text = "shown, never marked read, and not in the feed at the end"
                yield Violation("miscounted", text, final.asked, id, account, device)


def _count_as_marked(case: Case, account: str):
    """Each mark says how many it made read: together as many as became read."""
    reading = case.reading[account]
    counted = sum(mark.count for mark in reading.marks)
    certain = {
        id
        for id in case.first_shown[account]
        if id not in case.lost_ids | case.perhaps_recalled | case.perhaps_trimmed and reading.certainly(id)
    }
    possible = {id for id in case.first_shown[account] if reading.possibly(id, 0)}
    unseen = []
    for send in case.history.sends:
        if not send.id or send.id in case.first_shown[account]:
            continue
        verdict = case.receivers[send.client_id].get(account)
        if verdict and reading.possibly(send.id, send.began):
            possible.add(send.id)
            if verdict == MUST and send.id not in case.perhaps_recalled | case.perhaps_trimmed:
                unseen.append(send)
    slack = _built_in_unseen(case, account) if any(mark.up_to for mark in reading.marks) else 0
    last = reading.marks[-1].ended
    if counted > len(possible) + slack:
        text = f"marks made {counted} read, of {len(possible)} that there were"
        yield Violation("miscounted", text, last, account=account)
    elif counted < len(certain):
        text = f"marks made {counted} read, and {len(certain)} became read"
        yield Violation("miscounted", text, last, account=account)
    elif counted < len(certain) + len(unseen):
        in_feed = set(case.history.finals[account].ids) if account in case.history.finals else set()
        for send in unseen:
            if send.id not in in_feed:
                text = f"never shown, and no mark counted it: {counted} of {len(certain)} shown and {len(unseen)} not"
                yield Violation("lost", text, send.began, send.id, account)


def _built_in_unseen(case: Case, account: str) -> int:
    """How many built-in ones may have been marked that were never shown to the account: what two others were shown, and
    what its own changes told it alone."""
    others: dict[str, int] = {}
    for other, ids in case.first_shown.items():
        for id in ids if other != account else ():
            others[id] = others.get(id, 0) + 1
    own = case.first_shown[account]
    of_many = sum(1 for id, count in others.items() if count > 1 and id not in own and id not in case.send_of_id)
    changed = sum(1 for change in case.history.changes for effect in change.effects if effect[0] == account)
    return of_many + 2 * changed


RULES = [resurrected, untold_read, untold_update, recalled, untold_loss, miscounted]
