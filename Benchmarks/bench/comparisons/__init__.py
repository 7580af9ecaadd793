"""The comparisons, in the order in which they run."""

from . import fanout, flat, loops, memory, posting, reading, returning, soak

ALL = {
    "fanout": fanout.measure,
    "posting": posting.measure,
    "flat": flat.measure,
    "returning": returning.measure,
    "memory": memory.measure,
    "reading": reading.measure,
    "loops": loops.measure,
}
SOAK = soak.measure
