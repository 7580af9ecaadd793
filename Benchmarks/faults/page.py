"""The figures in docs/faults.md and docs/cluster.md, from a run."""

import statistics
from collections import defaultdict
from pathlib import Path

from .checker import KINDS
from .run import Outcome

END = "<!-- end of figures -->"

# Fault, what it does to a promise, what a producer or a consumer sees.
ROWS = [
    ("broker killed", "none is broken", "requests in flight are unknown: repeat them; streams resume at another broker"),
    ("broker stopped", "none is broken", "as a broker that is gone; it goes on by itself, and carries out what was asked of it; its streams get what came meanwhile, after a minute perhaps with repetitions"),
    ("Redis killed", "none but what had not been flushed to the file; the kernel keeps what was written, so the death of the process alone loses nothing", "503 until it is back; streams stay open"),
    ("Redis stopped", "none is broken", "503 after 2.5 s; what was asked may be carried out when it goes on"),
    ("connections cut", "none is broken", "streams resume, requests are repeated; towards Redis a broker connects again"),
    ("replies cut in the middle", "none is broken", "an event that did not arrive whole is sent again"),
    ("replies eaten", "none is broken", "no answer, or 503, though it was done: the same `messageClientId` gets the first receipt"),
    ("connections slow", "none is broken", "towards Redis, 503 where an answer takes more than 2.5 s"),
    ("connections half-open", "none is broken", "silence: a consumer gives up after two missed signs of life, a broker its subscription after 6 s; what was asked may be carried out when it passes again"),
    ("Redis's clock stepped", "once: a repetition is possible; ids only rise", "perhaps a repetition"),
    ("a broker's clock stepped", "none is broken, while tokens are valid", "nothing"),
    ("tail cut", "what was acknowledged in the lost tail is gone", "`gap` with the range, on streams and pages; nothing that is sent afterwards is passed over"),
    ("disk full", "none is broken", "503 until there is room"),
    ("Redis killed while the disk is full", "what was acknowledged and could not be written is gone", "as for a lost tail"),
    ("the disk is slow", "none is broken", "sends take longer"),
    ("memory full", "none is broken", "503 to sends and changes; fetching and marking read go on"),
    ("memory full, functions flushed", "none is broken", "503 to sends and changes"),
    ("functions flushed", "none is broken", "nothing: the broker loads them again"),
    ("CLIENT KILL", "none is broken", "perhaps a 503; brokers connect again, and read what they missed"),
    ("a consumer stood still", "none is broken", "what came meanwhile, when it reads on"),
]


def write(page: Path, command: str, rows: list[tuple[str, str, str]], outcomes: list[Outcome]) -> None:
    """Between the comment with the command and the next that ends figures."""
    begin = f"<!-- figures: {command} -->\n"
    before, rest = page.read_text().split(begin)
    after = rest.split(END, 1)[1]
    page.write_text(before + begin + figures(rows, outcomes) + END + after)


def figures(rows: list[tuple[str, str, str]], outcomes: list[Outcome]) -> str:
    faults = defaultdict(list)
    for outcome in outcomes:
        for fault in outcome.history.faults:
            faults[fault.kind].append(fault)
    lines = [
        "| fault | times | what it does to a promise | what is seen | to recover, median | most |",
        "|---|--:|---|---|--:|--:|",
    ]
    for kind, promise, seen in rows:
        known = [fault.recovered for fault in faults[kind] if fault.recovered is not None]
        times = (f"{statistics.median(known):.2f} s", f"{max(known):.2f} s") if known else ("–", "–")
        lines.append(f"| {kind} | {len(faults[kind])} | {promise} | {seen} | {times[0]} | {times[1]} |")
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
        f"{sum(len(history.faults) for history in histories):,} faults, {len(sends):,} sends of which "
        f"{sum(send.is_ok for send in sends):,} were acknowledged and {sum(send.tries > 1 for send in sends):,} repeated "
        f"until they were settled, {sum(len(history.shown) for history in histories):,} deliveries.\n"
        f"Violations: {numbers}.\n"
    )
