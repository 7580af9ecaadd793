"""The faults of a master that Sentinels watch, each from its beginning to where all is well again."""

import asyncio
import contextlib
from random import Random

from bench.failure import Failure

from ..cluster.servers import SLOTS
from ..failovers import begin_failover_fault, end_failover_fault, note_loss_of_place
from ..history import Fault
from ..injections import Injection, hold
from ..keyspace import partitions_in
from ..stage import Stage
from .servers import DOWN_AFTER_SECONDS, Node

# Longer than a failover takes: until the Sentinels agree, and a second or two of an election.
ELECTION_SECONDS = DOWN_AFTER_SECONDS + 4


ALL_PARTITIONS = partitions_in(((0, SLOTS - 1),))


def begin(stage: Stage, kind: str, detail: str, *, loses_place: bool) -> Fault:
    return begin_failover_fault(stage, kind, detail, undone=ALL_PARTITIONS if loses_place else None)


async def healed(stage: Stage, fault: Fault, *, keeps_place: Node | None = None) -> None:
    """On a machine that is held up, the Sentinels may take a master for gone that is to keep its place."""
    await stage.redis.converge()
    if keeps_place and not await asyncio.to_thread(keeps_place.is_master):
        note_loss_of_place(stage, fault, ALL_PARTITIONS)
    await end_failover_fault(stage, fault)


async def both(stage: Stage) -> tuple[Node, Node]:
    master = await asyncio.to_thread(stage.redis.master)
    return master, next(node for node in stage.redis.nodes if node is not master)


# --- The master -----------------------------------------------------------------------------------------------


async def master_killed(stage: Stage, random: Random) -> None:
    """The replica takes over, and the master comes back as its replica."""
    master, replica = await both(stage)
    fault = begin(stage, "master killed", master.name, loses_place=True)
    master.kill()
    await stage.redis.taken_over(replica)
    await hold(random.random() * 3)
    await master.start()
    await healed(stage, fault)


async def master_restarted(stage: Stage, random: Random) -> None:
    """Sooner than the Sentinels notice: it is the master as before, with what its file has."""
    master, _ = await both(stage)
    fault = begin(stage, "master killed and started at once", master.name, loses_place=False)
    master.kill()
    await hold(0.2)
    await master.start()
    await healed(stage, fault, keeps_place=master)


async def master_stopped(stage: Stage, random: Random) -> None:
    """When it goes on it takes itself for the master, until a Sentinel makes it a replica."""
    master, _ = await both(stage)
    seconds = ELECTION_SECONDS + random.random() * 4
    detail = f"{master.name} for {seconds:.0f} s"
    fault = begin(stage, "master frozen, past its time", detail, loses_place=True)
    master.pause()
    await hold(seconds)
    master.go_on()
    await healed(stage, fault)


async def master_stopped_briefly(stage: Stage, random: Random) -> None:
    master, _ = await both(stage)
    fault = begin(stage, "master frozen, within its time", master.name, loses_place=False)
    master.pause()
    await hold(DOWN_AFTER_SECONDS / 3)
    master.go_on()
    await healed(stage, fault, keeps_place=master)


async def failover(stage: Stage, random: Random) -> None:
    """The old master takes writes until brokers have heard of the other."""
    master, replica = await both(stage)
    fault = begin(stage, "failover", f"{master.name} to {replica.name}", loses_place=True)
    await stage.redis.fail_over(replica)
    await healed(stage, fault)


async def failed_over_twice(stage: Stage, random: Random) -> None:
    master, replica = await both(stage)
    fault = begin(stage, "failover and failover back", f"{master.name} to {replica.name}", loses_place=True)
    await stage.redis.fail_over(replica)
    await stage.redis.converge()
    await stage.redis.fail_over(master)
    await healed(stage, fault)


# --- The others -----------------------------------------------------------------------------------------------


async def replica_killed(stage: Stage, random: Random) -> None:
    _, replica = await both(stage)
    fault = begin(stage, "replica killed", replica.name, loses_place=False)
    replica.kill()
    await hold(2)
    await replica.start()
    await healed(stage, fault)


async def sentinel_killed(stage: Stage, random: Random) -> None:
    sentinel = random.choice(stage.redis.sentinels)
    fault = begin(stage, "Sentinel killed", sentinel.name, loses_place=False)
    sentinel.kill()
    await hold(3)
    await sentinel.start()
    await healed(stage, fault)


async def sentinels_killed(stage: Stage, random: Random) -> None:
    """Nobody fails over, and brokers keep the master that they have."""
    fault = begin(stage, "all Sentinels killed", "", loses_place=False)
    for sentinel in stage.redis.sentinels:
        sentinel.kill()
    await hold(3)
    await asyncio.gather(*(sentinel.start() for sentinel in stage.redis.sentinels))
    await healed(stage, fault)


async def functions_flushed(stage: Stage, random: Random) -> None:
    master, _ = await both(stage)
    fault = begin(stage, "functions flushed at the master", master.name, loses_place=False)
    with contextlib.suppress(OSError, Failure):
        await asyncio.to_thread(master.call, "FUNCTION", "FLUSH")
    await healed(stage, fault)


# A mixed run chooses from these, with these weights, one after the other.
OF_REDIS: list[tuple[Injection, int]] = [
    (master_killed, 3),
    (master_restarted, 2),
    (master_stopped, 3),
    (master_stopped_briefly, 2),
    (failover, 3),
    (failed_over_twice, 1),
    (replica_killed, 1),
    (sentinel_killed, 1),
    (sentinels_killed, 1),
    (functions_flushed, 1),
]
