"""What may be wrong, by kind."""

from dataclasses import dataclass

KINDS = {
    "lost": "acknowledged, and not shown to a device that was to have it, or not in the feed",
    "doubled": "shown twice to one device, or stored twice",
    "reordered": "shown behind a later one of the same space",
    "misdirected": "shown to somebody it was not for",
    "resurrected": "shown again after it was marked read or recalled",
    "untold": "a read mark, an update, a recall or a loss that a device was not told of in time",
    "miscounted": "a count that is not as the feed, or a feed that is not as the stream",
    "late": "shown later than the bound, with all well",
    "contradicted": "an answer that another answer, or what was shown, shows to be false",
}


@dataclass(frozen=True)
class Violation:
    kind: str
    text: str
    at: float
    id: str = ""
    account: str = ""
    device: str = ""
