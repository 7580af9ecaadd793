"""The tables of docs/availability.md, from a run."""

import statistics
from collections import defaultdict
from pathlib import Path

from .checker import KINDS
from .run import Outcome

END = "<!-- end of figures -->"

ALL = "everything"
NOTHING = "nothing"
REPEAT = "repeat what had no answer"

# Fault, what a producer or a consumer sees, what is kept of that which was acknowledged, what is to be done.
ROWS = [
    ("broker killed", "requests in flight have no answer; streams resume at another broker", ALL, f"{REPEAT}; start the broker again"),
    ("broker frozen", "as if the broker were gone. When it runs again, it carries out what was asked of it; its streams get what they missed, after a minute perhaps with repetitions", ALL, "let it run again (SIGCONT), or end it"),
    ("Redis killed", "503 until it is back; streams stay open", "everything that Redis had written to its file. Redis may not yet have written what came during a flush: [the table](#what-the-disk-keeps)", "start Redis again; a broker does that for its embedded Redis"),
    ("Redis frozen", "503 after 2.5 s at most: `unknownOutcome` for changes that Redis may carry out when it runs again, and otherwise `unavailable`", ALL, "let it run again (SIGCONT), or restart it"),
    ("connections cut", "streams resume; brokers connect to Redis again", ALL, REPEAT),
    ("replies cut in the middle", "an event that did not arrive whole is sent again", ALL, NOTHING),
    ("replies eaten", "no answer, or 503, although it was done", ALL, "repeat the send: the same `messageClientId` gets the first receipt"),
    ("connections slow", "503 if Redis takes more than 2.5 s to answer", ALL, "look at the network"),
    ("connections half-open", "silence. A client library gives up after three missed heartbeats (45 s), and a broker gives its subscription up after 6 s. Waiting requests may be carried out when the connection works again", ALL, REPEAT),
    ("Redis's clock stepped", "perhaps a repetition; ids only rise", ALL, "set the clock right"),
    ("a broker's clock stepped", "nothing, while tokens are valid", ALL, "set the clock right"),
    ("tail cut", "`gap` with the range, on streams and pages; readers miss nothing that is sent afterwards", "everything but the lost tail of the append-only file", "send again what matters"),
    ("disk full", "503 until there is room", ALL, "free space; do not restart Redis"),
    ("Redis killed while the disk is full", "as for `tail cut`", "everything but what could not be written", "free space before you start Redis"),
    ("the disk is slow", "sends take longer", ALL, "look at the disk"),
    ("memory full", "503 to sends and changes; fetching and marking read continue", ALL, "make room"),
    ("memory full, functions flushed", "503 to sends and changes", ALL, "make room"),
    ("functions flushed", "nothing: the broker loads them again", ALL, NOTHING),
    ("CLIENT KILL", "perhaps a 503; brokers connect again, and read what they missed", ALL, NOTHING),
    ("a consumer stood still", "it gets what came meanwhile when it reads on", ALL, NOTHING),
]


def write(page: Path, command: str, rows: list[tuple[str, str, str, str]], outcomes: list[Outcome]) -> None:
    """Between the comment with the command and the next that ends figures."""
    begin = f"<!-- figures: {command} -->\n"
    before, rest = page.read_text().split(begin)
    after = rest.split(END, 1)[1]
    page.write_text(before + begin + figures(rows, outcomes) + END + after)


def figures(rows: list[tuple[str, str, str, str]], outcomes: list[Outcome]) -> str:
    faults = defaultdict(list)
    for outcome in outcomes:
        for fault in outcome.history.faults:
            faults[fault.kind].append(fault)
    lines = [
        "| fault | callers see | kept | to do | played | recovered after, median | at most |",
        "|---|---|---|---|--:|--:|--:|",
    ]
    for kind, seen, kept, remedy in rows:
        known = [fault.recovered for fault in faults[kind] if fault.recovered is not None]
        times = (f"{statistics.median(known):.2f} s", f"{max(known):.2f} s") if known else ("–", "–")
        lines.append(f"| {kind} | {seen} | {kept} | {remedy} | {len(faults[kind])} | {times[0]} | {times[1]} |")
    return "\n" + "\n".join(lines) + "\n\n" + about(outcomes) + "\n"


def about(outcomes: list[Outcome]) -> str:
    histories = [outcome.history for outcome in outcomes]
    sends = [send for history in histories for send in history.sends]
    found = defaultdict(int)
    for outcome in outcomes:
        for violation in outcome.violations:
            found[violation.kind] += 1
    seconds = sum(outcome.seconds for outcome in outcomes)
    numbers = ", ".join(f"{kind} {found[kind]}" for kind in KINDS)
    return (
        f"The run took {seconds / 60:.0f} minutes, {len(outcomes)} rounds from seed {outcomes[0].seed} on: "
        f"{sum(history.events for history in histories):,} events, "
        f"{sum(len(history.faults) for history in histories):,} faults, "
        f"{sum(len(history.shown) for history in histories):,} deliveries, {len(sends):,} sends. "
        f"{sum(send.is_ok for send in sends):,} of these were acknowledged. {sum(send.tries > 1 for send in sends):,} had to be "
        f"repeated before they had an answer that settles them.\n"
        f"Violations: {numbers}.\n"
    )
