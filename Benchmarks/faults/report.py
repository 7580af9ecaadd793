"""What a run found: a table, and of each violation the smallest relevant part of the history."""

import re
import statistics
from collections import defaultdict

from .checker import KINDS, Violation
from .history import FOREVER, History, Send, Told
from .run import Outcome

SHOWN_OF_A_KIND = 2


def table(outcomes: list[Outcome]) -> str:
    histories = [outcome.history for outcome in outcomes]
    sends = [send for history in histories for send in history.sends]
    lines = [
        f"{len(outcomes)} scenes, {sum(outcome.seconds for outcome in outcomes):.0f} s; "
        f"{sum(history.events for history in histories):,} events",
        f"{len(sends):,} sends: {sum(send.is_ok for send in sends):,} acknowledged, "
        f"{sum(send.outcome == 'refused' for send in sends):,} refused, "
        f"{sum(send.outcome == 'unknown' for send in sends):,} unknown; "
        f"{sum(send.tries > 1 for send in sends):,} repeated until settled",
        f"{sum(len(history.shown) for history in histories):,} deliveries, "
        f"{sum(len(history.marks) for history in histories):,} marks, "
        f"{sum(len(history.updates) for history in histories):,} updates, "
        f"{sum(len(history.recalls) for history in histories):,} recalls, "
        f"{sum(len(history.changes) for history in histories):,} changes of membership, "
        f"{sum(told.what == 'gap' for history in histories for told in history.told):,} gaps told",
        "",
        f"{'fault':<40} {'times':>6} {'to recover, s: median':>22} {'most':>6}",
    ]
    faults = defaultdict(list)
    for history in histories:
        for fault in history.faults:
            faults[fault.kind].append(fault)
    for kind, all in sorted(faults.items()):
        known = [fault.recovered for fault in all if fault.recovered is not None]
        median = f"{statistics.median(known):.2f}" if known else "–"
        most = f"{max(known):.2f}" if known else "–"
        lines.append(f"{kind:<40} {len(all):>6} {median:>22} {most:>6}")
    lines += ["", f"{'violation':<14} {'found':>6}"]
    for kind in KINDS:
        count = sum(violation.kind == kind for outcome in outcomes for violation in outcome.violations)
        lines.append(f"{kind:<14} {count:>6}   {KINDS[kind]}")
    return "\n".join(lines)


def evidence(outcome: Outcome) -> str:
    """A few of each kind."""
    lines = [f"{outcome.scene}, seed {outcome.seed}; logs and data in {outcome.folder}"]
    by_kind = defaultdict(list)
    for violation in outcome.violations:
        by_kind[violation.kind].append(violation)
    for kind, all in by_kind.items():
        lines.append(f"\n{kind}: {len(all)}")
        by_text = defaultdict(list)
        for violation in all:
            by_text[re.sub(r"[\d.-]+|a\d+-\w+", "#", violation.text)].append(violation)
        for alike in by_text.values():
            if len(alike) > SHOWN_OF_A_KIND:
                lines.append(f"  {len(alike)} like these:")
            for violation in alike[:SHOWN_OF_A_KIND]:
                lines += part(outcome.history, violation)
    return "\n".join(lines)


def changes_around(history: History, violation: Violation, send: Send | None, at) -> list[tuple[float, str]]:
    """What the account was changed to, where it was sent: the last before and the first after. And whatever else it was
    changed to just then."""
    own = [
        (
            change.began,
            f"{account} {what}: {value}, {change.outcome} {change.status}, {at(change.ended)}",
            what.split(":")[-1],
        )
        for change in history.changes
        for account, what, value in change.effects
        if account == violation.account
    ]
    found = {(began, text) for began, text, _ in own if abs(began - violation.at) < 0.5}
    if send and send.space != "accounts":
        name = send.space.split(":")[-1].split("/")[0]
        there = [(began, text) for began, text, where in own if where.split("/")[0] == name]
        found.update([one for one in there if one[0] < send.began][-3:])
        found.update([one for one in there if one[0] >= send.began][:3])
        if len(there) > 6:
            found.add((send.began, f"{len(there)} changes there in all"))
    return sorted(found)


def concerns(told: Told, id: str) -> bool:
    is_up_to = told.up_to and id and int(told.up_to) >= int(id)
    return id in told.ids or bool(is_up_to) or told.what in ("gap", "cursorRefused", "preferences")


def part(history: History, violation: Violation) -> list[str]:
    """What concerns the entry, the account and the device."""
    start = min((change.began for change in history.changes), default=0.0)

    def at(time: float) -> str:
        return "never" if time == FOREVER else f"{time - start:8.3f}"

    who = violation.device or violation.account
    lines = [f"  {violation.id} {who}: {violation.text}"]
    facts: list[tuple[float, str]] = []
    send = next((send for send in history.sends if send.id and send.id == violation.id), None)
    if send:
        what = f"sent by {send.sender} to {send.space} {' '.join(send.to)}: {send.outcome}, tries {send.tries}"
        facts.append((send.began, f"{what}, settled {at(send.ended)}"))
    for shown in history.shown:
        if shown.id == violation.id and history.account_of(shown.device) == violation.account:
            facts.append((shown.at, f"shown to {shown.device} (asked for {at(shown.asked)}), version {shown.version}"))
    for mark in history.marks:
        is_covered = violation.id and mark.up_to and int(mark.up_to) >= int(violation.id)
        if mark.account == violation.account and (violation.id in mark.items or is_covered):
            how = f"up to {mark.up_to}" if mark.up_to else "by name"
            facts.append((mark.began, f"marked read {how} on {mark.device}: {mark.outcome}, {at(mark.ended)}"))
    for told in history.told:
        if told.device == violation.device and concerns(told, violation.id) and abs(told.at - violation.at) < 20:
            facts.append((told.at, f"{told.device} told {told.what} {told.up_to}{told.first} {told.last}"))
    for update in history.updates:
        if update.id == violation.id:
            facts.append((update.began, f"version {update.version}: {update.outcome}, {at(update.ended)}"))
    times = [time for time, _ in facts] or [violation.at]
    first, last = min(times) - 2, min(max(times), violation.at + 15) + 2
    # The faults at hand when it was sent, and when it went wrong.
    moments = [violation.at, *([send.began] if send else [])]
    for fault in history.faults:
        if any(fault.began <= moment + 4 and fault.ended >= moment - 4 for moment in moments):
            facts.append((fault.began, f"FAULT {fault.kind} {fault.detail}, until {at(fault.ended)}"))
    for spell in history.spells:
        if spell.device == violation.device and first <= spell.began <= last:
            facts.append((spell.began, f"{spell.device} connected, until {at(spell.ended)}"))
    facts += changes_around(history, violation, send, at)
    facts = sorted(facts)
    if len(facts) > 24:
        facts = facts[:12] + [(facts[12][0], f"… {len(facts) - 24} more")] + facts[-12:]
    return lines + [f"    {at(time)}  {text}" for time, text in facts]
