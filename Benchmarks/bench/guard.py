"""Compares what a send, a line of a batch, a delivery, an entry of a page and a mark cost with what is written down:
commands of Redis, instructions of Redis, instructions of the broker.

What costs more, or less, than is written by more than a few parts in a hundred is reported, and the exit status is 1:
who means it to be so writes it down (`--write`) and says why.
"""

import argparse
import json
import subprocess
import sys
from pathlib import Path

from .instructions import Count, count

COUNTS = Path(__file__).parent.parent / "counts.json"
OPERATIONS = ["sends", "batches", "deliveries", "pages", "marks"]
TOLERANCE = 0.03
# Of calls a send: what a round that is a little shorter makes of them.
ROUNDING = 0.01
# Fewer calls of a command than this for each operation come and go by chance, as those that tend a log.
COMMANDS_LEAST = 0.2


def redis_version() -> str:
    words = subprocess.run(["redis-server", "--version"], check=True, capture_output=True, text=True).stdout.split()
    return next(word.removeprefix("v=") for word in words if word.startswith("v="))


def figures(counted: Count, of_redis: bool) -> dict[str, float]:
    """By name. The commands are the same whoever is counted; they are looked at with Redis."""
    found = {"instructions": round(counted.instructions)}
    if of_redis:
        for name, calls in counted.commands.items():
            if calls >= COMMANDS_LEAST:
                found[name] = round(calls, 3)
    return found


def differences(known: dict[str, float], found: dict[str, float]) -> list[str]:
    lines = []
    for name in sorted({*known, *found}):
        before, now = known.get(name, 0), found.get(name, 0)
        if abs(now - before) > TOLERANCE * before + ROUNDING:
            lines.append(f"{name}: {now:,g} where {before:,g} is written down")
    return lines


def main() -> int:
    parser = argparse.ArgumentParser(prog="scripts/count-instructions --check", description=__doc__)
    parser.add_argument("--belfry", type=Path, required=True, help=argparse.SUPPRESS)
    parser.add_argument("--output", type=Path, default=Path(".build/instructions"), help="where the profiles go")
    parser.add_argument("--redis", action="store_true", help="only what Redis does; any build of the broker will do")
    parser.add_argument("--write", action="store_true", help="write down what is found")
    given = parser.parse_args()
    known = json.loads(COUNTS.read_text()) if COUNTS.exists() else {}
    version, failed = redis_version(), False
    for whom in ["redis"] if given.redis else ["redis", "broker"]:
        for name in OPERATIONS:
            # Of a delivery Redis has no part but that of the send.
            if whom == "redis" and name == "deliveries":
                continue
            counted = figures(count(name, given.belfry, given.output / whom, whom == "redis"), whom == "redis")
            before = known.setdefault(whom, {}).get(name, {})
            if whom == "redis" and known.get("redis-server") != version:
                # Another Redis has other instructions for the same commands.
                before = {word: calls for word, calls in before.items() if word != "instructions"}
                compared = {word: calls for word, calls in counted.items() if word != "instructions"}
            else:
                compared = counted
            found = differences(before, compared)
            failed = failed or bool(found)
            print(f"{whom:7} {name:11} {counted['instructions']:11,}", *found, sep="\n    " if found else " ", flush=True)
            known[whom][name] = counted
    if given.write:
        known["redis-server"] = version
        COUNTS.write_text(json.dumps(known, indent=2, sort_keys=True) + "\n")
        return 0
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
