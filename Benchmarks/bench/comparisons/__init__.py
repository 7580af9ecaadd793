"""The comparisons, in the order in which they run."""

from . import before, fanout, flat, loops, memory, neighbour, posting, reaching, reading, returning, soak, spread, tls

ALL = {
    "fanout": fanout.measure,
    "posting": posting.measure,
    "flat": flat.measure,
    "spread": spread.measure,
    "neighbour": neighbour.measure,
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
ASKED_FOR = {"partitions": spread.measure_partitions}
"""Only when named: what was decided by it is in docs/decisions."""
