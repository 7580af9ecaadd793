"""The comparisons, in the order in which they run."""

from . import (
    before,
    bodies,
    capped,
    cluster,
    fanout,
    flat,
    loops,
    marked,
    memory,
    neighbour,
    polls,
    posting,
    pushes,
    reaching,
    reading,
    replicated,
    returning,
    slow_webhook,
    soak,
    spread,
    tls,
)

ALL = {
    "fanout": fanout.measure,
    "posting": posting.measure,
    "flat": flat.measure,
    "spread": spread.measure,
    "capped": capped.measure,
    "neighbour": neighbour.measure,
    "marked": marked.measure,
    "polls": polls.measure,
    "bodies": bodies.measure,
    "returning": returning.measure,
    "memory": memory.measure,
    "reading": reading.measure,
    "loops": loops.measure,
    "reaching": reaching.measure,
    "slow-webhook": slow_webhook.measure,
    "pushes": pushes.measure,
    "tls": tls.measure,
}
SOAK = soak.measure
BEFORE = before.measure
"""Only with an earlier executable."""
ASKED_FOR = {"partitions": spread.measure_partitions, "cluster": cluster.measure, "replicated": replicated.measure}
"""Only when named: what was found by them is in docs/decisions and docs/cluster.md."""
