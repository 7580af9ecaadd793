"""Lost, late, doubled, reordered, misdirected."""

from ..history import OK, REFUSED
from .case import CUSTOM, Case
from .lateness import late_until
from .violation import Violation


def lost_and_late(case: Case):
    for send, account in case.must_have():
        marks = case.reading[account].possibly(send.id, send.began)
        marked = min((mark.began for mark in marks), default=float("inf"))
        for device in case.devices_of[account]:
            due = case.patience.due(device, send.ended)
            shown = case.first_shown_to_device[device].get(send.id)
            if due >= case.history.ended or marked <= due or case.is_in_gap(device, send):
                continue
            if not shown:
                yield Violation("lost", "never shown to this device", send.began, send.id, account, device)
            elif shown.at > due:
                text = f"shown {shown.at - send.ended:.1f} s after it was acknowledged, due {shown.at - due:.1f} s before"
                yield Violation("late", text, send.began, send.id, account, device)


def let_go_unread(case: Case):
    """A device that is told `read {upTo}` lets go of all up to there, and one that is told `preferences` of everything: what
    nobody marked it must be shown again."""
    for send, account in case.must_have():
        if send.id in case.perhaps_trimmed or case.reading[account].possibly(send.id, send.began):
            continue
        for device in case.devices_of[account]:
            told = case.read_told[device].last_let_go(send.id)
            first = case.first_shown_to_device[device].get(send.id)
            if told is None or not first or first.at > told or case.is_in_gap(device, send):
                continue
            due = case.patience.due(device, told)
            times = [shown.at for shown in case.shown_to_device[device] if shown.id == send.id]
            if due < case.history.ended and not any(told <= at <= due for at in times):
                text = "let go with all up to a later one that was marked, and not shown again"
                yield Violation("lost", text, told, send.id, account, device)


def lost_from_the_feed(case: Case):
    in_feed = {account: set(final.ids) for account, final in case.history.finals.items()}
    in_fresh = {
        account: set(final.fresh)
        for account, final in case.history.finals.items()
        if final.fresh is not None
    }
    for send, account in case.must_have():
        final = case.history.finals.get(account)
        if not final or send.ended >= final.asked:
            continue
        if send.id in case.perhaps_trimmed or case.reading[account].possibly(send.id, send.began):
            continue
        if send.id not in in_feed[account]:
            text = "not in the feed at the end, and nobody marked it"
            yield Violation("lost", text, send.began, send.id, account)
        if account in in_fresh and send.id not in in_fresh[account]:
            text = "not shown to a new device at the end, and nobody marked it"
            yield Violation("lost", text, send.began, send.id, account)


def doubled(case: Case):
    for device, all in case.shown_to_device.items():
        account = case.history.account_of(device)
        read_told = case.read_told[device]
        seen: dict[str, float] = {}
        ids: dict[str, str] = {}
        for shown in all:
            first = seen.get(shown.id)
            # Whoever is told to let go of all up to a place is shown again what of it is unread.
            if first is None or read_told.first_let_go(shown.id, first) <= shown.at:
                seen[shown.id] = shown.at
            elif not case.may_be_shown_again(device, shown.id, first, shown.at):
                text = f"shown again after {shown.at - first:.1f} s"
                yield Violation("doubled", text, shown.at, shown.id, account, device)
            other = ids.setdefault(shown.client_id, shown.id) if shown.client_id else shown.id
            is_excused = other in case.lost_ids or case.is_in_doubt(first or shown.at, shown.at)
            if other != shown.id and not is_excused:
                text = f"the same messageClientId {shown.client_id} was shown as {other} already"
                yield Violation("doubled", text, shown.at, shown.id, account, device)


def started_over(case: Case):
    """The load changes no preferences. So a device is told to start over only where Redis may have lost something."""
    for device, all in case.told_device.items():
        for told in all:
            if told.what != "preferences" or any(fault.is_step and fault.began <= told.at for fault in case.history.faults):
                continue
            account = case.history.account_of(device)
            yield Violation("doubled", "told to start over, and nothing was lost", told.at, "", account, device)


