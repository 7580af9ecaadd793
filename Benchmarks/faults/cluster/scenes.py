"""What plays on a cluster."""

import asyncio

from ..failovers import OF_BROKERS
from ..injections import broker_killed, broker_stopped
from ..load.cast import Cast
from ..plan import PlannedFault, draw_row, play_row
from ..scenes import SCENES as SCENES_OF_ONE_REDIS
from ..scenes import Scene, again, once
from ..stage import Stage
from . import injections


async def mixed(stage: Stage, cast: Cast) -> None:
    """What happens to the cluster, and next to it what happens to brokers."""

    def row(name: str, choices, rest: float) -> list[PlannedFault]:
        return draw_row(stage.random_of(f"faults of {name}"), choices, rest=rest, seconds=cast.seconds - 7)

    rows = [row("the cluster", injections.OF_CLUSTER, 6), row("brokers", OF_BROKERS, 12)]
    await asyncio.sleep(3)
    await asyncio.gather(*(play_row(stage, each) for each in rows))


async def marks_while_parted(stage: Stage, cast: Cast) -> None:
    """Each account marks what it was shown, again and again while a master that brokers still reach is parted from the
    other nodes: a mark that was refused once is repeated, and must hold once it is acknowledged."""
    random = stage.random_of("faults")
    await asyncio.sleep(3)
    end = stage.now + cast.seconds - 6
    while stage.now < end:
        parting = asyncio.create_task(injections.master_parted_from_nodes(stage, random))
        while not (await asyncio.wait({parting}, timeout=0.5))[0]:
            streams = [(marker, marker.streams[0]) for marker in cast.markers if marker.streams[0].unread]
            await asyncio.gather(*(marker.mark(stream) for marker, stream in streams))
        parting.result()
        await asyncio.sleep(2)


SCENES: dict[str, Scene] = {
    "mixed": Scene("everything mixed", mixed, seconds=100),
    **{name: SCENES_OF_ONE_REDIS[name] for name in ("quiet", "cycles", "marks")},
    "broker-killed": Scene("SIGKILL of brokers", again(broker_killed)),
    "broker-stopped": Scene("SIGSTOP of brokers for some seconds", again(broker_stopped)),
    "master-killed": Scene("SIGKILL of masters, and their restart as replicas", again(injections.master_killed), seconds=60),
    "master-restarted": Scene("SIGKILL of masters, and their restart before the others notice", again(injections.master_restarted)),
    "master-stopped": Scene("SIGSTOP of masters past the node timeout", again(injections.master_stopped), seconds=60),
    "master-stopped-briefly": Scene("SIGSTOP of masters within the node timeout", again(injections.master_stopped_briefly)),
    "master-parted": Scene(
        "nothing passes between a master and the other nodes, or brokers either",
        again(injections.master_parted_from_nodes, injections.master_parted_from_all),
        seconds=60,
    ),
    "marks-parted": Scene(
        "accounts mark while a master is parted from the other nodes", marks_while_parted, seconds=60
    ),
    "replica-killed": Scene("SIGKILL of replicas", again(injections.replica_killed)),
    "failover": Scene("CLUSTER FAILOVER", again(injections.failover)),
    "failover-forced": Scene("CLUSTER FAILOVER FORCE", again(injections.failover_forced)),
    "failover-taken": Scene("CLUSTER FAILOVER TAKEOVER", again(injections.failover_taken)),
    "failover-twice": Scene("CLUSTER FAILOVER to a replica and back at once", again(injections.failed_over_twice)),
    "slots": Scene("slots in use are moved and moved back, a few keys at a time", again(injections.slots_moved, rest=1)),
    "slots-interrupted": Scene(
        "a master dies with a slot half moved, and the move is begun again", once(injections.move_interrupted, after=12)
    ),
    "flushed": Scene("FUNCTION FLUSH at masters", again(injections.functions_flushed)),
}
