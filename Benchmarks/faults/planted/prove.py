"""scripts/faults --prove: each kind of violation is planted, and is to be found."""

import asyncio
from dataclasses import dataclass, replace

from ..checker import KINDS
from ..run import Outcome, Setting, play
from ..scenes import SCENES
from ..stage import Stage
from . import histories, streams
from .store import FunctionRewriter

SECONDS = 12.0
BOUND = 6.0
LATE_SECONDS = 12.0


@dataclass
class Plant:
    kind: str
    """By which it is to be found."""
    what: str
    function: tuple[str, str] | None = None
    """In the library of functions: what to look for, and what to put there."""
    stream: streams.Change | None = None
    is_late: bool = False
    says: str = ""
    """What the violation says, where its kind has several rules."""
    scene: str = "quiet"

    def count(self, outcome: Outcome) -> int:
        return sum(one.kind == self.kind and self.says in one.text for one in outcome.violations)

    def put(self, stage: Stage, found: set) -> None:
        for broker in stage.brokers:
            if self.function:
                pattern, replacement = self.function
                broker.back.rewrite_up = lambda: FunctionRewriter(pattern, replacement, found)
            if self.stream:
                make = self.stream
                broker.front.rewrite_down = lambda: streams.StreamRewriter(make())
                found.add(True)
        if self.is_late:
            found.add(True)
            asyncio.get_running_loop().create_task(hold_one(stage))


async def hold_one(stage: Stage) -> None:
    """What one broker says to its clients takes long, and nobody wrote down why."""
    await asyncio.sleep(6)
    stage.brokers[0].front.delay = LATE_SECONDS
    await asyncio.sleep(LATE_SECONDS + 4)
    stage.brokers[0].front.delay = 0


def plants() -> list[Plant]:
    return [
        Plant("lost", "a stream leaves out an event", stream=streams.dropping()),
        Plant("lost", "the store stamps what is for all as for subscribers", (r"and 'all' or 'subscribed'", "and 'subscribed' or 'subscribed'")),
        Plant(
            "lost",
            "an account's index is not told of what was sent to it",
            (r"local function change_index\([^)]*\)", r"\g<0>\n  if string.sub(space, 1, 7) == 'direct:' then return true end"),
        ),
        Plant("doubled", "a stream repeats an event", stream=streams.doubling()),
        Plant(
            "contradicted",
            "the store does not look whether it was sent before",
            (r"if earlier then return earlier end", ""),
            says="was answered with",
        ),
        Plant("reordered", "a stream has two events in another order", stream=streams.reordering()),
        Plant("misdirected", "a stream has an event of another account's", stream=streams.misdirecting()),
        Plant("misdirected", "the store stamps what is for subscribers as for all", (r"and 'all' or 'subscribed'", "and 'all' or 'all'")),
        Plant(
            "resurrected",
            "the store does not keep what is marked read",
            (r"call_in_chunks\('SADD', read_key\(prefix, account\), items\)", "#items"),
        ),
        Plant("untold", "a stream leaves out what was marked read", says="marked read", stream=streams.dropping_events(b"read")),
        Plant(
            "untold",
            "the store does not append updates",
            says="this device was not told in time",
            function=(r"local function announce_update\([^)]*\)", r"\g<0>\n  if true then return end"),
        ),
        Plant("miscounted", "the store counts ten more", (r"return count \.\. ' ' \.\. version", "return (count + 10) .. ' ' .. version")),
        Plant("late", "a broker's clients wait for what it says", is_late=True),
    ]


async def prove(setting: Setting) -> int:
    print("Histories that are wrong in one way each:", flush=True)
    if not histories.run():
        return 1
    setting = replace(setting, bound=BOUND)
    failed = 0
    # What is found without a plant does not show that a plant is.
    without: dict[str, Outcome] = {}
    for number, plant in enumerate(plants()):
        if plant.scene not in without:
            without[plant.scene] = await play(setting, plant.scene, SCENES[plant.scene], 100, seconds=SECONDS)
            kinds = " ".join(sorted({one.kind for one in without[plant.scene].violations}))
            print(f"  nothing planted, in {plant.scene}: found {kinds or 'nothing'}", flush=True)
        fits: set[bool] = set()
        outcome = await play(
            *(setting, plant.scene, SCENES[plant.scene], 100 + number),
            seconds=SECONDS,
            plant=lambda stage: plant.put(stage, fits),
        )
        text, is_found = verdict(plant, outcome, fits, without[plant.scene])
        failed += not is_found
        print(f"  {plant.kind:<13} {plant.what}: {text}", flush=True)
    missing = set(KINDS) - {plant.kind for plant in plants()}
    for kind in sorted(missing):
        print(f"  {kind}: nothing is planted")
    return 1 if failed or missing else 0


def verdict(plant: Plant, outcome: Outcome, fits: set[bool], without: Outcome) -> tuple[str, bool]:
    if True not in fits:
        return "NOT PLANTED: the text that it changes is not there", False
    count, before = plant.count(outcome), plant.count(without)
    if not count:
        others = {violation.kind for violation in outcome.violations}
        return f"NOT FOUND (but {' '.join(sorted(others)) or 'nothing'})", False
    return f"found, {count}" + (f" ({before} without it)" if before else ""), count > 3 * before
