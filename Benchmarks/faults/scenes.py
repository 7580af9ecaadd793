"""What plays on a stage: a load, and the faults in it."""

import asyncio
from dataclasses import dataclass, field
from random import Random
from typing import Awaitable, Callable

from . import injections
from .late_messages import live_messages_late
from .load.cast import Cast
from .plan import PlannedFault, draw_row, play_row
from .stage import Stage

Play = Callable[[Stage, Cast], Awaitable[None]]


@dataclass
class Scene:
    about: str
    play: Play
    seconds: float = 40
    """Of load; a play may take longer."""
    pause: float = 1.5
    """Between two changes of the same membership, on average."""
    options: dict = field(default_factory=dict)
    """Of the cast."""
    surroundings: dict = field(default_factory=dict)
    """Of the stage, such as `entries_per_space`."""


def again(*each: injections.Injection, rest: float = 4) -> Play:
    """These, one after the other, until the time is over."""

    async def play(stage: Stage, cast: Cast) -> None:
        random = stage.random_of("faults")
        await asyncio.sleep(3)
        end = stage.now + cast.seconds - 6
        count = 0
        while stage.now < end:
            await each[count % len(each)](stage, random)
            count += 1
            await asyncio.sleep(rest * (0.5 + random.random()))

    return play


def once(injection: injections.Injection, before: float = 5, after: float = 8) -> Play:
    async def play(stage: Stage, cast: Cast) -> None:
        await asyncio.sleep(before)
        await injection(stage, stage.random_of("faults"))
        await asyncio.sleep(after)

    return play


async def nothing(stage: Stage, cast: Cast) -> None:
    await asyncio.sleep(cast.seconds)


async def mixed(stage: Stage, cast: Cast) -> None:
    """Two rows of faults side by side, one of which has those of Redis, and consumers that stand still now and then."""

    def row(name: str, choices, rest: float, **more) -> list[PlannedFault]:
        # They begin after three seconds. Faults last, and some wait until all is well again: none begins in the last four.
        return draw_row(stage.random_of(f"faults of {name}"), choices, rest=rest, seconds=cast.seconds - 7, **more)

    async def still(stage: Stage, random: Random) -> None:
        await injections.consumer_stands_still(stage, random, cast.streams)

    shared = [(injection, weight) for injection, weight in injections.MIXED if injection not in injections.ALONE]
    alone = [(injection, weight) for injection, weight in injections.MIXED if injection in injections.ALONE]
    rows = [
        row("all", shared, 6),
        row("Redis", alone, 10),
        row("consumers", [(still, 1)], 10, usual=injections.STILL_SECONDS),
    ]
    await asyncio.sleep(3)
    await asyncio.gather(*(play_row(stage, each) for each in rows))


async def standing_still(stage: Stage, cast: Cast) -> None:
    random = stage.random_of("faults")
    await asyncio.sleep(3)
    end = stage.now + cast.seconds - 6
    while stage.now < end:
        await injections.consumer_stands_still(stage, random, cast.streams)
        await asyncio.sleep(2)


async def cycles(stage: Stage, cast: Cast) -> None:
    """Each membership changes more often than any list of its changes might be long."""
    await asyncio.sleep(cast.seconds)


async def all_at_once(stage: Stage, cast: Cast) -> None:
    """Four marks of all up to the same place at the same time; at the end of what is old enough to be below any mark's
    line, too."""

    async def mark(account: str) -> None:
        stream = next(stream for stream in cast.streams if stream.account == account)
        markers = cast.new_markers(account, 4)
        await asyncio.gather(*(marker.mark(stream, everything=True) for marker in markers))

    await asyncio.sleep(4)
    end = stage.now + cast.seconds
    while stage.now < end:
        await asyncio.sleep(6)
        await mark("a2")
    for account in ("a4", "a6", "a7"):
        await mark(account)


async def left_while_away(stage: Stage, cast: Cast) -> None:
    """The answer is lost, and before the send is repeated its receiver leaves."""
    await asyncio.sleep(3)
    end = stage.now + cast.seconds - 6
    while stage.now < end:
        for broker in stage.brokers:
            broker.back.eats_replies = True
        fault = stage.begin_fault("replies eaten", "all brokers to Redis")
        await asyncio.sleep(1.2)
        for broker in stage.brokers:
            broker.back.cut()
            broker.back.heal()
        await injections.healed(stage, fault)
        await asyncio.sleep(3)


