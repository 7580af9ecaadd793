"""The comparisons, in the order in which they run."""

from . import before, cluster, fanout, flat, loops, marked, memory, neighbour, posting, reaching, reading, replicated, returning, soak, spread, tls

ALL = {
    "fanout": fanout.measure,
    "posting": posting.measure,
    "flat": flat.measure,
    "spread": spread.measure,
    "neighbour": neighbour.measure,
    "marked": marked.measure,
    "returning": returning.measure,
    "memory": memory.measure,
    "reading": reading.measure,
    "loops": loops.measure,
    "reaching": reaching.measure,
    "tls": tls.measure,
}
SOAK = soak.measure
BEFORE = before.measure
"""Only with an earlier executable."""
ASKED_FOR = {"partitions": spread.measure_partitions, "cluster": cluster.measure, "replicated": replicated.measure}
"""Only when named: what was found by them is in docs/decisions and docs/cluster.md."""
