"""Faults after which a replica may be the master: the same on a cluster and with Sentinels."""

from .history import Fault
from .injections import Injection, broker_killed, broker_stopped, brokers_are_ready, connections_cut, half_open, replies_cut
from .stage import Stage


def begin_failover_fault(stage: Stage, kind: str, detail: str, *, undone: frozenset[int] | None = None) -> Fault:
    """`undone`: the partitions of a master that loses its place."""
    fault = stage.begin_fault(kind, detail)
    if undone:
        note_loss_of_place(stage, fault, undone)
    return fault


def note_loss_of_place(stage: Stage, fault: Fault, partitions: frozenset[int]) -> None:
    """A master that loses its place may have acknowledged something that the replica had not yet heard, where the brokers do
    not wait for replicas."""
    fault.undone = partitions
    if not stage.is_replicated:
        fault.is_step = True
        fault.lost_since = fault.began - 1


async def end_failover_fault(stage: Stage, fault: Fault) -> None:
    """Once all is well again."""
    await stage.redis.converge()
    if fault.undone:
        # Until then a master that had lost its place may have taken something.
        fault.killed = stage.now
    await brokers_are_ready(stage)
    stage.end_fault(fault)


# A mixed run chooses faults of brokers from these, with these weights.
OF_BROKERS: list[tuple[Injection, int]] = [
    (broker_killed, 3),
    (broker_stopped, 2),
    (connections_cut, 2),
    (replies_cut, 2),
    (half_open, 1),
]
