"""Everybody at once: who sends, who changes, who listens, who reads."""

import asyncio
import contextlib

from ..machinery.http import NoAnswer
from ..stage import Stage
from .consumers import Consumer, Marker, Pager, Stream
from .members import everybody
from .people import ACCOUNTS, World
from .producers import Producer, Recaller, Updater

# They never mark anything: all that was ever for them is to be in their feed at the end.
KEEPERS = {"a3", "a12", "a5"}
SETTLING_SECONDS = 8
WITH_PAGERS = {"a2", "a4", "a6", "a9", "a12"}


class Cast:
    def __init__(self, stage: Stage, world: World, seconds: float, pause: float, options: dict):
        self.stage, self.world, self.seconds = stage, world, seconds
        self.began = stage.now
        producers = options.get("producers", 4)
        self.producers = [Producer(stage, world, number, 0.15) for number in range(producers)]
        self.updater = Updater(stage, 0.5)
        self.recaller = Recaller(stage, 2.0)
        self.members = everybody(stage, world, pause)
        self.streams: list[Stream] = []
        for account in ACCOUNTS:
            self.streams.append(Stream(stage, account, "desk", life=None))
            self.streams.append(Stream(stage, account, "phone", life=12))
        self.pagers = [Pager(stage, account) for account in ACCOUNTS if account in WITH_PAGERS]
        self.markers = [
            Marker(stage, [stream for stream in self.streams if stream.account == account], 1.2)
            for account in ACCOUNTS
            if account not in KEEPERS and options.get("markers", True)
        ]
        self._acting: list[asyncio.Task] = []
        self._listening: list[asyncio.Task] = []

    def new_markers(self, account: str, count: int) -> list[Marker]:
        streams = [stream for stream in self.streams if stream.account == account]
        return [Marker(self.stage, streams, 1) for _ in range(count)]

    @property
    def consumers(self) -> list[Consumer]:
        return [*self.streams, *self.pagers]

    async def begin(self) -> None:
        self._listening = [asyncio.create_task(consumer.run()) for consumer in self.consumers]
        await asyncio.sleep(1)
        acting = [*self.producers, self.updater, self.recaller, *self.members, *self.markers]
        self._acting = [asyncio.create_task(each.run()) for each in acting]

    def check(self) -> None:
        """A defect of this program must not pass for quiet."""
        for task in [*self._acting, *self._listening]:
            if task.done() and not task.cancelled() and task.exception():
                raise task.exception()

    async def end_load(self) -> None:
        """What is under way is settled; nothing new begins."""
        self.stage.is_over = True
        await asyncio.wait(self._acting, timeout=SETTLING_SECONDS)
        for task in self._acting:
            task.cancel()
        await asyncio.gather(*self._acting, return_exceptions=True)

    async def end(self) -> None:
        for consumer in self.consumers:
            consumer.is_over = True
        for task in self._listening:
            task.cancel()
        for result in await asyncio.gather(*self._listening, return_exceptions=True):
            if isinstance(result, Exception) and not isinstance(result, (NoAnswer, OSError)):
                with contextlib.suppress(asyncio.CancelledError):
                    raise result
