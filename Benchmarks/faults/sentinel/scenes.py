"""The scenes of a master that Sentinels watch."""

import asyncio

from ..failovers import OF_BROKERS
from ..injections import broker_killed, broker_stopped
from ..load.cast import Cast
from ..plan import draw_row, play_row
from ..scenes import SCENES as SCENES_OF_ONE_REDIS
from ..scenes import Scene, again
from ..stage import Stage
from . import injections


async def mixed(stage: Stage, cast: Cast) -> None:
    """Faults of Redis and the Sentinels, and next to them those of brokers."""
    rows = [
        draw_row(stage.random_of(f"faults of {name}"), choices, rest=rest, seconds=cast.seconds - 7)
        for name, choices, rest in (("Redis", injections.OF_REDIS, 6), ("brokers", OF_BROKERS, 12))
    ]
    await asyncio.sleep(3)
    await asyncio.gather(*(play_row(stage, row) for row in rows))


SCENES: dict[str, Scene] = {
    "mixed": Scene("everything mixed", mixed, seconds=100),
    **{name: SCENES_OF_ONE_REDIS[name] for name in ("quiet", "cycles", "marks")},
    "broker-killed": Scene("SIGKILL of brokers", again(broker_killed)),
    "broker-stopped": Scene("SIGSTOP of brokers for some seconds", again(broker_stopped)),
    "master-killed": Scene("SIGKILL of the master, and its restart as a replica", again(injections.master_killed), seconds=60),
    "master-restarted": Scene("SIGKILL of the master, and its restart before the Sentinels notice", again(injections.master_restarted)),
    "master-stopped": Scene("SIGSTOP of the master until another takes over", again(injections.master_stopped), seconds=60),
    "master-stopped-briefly": Scene("SIGSTOP of the master for a moment", again(injections.master_stopped_briefly)),
    "failover": Scene("SENTINEL FAILOVER", again(injections.failover), seconds=60),
    "failover-twice": Scene("SENTINEL FAILOVER to the replica and back", again(injections.failed_over_twice), seconds=60),
    "replica-killed": Scene("SIGKILL of the replica", again(injections.replica_killed)),
    "sentinel-killed": Scene("SIGKILL of one Sentinel", again(injections.sentinel_killed)),
    "sentinels-killed": Scene("SIGKILL of all Sentinels", again(injections.sentinels_killed)),
    "flushed": Scene("FUNCTION FLUSH at the master", again(injections.functions_flushed)),
}
