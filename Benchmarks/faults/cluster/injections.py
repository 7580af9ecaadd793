"""The faults of a cluster, each from its beginning to where all is well again."""

import asyncio
import contextlib
from random import Random

from bench.failure import Failure

from ..failovers import begin_failover_fault, end_failover_fault, note_loss_of_place
from ..history import Fault
from ..injections import Injection, hold
from ..keyspace import partitions_in
from ..stage import Stage
from .servers import NODE_TIMEOUT_SECONDS, Node

# Longer than an election takes: the node timeout, until the others agree, and a second at most until a replica asks.
ELECTION_SECONDS = NODE_TIMEOUT_SECONDS + 4
MOVES_MOST = 3


def begin(stage: Stage, kind: str, detail: str, *, loses_place: Node | None = None) -> Fault:
    undone = partitions_in(loses_place.own().slots) if loses_place else None
    return begin_failover_fault(stage, kind, detail, undone=undone)


async def any_master(stage: Stage, random: Random) -> Node:
    masters = await asyncio.to_thread(stage.redis.masters)
    return random.choice(masters)


# --- Nodes ----------------------------------------------------------------------------------------------------


async def master_killed(stage: Stage, random: Random) -> None:
    """Its replica takes over, and it comes back as one."""
    master = await any_master(stage, random)
    replica = stage.redis.replica_of(master)
    fault = begin(stage, "master killed", master.name, loses_place=master)
    master.kill()
    await stage.redis.taken_over(replica)
    await hold(random.random() * 3)
    await master.start()
    await end_failover_fault(stage, fault)


async def master_restarted(stage: Stage, random: Random) -> None:
    """Sooner than the others notice: it is the master as before, with what its file has."""
    master = await any_master(stage, random)
    fault = begin(stage, "master killed and started at once", master.name)
    master.kill()
    await hold(0.2)
    await master.start()
    await end_failover_fault(stage, fault)


async def master_stopped(stage: Stage, random: Random) -> None:
    """When it goes on it takes itself for the master, until it hears of the other."""
    master = await any_master(stage, random)
    seconds = ELECTION_SECONDS + random.random() * 4
    fault = begin(stage, "master frozen, past the node timeout", f"{master.name} for {seconds:.0f} s", loses_place=master)
    master.pause()
    await hold(seconds)
    master.go_on()
    await end_failover_fault(stage, fault)


async def _master_parted(stage: Stage, random: Random, kind: str, *, also_from_brokers: bool) -> None:
    master = await any_master(stage, random)
    seconds = ELECTION_SECONDS + random.random() * 4
    fault = begin(stage, kind, f"{master.name} for {seconds:.0f} s", loses_place=master)
    await stage.redis.network.part(master.ways, also_from_brokers=also_from_brokers)
    await hold(seconds)
    await stage.redis.network.join()
    await end_failover_fault(stage, fault)


async def master_parted_from_nodes(stage: Stage, random: Random) -> None:
    """Brokers still reach it, and it takes writes until it sees that it is alone."""
    await _master_parted(stage, random, "master parted from the nodes", also_from_brokers=False)


async def master_parted_from_all(stage: Stage, random: Random) -> None:
    await _master_parted(stage, random, "master parted from nodes and brokers", also_from_brokers=True)


async def master_stopped_briefly(stage: Stage, random: Random) -> None:
    master = await any_master(stage, random)
    fault = begin(stage, "master frozen, within the node timeout", master.name)
    master.pause()
    await hold(NODE_TIMEOUT_SECONDS / 3)
    master.go_on()
    await end_failover_fault(stage, fault)


async def replica_killed(stage: Stage, random: Random) -> None:
    master = await any_master(stage, random)
    replica = stage.redis.replica_of(master)
    fault = begin(stage, "replica killed", replica.name)
    replica.kill()
    await hold(2)
    await replica.start()
    await end_failover_fault(stage, fault)


# --- Failover that is asked for -------------------------------------------------------------------------------


async def _failover(stage: Stage, random: Random, kind: str, *how: str) -> None:
    master = await any_master(stage, random)
    replica = stage.redis.replica_of(master)
    fault = begin(stage, kind, f"{master.name} to {replica.name}", loses_place=master if how else None)
    await stage.redis.fail_over(replica, *how)
    await end_failover_fault(stage, fault)


async def failover(stage: Stage, random: Random) -> None:
    await _failover(stage, random, "failover, graceful")


async def failover_forced(stage: Stage, random: Random) -> None:
    await _failover(stage, random, "failover, forced", "FORCE")


async def failover_taken(stage: Stage, random: Random) -> None:
    await _failover(stage, random, "failover, taken over", "TAKEOVER")


