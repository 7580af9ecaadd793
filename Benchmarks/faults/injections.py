"""The faults, each from its beginning to where all is well again."""

import asyncio
import contextlib
from random import Random
from typing import Awaitable, Callable

from bench.failure import Failure

from .history import Fault
from .load.consumers import Stream
from .machinery.proxy import Proxy
from .machinery.servers import Broker, wait_until
from .stage import Stage

RETURN_SECONDS = 40


async def hold(seconds: float) -> None:
    await asyncio.sleep(seconds)


async def brokers_are_ready(stage: Stage) -> None:
    for broker in stage.brokers:
        if broker.is_up and not broker.is_stopped:
            await wait_until(broker.is_ready, RETURN_SECONDS, f"{broker.name} is ready again")


async def healed(stage: Stage, fault: Fault) -> None:
    await brokers_are_ready(stage)
    stage.end_fault(fault)


def any_broker(stage: Stage, random: Random) -> Broker:
    return random.choice(stage.brokers)


def any_way(stage: Stage, random: Random) -> tuple[Proxy, str]:
    """A connection before or behind a broker, and what it is called."""
    broker = any_broker(stage, random)
    proxy = random.choice(broker.proxies)
    return proxy, f"{broker.name} to {'clients' if proxy is broker.front else 'Redis'}"


# --- Processes ------------------------------------------------------------------------------------------------


async def broker_killed(stage: Stage, random: Random, seconds: float = 2) -> None:
    broker = any_broker(stage, random)
    fault = stage.begin_fault("broker killed", broker.name)
    broker.kill()
    await hold(seconds)
    await broker.start()
    await healed(stage, fault)


async def broker_stopped(stage: Stage, random: Random, seconds: float = 4) -> None:
    broker = any_broker(stage, random)
    # Longer than what a broker reckons with: what it missed is in doubt.
    fault = stage.begin_fault("broker frozen", f"{broker.name} for {seconds:.0f} s", is_step=seconds > 50)
    broker.pause()
    await hold(seconds)
    broker.go_on()
    await healed(stage, fault)


async def broker_stopped_long(stage: Stage, random: Random) -> None:
    await broker_stopped(stage, random, 76)


async def redis_killed(stage: Stage, random: Random, seconds: float = 1) -> None:
    fault = stage.begin_fault("Redis killed")
    stage.redis.kill()
    await hold(seconds)
    await stage.redis.start()
    await healed(stage, fault)


async def redis_stopped(stage: Stage, random: Random, seconds: float = 3) -> None:
    fault = stage.begin_fault("Redis frozen", f"for {seconds:.0f} s", is_step=seconds > 50)
    stage.redis.pause()
    await hold(seconds)
    stage.redis.go_on()
    await healed(stage, fault)


async def redis_stopped_long(stage: Stage, random: Random) -> None:
    await redis_stopped(stage, random, 72)


# --- Connections ----------------------------------------------------------------------------------------------


async def connections_cut(stage: Stage, random: Random) -> None:
    proxy, way = any_way(stage, random)
    fault = stage.begin_fault("connections cut", way)
    proxy.cut()
    await healed(stage, fault)


async def replies_cut(stage: Stage, random: Random, seconds: float = 2) -> None:
    proxy, way = any_way(stage, random)
    fault = stage.begin_fault("replies cut in the middle", way)
    for _ in range(int(seconds * 2)):
        proxy.cuts_next_replies = 3
        await hold(0.5)
    proxy.heal()
    await healed(stage, fault)


async def replies_eaten(stage: Stage, random: Random, seconds: float = 1.5) -> None:
    """What was asked is done, and nobody hears that it was."""
    proxy, way = any_way(stage, random)
    fault = stage.begin_fault("replies eaten", way)
    proxy.eats_replies = True
    await hold(seconds)
    # In the middle of an answer nothing can be left out: whoever waits for it is cut.
    proxy.cut()
    proxy.heal()
    await healed(stage, fault)


async def connections_slow(stage: Stage, random: Random, seconds: float = 4) -> None:
    proxy, way = any_way(stage, random)
    delay = random.choice([0.1, 0.5, 1.5])
    fault = stage.begin_fault("connections slow", f"{way}, {delay} s a piece")
    proxy.delay = delay
    await hold(seconds)
    proxy.heal()
    await healed(stage, fault)


async def half_open(stage: Stage, random: Random, seconds: float = 5) -> None:
    proxy, way = any_way(stage, random)
    fault = stage.begin_fault("connections half-open", f"{way} for {seconds:.0f} s")
    proxy.stall()
    await hold(seconds)
    if random.random() < 0.5:
        proxy.cut()
    proxy.heal()
    await healed(stage, fault)


async def half_open_long(stage: Stage, random: Random) -> None:
    await half_open(stage, random, 72)


# --- Clocks ---------------------------------------------------------------------------------------------------

STEPS = [-3_600, -600, -61, -5, 5, 61, 600, 3_600]


async def redis_clock_steps(stage: Stage, random: Random, by: float | None = None) -> None:
    by = random.choice(STEPS) if by is None else by
    system = stage.redis.system
    fault = stage.begin_fault("Redis's clock stepped", f"by {by:+.0f} s", is_step=True)
    system.tell(step_seconds=system.step_seconds + by)
    await healed(stage, fault)


async def redis_clock_forward_and_back(stage: Stage, random: Random, by: float = 600) -> None:
    await redis_clock_steps(stage, random, by)
    await hold(6)
    await redis_clock_steps(stage, random, -by)


