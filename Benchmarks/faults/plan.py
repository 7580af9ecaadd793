"""A row of faults, drawn before it is played: the same seed gives the same faults, however long each of them takes."""

import asyncio
from dataclasses import dataclass
from random import Random
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from .injections import Injection
    from .stage import Stage

# What a fault takes on average, until all is well again. Only the number of faults in a row follows from it.
USUAL_SECONDS = 3


@dataclass
class PlannedFault:
    rest: float
    """Seconds to wait before it begins."""
    injection: "Injection"
    seed: float
    """The fault draws from it, for example which broker or which connection."""


def draw_row(
    random: Random, choices: "list[tuple[Injection, int]]", *, rest: float, seconds: float, usual: float = USUAL_SECONDS
) -> list[PlannedFault]:
    """Faults for about so many seconds, one after the other, with rests between them."""
    injections, weights = zip(*choices)
    row: list[PlannedFault] = []
    left = seconds
    while True:
        fault = PlannedFault(rest * (0.5 + random.random()), random.choices(injections, weights)[0], random.random())
        left -= fault.rest
        # The row may play over its time by the last of its faults, never by a rest.
        if left <= 0:
            return row
        row.append(fault)
        left -= usual


async def play_row(stage: "Stage", row: list[PlannedFault]) -> None:
    for fault in row:
        await asyncio.sleep(fault.rest)
        await fault.injection(stage, Random(fault.seed))
