"""The comparisons, in the order in which they run."""

from . import fanout

ALL = {"fanout": fanout.measure}
SOAK = None
