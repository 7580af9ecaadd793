"""When to try again. Pure: chance and what has happened come as arguments."""
from dataclasses import dataclass

from .errors import RETRY_AFTER_SECONDS_MAX, BelfryError


@dataclass(frozen=True)
class Backoff:
    """Pauses that double, spread over their whole length: any share that all had in common would bring a thousand clients
    of a restarted broker back in waves."""

    seconds_min: float = 0.5
    seconds_max: float = 30

    def pause(self, failures: int, floor: float, random: float) -> float:
        """`failures` in a row, the last one included. `floor` is what the broker asked for; the pause comes on top."""
        doublings = min(max(failures, 1) - 1, 16)
        return max(floor, 0) + min(self.seconds_min * (1 << doublings), self.seconds_max) * random


class ReconnectPolicy:
    """Whether, and after what pause, a feed connects again."""

    def __init__(self, backoff: Backoff):
        self._backoff = backoff
        self._failures = 0
        self._asked_pause = 0.0

    def asked(self, seconds: float) -> None:
        """The broker's `retry:`, which differs from one stream to the next."""
        self._asked_pause = min(seconds, RETRY_AFTER_SECONDS_MAX)

    def heard(self) -> None:
        """Something came. Not before then is a connection a success: a broker that accepts and hangs up at once would
        otherwise be asked again without end at the shortest pause."""
        self._failures = 0

    def pause_after(self, error: BelfryError | None, random: float) -> float | None:
        """The pause after a connection that ended with an error, or because the broker said goodbye (None). None when
        asking again cannot help."""
        if error is not None and not error.may_pass:
            return None
        self._failures += 1
        floor = max(self._asked_pause, (error.retry_after or 0) if error is not None else 0)
        return self._backoff.pause(self._failures, floor, random)