async def unrelayed(stage: Stage, cast: Cast) -> None:
    """Direct messages are acknowledged just as memory is full: what their relay is refused must not become read unseen."""
    await asyncio.sleep(3)
    for _ in range(3):
        sends = [asyncio.create_task(cast.producers[0].send_one("several")) for _ in range(20)]
        await injections.memory_full(stage, stage.random_of("faults"), 70)
        await asyncio.gather(*sends)
        for marker in cast.markers:
            await marker.mark(marker.streams[0], everything=True)
        await asyncio.sleep(3)
        if stage.now > cast.began + cast.seconds:
            return


SCENES: dict[str, Scene] = {
    "mixed": Scene("everything mixed", mixed, seconds=100),
    "quiet": Scene("no fault at all: members come and go, devices are cut and resume", nothing),
    "cycles": Scene("no fault: members, blocks and subscriptions change twenty times", cycles, pause=0.4),
    "marks": Scene(
        "no fault: the same is marked by four at once", all_at_once, seconds=66, pause=1e6, options={"markers": False}
    ),
    "broker-killed": Scene("SIGKILL of brokers", again(injections.broker_killed)),
    "broker-stopped": Scene("SIGSTOP of brokers for some seconds", again(injections.broker_stopped)),
    "broker-stopped-long": Scene("SIGSTOP of a broker for 76 s", once(injections.broker_stopped_long)),
    "redis-killed": Scene("SIGKILL of Redis", again(injections.redis_killed)),
    "redis-stopped": Scene("SIGSTOP of Redis for some seconds", again(injections.redis_stopped)),
    "redis-stopped-long": Scene("SIGSTOP of Redis for 72 s", once(injections.redis_stopped_long)),
    "cut": Scene("connections cut, also in the middle of a reply", again(injections.connections_cut, injections.replies_cut)),
    "eaten": Scene("done, and no answer", again(injections.replies_eaten)),
    "eaten-by-all": Scene("done, no answer from any broker, and members leave meanwhile", left_while_away, pause=0.6),
    "slow": Scene("connections delayed", again(injections.connections_slow)),
    "half-open": Scene("connections stand, and nothing passes", again(injections.half_open)),
    "half-open-long": Scene("nothing passes for 72 s", once(injections.half_open_long)),
    "redis-clock": Scene("Redis's clock steps, up to an hour", again(injections.redis_clock_steps)),
    "redis-clock-back": Scene(
        "Redis's clock ten minutes forward, and back", again(injections.redis_clock_forward_and_back)
    ),
    "broker-clock": Scene("a broker's clock steps, up to an hour", again(injections.broker_clock_steps)),
    "tail": Scene("the last seconds of the append-only file are lost", again(injections.tail_cut)),
    "tail-behind": Scene("the same, and the clock is behind afterwards", once(injections.tail_cut_behind, after=20)),
    "memory": Scene("maxmemory is reached, and raised", again(injections.memory_full)),
    "memory-flushed": Scene("FUNCTION FLUSH at maxmemory", again(injections.memory_full_and_flushed)),
    "unrelayed": Scene("relays are refused for 70 s, then all is marked read", unrelayed, seconds=70),
    "disk": Scene("the disk is full, and slow", again(injections.disk_full, injections.flush_slow)),
    "disk-killed": Scene("Redis is killed while the disk is full", again(injections.killed_while_disk_is_full)),
    "capped": Scene(
        "logs keep a hundred entries; brokers stop and connections are cut",
        again(injections.broker_stopped, injections.connections_cut),
        seconds=60,
        surroundings={"entries_per_space": 100},
    ),
    "late-messages": Scene("live messages arrive once more, and late", again(live_messages_late, rest=2)),
    "flushed": Scene("FUNCTION FLUSH", again(injections.functions_flushed)),
    "client-kill": Scene("CLIENT KILL TYPE normal and pubsub", again(injections.clients_killed)),
    "pubsub-kill": Scene("CLIENT KILL TYPE pubsub while much is marked", again(injections.pubsub_killed, rest=2)),
    "still": Scene("consumers that do not read, and go on", standing_still),
}
