"""By when a device is to have what it must have: a bound after all is well, and as long as it stays so."""

from bisect import bisect_right

from ..history import FOREVER, History


class Patience:
    def __init__(self, history: History, bound: float):
        self.bound = bound
        self.ended = history.ended
        faults = merge([(fault.began, fault.ended) for fault in history.faults])
        self._good: dict[str, list[tuple[float, float]]] = {}
        for name in history.devices:
            spells = [
                (spell.began, min(spell.ended, history.ended)) for spell in history.spells if spell.device == name
            ]
            self._good[name] = [
                window for window in without(spells, faults) if window[1] - window[0] >= bound
            ]
        self._starts = {name: [start for start, _ in good] for name, good in self._good.items()}

    def due(self, device: str, time: float) -> float:
        """The first moment before which the device was connected, and without faults, for as long as the bound since
        that time. Never, if there is none."""
        good = self._good[device]
        for start, end in good[max(0, bisect_right(self._starts[device], time) - 1) :]:
            due = max(start, time) + self.bound
            if due <= end:
                return due
        return FOREVER


def merge(spans: list[tuple[float, float]]) -> list[tuple[float, float]]:
    merged: list[tuple[float, float]] = []
    for start, end in sorted(spans):
        if merged and start <= merged[-1][1]:
            merged[-1] = (merged[-1][0], max(merged[-1][1], end))
        else:
            merged.append((start, end))
    return merged


def without(spans: list[tuple[float, float]], taken: list[tuple[float, float]]) -> list[tuple[float, float]]:
    """What is left of spans, in order. A moment splits one in two."""
    left = []
    for start, end in sorted(spans):
        for from_, to in taken:
            if to < start or from_ > end:
                continue
            if from_ > start:
                left.append((start, from_))
            start = max(start, to)
        if start < end:
            left.append((start, end))
    return left