async def failed_over_twice(stage: Stage, random: Random) -> None:
    """To the replica and back, the second time as soon as the first is over: nothing is lost, so no device is told that
    something is gone, or shown anything again."""
    master = await any_master(stage, random)
    replica = stage.redis.replica_of(master)
    fault = begin(stage, "failover and failover back", f"{master.name} to {replica.name}")
    await stage.redis.fail_over(replica)
    await stage.redis.replicated(replica)
    await stage.redis.fail_over(master)
    await end_failover_fault(stage, fault)


# --- Slots ----------------------------------------------------------------------------------------------------


async def _move(stage: Stage, random: Random, fault: Fault, slot: int, source: Node, target: Node) -> None:
    """A node that is slow may lose its role to its replica meanwhile, with what the replica had yet to receive. Then the move
    begins again, between the nodes that are masters now."""
    for _ in range(MOVES_MOST):
        held = partitions_in(source.own().slots + target.own().slots)
        try:
            return await _move_once(stage, random, slot, source, target)
        except (Failure, OSError):
            if await asyncio.to_thread(_are_masters, source, target):
                raise
            note_loss_of_place(stage, fault, fault.undone | held)
            await stage.redis.converge()
            source = await asyncio.to_thread(stage.redis.owner, slot)
            target = await asyncio.to_thread(stage.redis.acting_master, target)
            if source is target:
                return
    raise Failure(f"slot {slot} could not be moved in {MOVES_MOST} attempts: its nodes kept losing their roles")


def _are_masters(*nodes: Node) -> bool:
    with contextlib.suppress(Failure, OSError):
        return all(node.is_master() for node in nodes)
    return False


async def _move_once(stage: Stage, random: Random, slot: int, source: Node, target: Node) -> None:
    """A few keys at a time, so that for a while they are at both."""

    def do(what, *arguments):
        return asyncio.to_thread(what, slot, *arguments)

    await do(stage.redis.begin_moving, source, target)
    while await do(stage.redis.move_keys, source, target, random.choice([1, 3, 10, 100])):
        await hold(random.random() * 0.1)
    await do(stage.redis.finish_moving, target)


async def any_slot(stage: Stage, random: Random) -> tuple[int, Node, Node]:
    """One that is in use, the node that has it, and another."""
    masters = await asyncio.to_thread(stage.redis.masters)
    choices = []
    for source in masters:
        choices += [(slot, source) for slot in await asyncio.to_thread(stage.redis.slots_in_use, source)]
    if not choices:
        raise Failure("no slot is in use")
    slot, source = random.choice(choices)
    return slot, source, random.choice([one for one in masters if one is not source])


async def slots_moved(stage: Stage, random: Random) -> None:
    """To another node and back, one after the other."""
    for _ in range(3):
        slot, source, target = await any_slot(stage, random)
        fault = begin(stage, "slot moved and moved back", f"{slot} from {source.name} to {target.name}")
        await _move(stage, random, fault, slot, source, target)
        await hold(0.5 + random.random())
        await _move(stage, random, fault, slot, target, source)
        await end_failover_fault(stage, fault)


async def move_interrupted(stage: Stage, random: Random) -> None:
    """The source dies with a slot half moved. Its replica does not know of the move, and the target, as long as it imports
    the slot, does not take note of who has it: an operator begins the move again."""
    slot, source, target = await any_slot(stage, random)
    replica = stage.redis.replica_of(source)
    detail = f"{slot} from {source.name} to {target.name}"
    fault = begin(stage, "master killed with a slot half moved", detail, loses_place=source)
    await asyncio.to_thread(stage.redis.begin_moving, slot, source, target)
    keys = await asyncio.to_thread(source.call, "CLUSTER", "COUNTKEYSINSLOT", slot)
    await asyncio.to_thread(stage.redis.move_keys, slot, source, target, max(1, keys // 2))
    source.kill()
    await stage.redis.taken_over(replica)
    await hold(2)
    await source.start()
    # As long as it has no replica, it may refuse to give keys away.
    await stage.redis.replicated(replica)
    await _move(stage, random, fault, slot, replica, target)
    await end_failover_fault(stage, fault)


# --- The library ----------------------------------------------------------------------------------------------


async def functions_flushed(stage: Stage, random: Random) -> None:
    master = await any_master(stage, random)
    fault = begin(stage, "functions flushed at a master", master.name)
    with contextlib.suppress(OSError, Failure):
        await asyncio.to_thread(master.call, "FUNCTION", "FLUSH")
    await end_failover_fault(stage, fault)


# A mixed run chooses from these, with these weights, one after the other.
OF_CLUSTER: list[tuple[Injection, int]] = [
    (master_killed, 3),
    (master_restarted, 2),
    (master_stopped, 3),
    (master_stopped_briefly, 2),
    (master_parted_from_nodes, 2),
    (master_parted_from_all, 2),
    (replica_killed, 1),
    (failover, 2),
    (failover_forced, 2),
    (failover_taken, 2),
    (slots_moved, 4),
    (functions_flushed, 1),
]