async def broker_clock_steps(stage: Stage, random: Random) -> None:
    by = random.choice(STEPS)
    broker = any_broker(stage, random)
    # Beyond an hour in all, tokens would end.
    if abs(broker.system.step_seconds + by) > 7_300:
        by = -by
    fault = stage.begin_fault("a broker's clock stepped", f"{broker.name} by {by:+.0f} s", is_step=True)
    broker.system.tell(step_seconds=broker.system.step_seconds + by)
    await healed(stage, fault)


# --- Disk and memory ------------------------------------------------------------------------------------------


async def tail_cut(stage: Stage, random: Random, seconds: float = 3, *, clock_behind: float = 0) -> None:
    """Redis dies, and what it wrote last is not in its file: as after a power cut."""
    size, since = stage.redis.file.size(), stage.now
    await hold(seconds)
    detail = f"{seconds:.0f} s of the file" + (f", clock {clock_behind:.0f} s behind" if clock_behind else "")
    # What was written may have waited for a flush before.
    fault = stage.begin_fault("tail cut", detail, is_step=True, lost_since=since - 3)
    stage.redis.kill()
    stage.redis.file.cut(size)
    if clock_behind:
        system = stage.redis.system
        system.tell(step_seconds=system.step_seconds - clock_behind)
    await stage.redis.start()
    await healed(stage, fault)


async def tail_cut_behind(stage: Stage, random: Random) -> None:
    await tail_cut(stage, random, 3, clock_behind=8)


async def disk_full(stage: Stage, random: Random, seconds: float = 4) -> None:
    fault = stage.begin_fault("disk full", f"for {seconds:.0f} s")
    stage.redis.system.tell(disk_is_full=True)
    await hold(seconds)
    stage.redis.system.tell(disk_is_full=False)
    await hold(1.2)
    await healed(stage, fault)


async def killed_while_disk_is_full(stage: Stage, random: Random, seconds: float = 3) -> None:
    """What was acknowledged and could not be written is gone: `everysec` promises no more."""
    fault = stage.begin_fault("Redis killed while the disk is full", is_step=True, lost_since=stage.now - 3)
    stage.redis.system.tell(disk_is_full=True)
    await hold(seconds)
    stage.redis.kill()
    fault.killed = stage.now
    stage.redis.system.tell(disk_is_full=False)
    await stage.redis.start()
    await healed(stage, fault)


async def flush_slow(stage: Stage, random: Random, seconds: float = 5) -> None:
    fault = stage.begin_fault("the disk is slow", "1.8 s a flush")
    stage.redis.system.tell(flush_seconds=1.8)
    await hold(seconds)
    stage.redis.system.tell(flush_seconds=0)
    await hold(2)
    await healed(stage, fault)


async def memory_full(stage: Stage, random: Random, seconds: float = 3, *, flush: bool = False) -> None:
    kind = "memory full, functions flushed" if flush else "memory full"
    fault = stage.begin_fault(kind, f"for {seconds:.0f} s")
    await redis_call(stage, "CONFIG", "SET", "maxmemory", "1mb")
    if flush:
        await redis_call(stage, "FUNCTION", "FLUSH")
    await hold(seconds)
    await redis_call(stage, "CONFIG", "SET", "maxmemory", "0")
    await healed(stage, fault)


async def memory_full_and_flushed(stage: Stage, random: Random) -> None:
    await memory_full(stage, random, flush=True)


async def functions_flushed(stage: Stage, random: Random) -> None:
    fault = stage.begin_fault("functions flushed")
    await redis_call(stage, "FUNCTION", "FLUSH")
    await healed(stage, fault)


# --- Clients --------------------------------------------------------------------------------------------------


async def clients_killed(stage: Stage, random: Random) -> None:
    kind = random.choice(["normal", "pubsub"])
    fault = stage.begin_fault("CLIENT KILL", kind)
    await redis_call(stage, "CLIENT", "KILL", "TYPE", kind)
    await healed(stage, fault)


async def pubsub_killed(stage: Stage, random: Random) -> None:
    fault = stage.begin_fault("CLIENT KILL", "pubsub")
    await redis_call(stage, "CLIENT", "KILL", "TYPE", "pubsub")
    await healed(stage, fault)


STILL_SECONDS = 8


async def consumer_stands_still(
    stage: Stage, random: Random, streams: list[Stream], seconds: float = STILL_SECONDS
) -> None:
    stream = random.choice(streams)
    fault = stage.begin_fault("a consumer stood still", f"{stream.name} for {seconds:.0f} s", holds_requests=False)
    stream.reads.clear()
    await hold(seconds)
    stream.reads.set()
    stage.end_fault(fault)


async def redis_call(stage: Stage, *words: str) -> None:
    for _ in range(20):
        with contextlib.suppress(OSError, Failure):
            await asyncio.to_thread(stage.redis.call, *words)
            return
        await asyncio.sleep(0.3)
    raise Failure(f"Redis does not take {' '.join(words)}")


Injection = Callable[[Stage, Random], Awaitable[None]]

# What a mixed run chooses from, with how often.
MIXED: list[tuple[Injection, int]] = [
    (broker_killed, 4),
    (broker_stopped, 3),
    (redis_killed, 3),
    (redis_stopped, 2),
    (connections_cut, 4),
    (replies_cut, 4),
    (replies_eaten, 3),
    (connections_slow, 3),
    (half_open, 3),
    (redis_clock_steps, 2),
    (broker_clock_steps, 2),
    (tail_cut, 1),
    (disk_full, 2),
    (flush_slow, 1),
    (memory_full, 2),
    (memory_full_and_flushed, 1),
    (functions_flushed, 2),
    (clients_killed, 3),
]
# These concern the one Redis, so two of them at once would undo each other.
ALONE = {
    *(redis_killed, redis_stopped, tail_cut, disk_full, flush_slow, memory_full, memory_full_and_flushed),
    *(functions_flushed, clients_killed, redis_clock_steps),
}
