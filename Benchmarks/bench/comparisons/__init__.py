"""The comparisons, in the order in which they run."""

from . import fanout, posting

ALL = {"fanout": fanout.measure, "posting": posting.measure}
SOAK = None
