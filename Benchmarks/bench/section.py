"""What a comparison reports: a table, its targets, and the bars of the picture."""

from dataclasses import dataclass, field

from .figures import Figure, number


@dataclass(frozen=True)
class Target:
    """A ratio, or a figure, and what it must not exceed, or fall below."""

    number: int
    what: str
    figure: Figure
    limit: float
    is_ceiling: bool = True
    unit: str = "×"

    @property
    def is_met(self) -> bool:
        return self.figure.median <= self.limit if self.is_ceiling else self.figure.median >= self.limit

    @property
    def limit_text(self) -> str:
        return f"{'at most' if self.is_ceiling else 'at least'} {_with_unit(number(self.limit), self.unit)}"

    @property
    def figure_text(self) -> str:
        return _with_unit(self.figure.text(), self.unit)


def _with_unit(text: str, unit: str) -> str:
    return f"{text} {unit}".rstrip()


@dataclass(frozen=True)
class Bar:
    name: str
    figure: Figure
    kind: str = "peer"
    """belfry, peer, or floor"""


@dataclass(frozen=True)
class Chart:
    title: str
    unit: str
    bars: list[Bar]
    less_is_better: bool = True


@dataclass
class Section:
    title: str
    what: str
    columns: list[str]
    rows: list[list[str]] = field(default_factory=list)
    targets: list[Target] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    charts: list[Chart] = field(default_factory=list)

    def row(self, name: str, *cells: Figure | str) -> None:
        self.rows.append([name, *(cell.text() if isinstance(cell, Figure) else cell for cell in cells)])