def reordered(case: Case):
    for device, all in case.shown_to_device.items():
        account = case.history.account_of(device)
        latest: dict[str, tuple[int, float]] = {}
        seen = set()
        for shown in all:
            send = case.send_of_client_id.get(shown.client_id)
            if shown.type != CUSTOM or not send or shown.id in seen:
                continue
            seen.add(shown.id)
            place, at = latest.get(send.log, (0, 0.0))
            if int(shown.id) > place:
                latest[send.log] = (int(shown.id), shown.at)
            elif not case.is_in_doubt(at, shown.at):
                text = f"shown after {place} of the same space"
                yield Violation("reordered", text, shown.at, shown.id, account, device)


def misdirected(case: Case):
    told, refused = set(), set()
    for shown in case.history.shown:
        if shown.type != CUSTOM or (shown.device, shown.id) in told:
            continue
        told.add((shown.device, shown.id))
        account = case.history.account_of(shown.device)
        send = case.send_of_client_id.get(shown.client_id)
        if not send:
            text = f"nobody sent it (messageClientId {shown.client_id!r})"
            yield Violation("misdirected", text, shown.at, shown.id, account, shown.device)
        elif shown.id != send.id and case.is_in_doubt(send.began, shown.at):
            # Stored a second time, when by a clock that stepped the first was out of the window.
            continue
        elif send.outcome == REFUSED:
            # A try before the refusal may have been carried out: then the refusal was not true.
            if send.client_id in refused:
                continue
            # Or is carried out after it: then the refusal was true.
            if send.ended < case.first_shown_to_anyone[shown.id] and send.ended < late_until(send, case.history.faults):
                continue
            refused.add(send.client_id)
            text = f"the last try was refused with {send.status} {send.code}, and yet it was sent"
            yield Violation("contradicted", text, shown.at, shown.id, account, shown.device)
        elif send.id not in case.lost_ids and account not in case.receivers.get(send.client_id, {}):
            text = f"it went to {send.space} {' '.join(send.to)}, which {account} was not to hear"
            yield Violation("misdirected", text, shown.at, shown.id, account, shown.device)


def contradicted(case: Case):
    owners: dict[str, str] = {}
    for send in case.history.sends:
        for other in send.other_ids:
            if send.id not in case.lost_ids and not case.is_in_doubt(send.began, case.history.ended):
                text = f"a repeated try of {send.client_id} was answered with {other}"
                yield Violation("contradicted", text, send.ended, send.id, send.sender)
        if send.id:
            other = owners.setdefault(send.id, send.client_id)
            if other != send.client_id:
                text = f"the id of {other} was given to {send.client_id}, too"
                yield Violation("contradicted", text, send.ended, send.id, send.sender)
    for shown in case.history.shown:
        send = case.send_of_client_id.get(shown.client_id)
        if not send or shown.type != CUSTOM:
            continue
        account = case.history.account_of(shown.device)
        if send.outcome == OK and shown.id != send.id and shown.id not in case.lost_ids:
            text = f"{send.client_id} was acknowledged as {send.id}"
            # A clock may have stepped past the time for which names are remembered, before the last try and after the first.
            if send.id not in case.lost_ids and not case.is_in_doubt(send.began, max(shown.at, send.ended)):
                yield Violation("contradicted", text, shown.at, shown.id, account, shown.device)
        if shown.version == 0 and shown.body != send.body:
            text = f"shown as {shown.body!r}, sent as {send.body!r}"
            yield Violation("contradicted", text, shown.at, shown.id, account, shown.device)


def refused_repeats(case: Case):
    """Nothing of its own may stand in the way of a repeated try."""
    for send in case.history.sends:
        if send.outcome == REFUSED and send.tries > 1 and send.code == "duplicateContent":
            text = f"repeating {send.client_id} unchanged was refused as {send.code}"
            yield Violation("contradicted", text, send.ended, account=send.sender)
        for at, status, code in send.refused_again:
            if send.id in case.lost_ids or case.is_in_doubt(send.began, at):
                continue
            text = f"repeating the acknowledged {send.client_id} was refused with {status} {code}"
            yield Violation("contradicted", text, at, send.id, send.sender)


def refused_cursors(case: Case):
    """Every cursor that was handed out is accepted."""
    for told in case.history.told:
        if told.what == "cursorRefused":
            account = case.history.account_of(told.device)
            text = f"the cursor it was given is refused: {told.first}"
            yield Violation("contradicted", text, told.at, account=account, device=told.device)


RULES = [
    *(lost_and_late, let_go_unread, lost_from_the_feed, doubled, started_over, reordered, misdirected),
    *(contradicted, refused_repeats, refused_cursors),
]
