"""The tables, for the terminal, for docs/performance.md and for Benchmarks/notebook.md."""

import re
from pathlib import Path

from . import headlines, picture
from .failure import Failure
from .section import Section, Target
from .setting import Run


def table(columns: list[str], rows: list[list[str]]) -> str:
    """Markdown, padded so that it can be read as it is."""
    lines = [columns, *rows]
    widths = [max(len(line[at]) for line in lines) for at in range(len(columns))]
    texts = [
        "| " + " | ".join(cell.ljust(width) for cell, width in zip(line, widths)) + " |" for line in lines
    ]
    return "\n".join([texts[0], "|" + "|".join("-" * (width + 2) for width in widths) + "|", *texts[1:]])


class Report:
    def __init__(self, sections: list[Section], about: list[str], run: Run, seconds: float):
        self.sections = sections
        self.about = about
        self.run = run
        self.seconds = seconds

    @property
    def targets(self) -> list[Target]:
        found = [target for section in self.sections for target in section.targets]
        return sorted(found, key=lambda target: target.number)

    def summary(self) -> str:
        return self.circumstances() + (f"\n{self.outcome()}" if self.targets else "")

    def circumstances(self) -> str:
        """The machine, the programs, and how long it took."""
        about = "\n".join(f"- {line}" for line in self.about)
        return (
            f"{about}\n\nMedians of {self.run.rounds} alternating rounds of {self.run.seconds:g} s each, with (lowest–highest)."
            f" {self.seconds / 60:.1f} minutes in all.\n"
        )

    def outcome(self) -> str:
        """Which targets are met."""
        rows = [
            [
                str(one.number),
                one.what,
                one.limit_text,
                one.figure_text,
                "met" if one.is_met else "**missed**",
            ]
            for one in self.targets
        ]
        missed = sum(not one.is_met for one in self.targets)
        words = f"{missed} of {len(rows)} targets missed." if missed else f"All {len(rows)} targets met."
        return f"**{words}**\n\n{table(['', 'target', 'wanted', 'reached', ''], rows)}\n"

    def details(self) -> str:
        return "\n".join(self._section(section) for section in self.sections)

    def _section(self, section: Section) -> str:
        parts = [f"### {section.title}", section.what, table(section.columns, section.rows)]
        parts += section.notes
        return "\n\n".join(parts) + "\n"

    def write(self, repository: Path, part: str) -> None:
        """The tables into the notebook. Of the whole run, its figures and targets go to the users' page instead, so that
        they stand in one place, and the picture is drawn anew."""
        docs, notebook = repository / "docs", repository / "Benchmarks" / "notebook.md"
        if part != "tables":
            put(notebook, part, f"{self.summary()}\n{self.details()}")
            return
        put(notebook, part, f"{self.circumstances()}\n{self.details()}")
        figures = headlines.rows(self.sections)
        if figures:
            put(docs / "performance.md", "figures", table(["", "on one core"], figures) + "\n")
        if self.targets:
            put(docs / "performance.md", "targets", self.outcome())
        charts = [chart for section in self.sections for chart in section.charts]
        if charts:
            (docs / "performance.svg").write_text(picture.draw(charts))


def put(page: Path, part: str, text: str) -> None:
    """Between the marks of this part on a page."""
    begin, end = f"<!-- {part}: written by scripts/bench -->", f"<!-- end of {part} -->"
    whole, count = re.subn(
        re.escape(begin) + ".*?" + re.escape(end),
        lambda _: f"{begin}\n\n{text}\n{end}",
        page.read_text(),
        flags=re.DOTALL,
    )
    if count != 1:
        raise Failure(f"{page} does not have the marks of {part} once")
    page.write_text(whole)
