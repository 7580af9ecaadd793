"""Medians of alternating rounds, and how far the rounds lay apart."""

import statistics
from dataclasses import dataclass
from typing import Callable

from .setting import Run


@dataclass(frozen=True)
class Figure:
    values: tuple[float, ...]

    @property
    def median(self) -> float:
        return statistics.median(self.values)

    @property
    def low(self) -> float:
        return min(self.values)

    @property
    def high(self) -> float:
        return max(self.values)

    def __truediv__(self, other: "Figure") -> "Figure":
        """Round by round: what slows a whole round down slows both sides, and cancels out."""
        return self.map(other, lambda one, two: one / two)

    def __add__(self, other: "Figure") -> "Figure":
        return self.map(other, lambda one, two: one + two)

    def map(self, other: "Figure", combine: Callable[[float, float], float]) -> "Figure":
        return Figure(tuple(combine(one, two) for one, two in zip(self.values, other.values, strict=True)))

    def text(self) -> str:
        if len(self.values) == 1 or self.low == self.high:
            return number(self.median)
        return f"{number(self.median)} ({number(self.low)}–{number(self.high)})"


def number(value: float) -> str:
    """Three significant digits, and thousands apart."""
    if abs(value) < 1_000 and value == int(value):
        return str(int(value))
    if abs(value) >= 1_000:
        return f"{round(value, 3 - len(str(int(abs(value))))):,.0f}"
    digits = 0 if abs(value) >= 100 else 1 if abs(value) >= 10 else 2
    return f"{value:.{digits}f}"


def p99_milliseconds(seconds: list[float]) -> float:
    return sorted(seconds)[int(len(seconds) * 0.99)] * 1e3


class Results:
    """What the rounds of one contender gave."""

    def __init__(self, rounds: list[dict]):
        self.rounds = rounds

    def __getitem__(self, name: str) -> Figure:
        return Figure(tuple(float(one[name]) for one in self.rounds))

    def scaled(self, name: str, scale: float) -> Figure:
        return Figure(tuple(scale * one[name] for one in self.rounds))

    def per(self, what: str, unit: str, scale: float = 1) -> Figure:
        return Figure(tuple(scale * one[what] / one[unit] for one in self.rounds))

    def cost(self, unit: str) -> Figure:
        """Microseconds of the servers' processor time for each."""
        return self.per("server_seconds", unit, 1e6)

    def rate(self, unit: str) -> Figure:
        return self.per(unit, "seconds")

    @property
    def server_load(self) -> Figure:
        """Of the servers' core, in percent."""
        return self.per("server_seconds", "seconds", 100)

    @property
    def generator_load(self) -> Figure:
        return self.per("generator_seconds", "seconds", 100)


def alternate(
    run: Run, contenders: dict[str, Callable[[], dict]], rounds: int | None = None
) -> dict[str, Results]:
    """Each in turn, then each again: what the machine does meanwhile meets all of them."""
    results: dict[str, list[dict]] = {name: [] for name in contenders}
    for _ in range(rounds or run.rounds):
        for name, measure in contenders.items():
            results[name].append(measure())
    return {name: Results(found) for name, found in results.items()}
