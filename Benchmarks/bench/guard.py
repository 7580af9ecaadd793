"""Compares what a send, a batch, a page and a mark cost with what is written down: the commands of Redis for one request, in
whole numbers; and for one notification the instructions of Redis and of the broker.

What takes another command, or more or fewer instructions by more than a few parts in a hundred, is reported, and the exit
status is 1: who means it to be so writes it down (`--write`) and says why.
"""

import argparse
import json
import subprocess
import sys
from pathlib import Path

from .instructions import count, count_commands

COUNTS = Path(__file__).parent.parent / "counts.json"
OPERATIONS = ["sends", "batches", "deliveries", "pages", "marks"]
TOLERANCE = 0.03


def redis_version() -> str:
    words = subprocess.run(["redis-server", "--version"], check=True, capture_output=True, text=True).stdout.split()
    return next(word.removeprefix("v=") for word in words if word.startswith("v="))


def differences(known: dict[str, int], found: dict[str, int], tolerance: float = 0) -> list[str]:
    lines = []
    for name in sorted({*known, *found}):
        before, now = known.get(name, 0), found.get(name, 0)
        if abs(now - before) > tolerance * before:
            lines.append(f"{name}: {now:,} where {before:,} is written down")
    return lines


def main() -> int:
    parser = argparse.ArgumentParser(prog="scripts/count-instructions --check", description=__doc__)
    parser.add_argument("--belfry", type=Path, required=True, help=argparse.SUPPRESS)
    parser.add_argument("--output", type=Path, default=Path(".build/instructions"), help="where the profiles go")
    parser.add_argument("--redis", action="store_true", help="not the broker's instructions; any build of it will do")
    parser.add_argument("--write", action="store_true", help="write down what is found")
    given = parser.parse_args()
    known = json.loads(COUNTS.read_text()) if COUNTS.exists() else {}
    version, failed = redis_version(), False
    # Another Redis has other instructions for the same commands.
    is_same_redis = known.get("redis-server") == version

    def compare(whom: str, name: str, found: dict[str, int], shown: str, tolerance: float, is_judged: bool = True) -> None:
        nonlocal failed
        wrong = differences(known.setdefault(whom, {}).get(name, {}), found, tolerance) if is_judged else []
        failed = failed or bool(wrong)
        print(f"{whom:9} {name:11} {shown}", *wrong, sep="\n    ", flush=True)
        known[whom][name] = found

    # Of a delivery Redis has no part but that of the send.
    of_redis = [name for name in OPERATIONS if name != "deliveries"]
    for name in of_redis:
        commands = count_commands(name, given.belfry)
        compare("commands", name, commands, ", ".join(f"{word} {calls}" for word, calls in commands.items()), 0)
    for whom, names in [("redis", of_redis)] + ([] if given.redis else [("broker", OPERATIONS)]):
        for name in names:
            instructions = round(count(name, given.belfry, given.output / whom, whom == "redis")[0])
            found = {"instructions": instructions}
            compare(whom, name, found, f"{instructions:11,}", TOLERANCE, whom == "broker" or is_same_redis)
    if given.write:
        known["redis-server"] = version
        COUNTS.write_text(json.dumps(known, indent=2, sort_keys=True) + "\n")
        return 0
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
