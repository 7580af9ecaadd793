"""One scene, from an empty Redis to a judged history."""

import asyncio
import shutil
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import Callable

from .checker import Violation, check
from .ending import drain, read_feeds
from .history import History
from .load.cast import Cast
from .load.people import build
from .recovery import find_recoveries
from .scenes import Scene
from .stage import Stage

BOUND_SECONDS = 10.0


@dataclass
class Setting:
    belfry: Path
    library: Path
    redis_settings: list[Path]
    folder: Path
    bound: float = BOUND_SECONDS
    masters: int | None = None
    """Of a cluster; None for one Redis."""
    has_sentinels: bool = False
    """They watch a master with a replica."""
    is_replicated: bool = False


@dataclass
class Outcome:
    scene: str
    seed: int
    history: History
    violations: list[Violation] = field(default_factory=list)
    folder: Path | None = None
    seconds: float = 0.0


Plant = Callable[[Stage], None]


async def play(
    setting: Setting, name: str, scene: Scene, seed: int, *, seconds: float | None = None, plant: Plant | None = None
) -> Outcome:
    folder = setting.folder / f"{name}-{seed}"
    shutil.rmtree(folder, ignore_errors=True)
    stage = Stage(
        *(folder, setting.belfry, setting.library, setting.redis_settings, seed),
        masters=setting.masters,
        has_sentinels=setting.has_sentinels,
        is_replicated=setting.is_replicated,
        **scene.surroundings,
    )
    began = time.monotonic()
    try:
        if plant:
            plant(stage)
        await stage.start()
        world = await build(stage)
        cast = Cast(stage, world, seconds or scene.seconds, scene.pause, scene.options)
        await cast.begin()
        playing = asyncio.create_task(scene.play(stage, cast))
        while not (await asyncio.wait({playing}, timeout=1))[0]:
            cast.check()
        playing.result()
        cast.check()
        await cast.end_load()
        await drain(stage, setting.bound)
        await read_feeds(stage)
        await cast.end()
    finally:
        await stage.stop()
    find_recoveries(stage.history)
    outcome = Outcome(name, seed, stage.history, check(stage.history, setting.bound), folder)
    outcome.seconds = time.monotonic() - began
    if not outcome.violations:
        shutil.rmtree(folder, ignore_errors=True)
    return outcome
