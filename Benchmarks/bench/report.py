"""The tables, for the terminal and for docs/performance.md."""

import re
from pathlib import Path

from . import picture
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
        outcome = f"{missed} of {len(rows)} targets missed." if missed else f"All {len(rows)} targets met."
        parts = [
            "\n".join(f"- {line}" for line in self.about),
            f"Medians of {self.run.rounds} alternating rounds of {self.run.seconds:g} s each, with (lowest–highest)."
            f" {self.seconds / 60:.1f} minutes in all.",
        ]
        if rows:
            parts += [f"**{outcome}**", table(["", "target", "wanted", "reached", ""], rows)]
        return "\n\n".join(parts) + "\n"

    def details(self) -> str:
        return "\n".join(self._section(section) for section in self.sections)

    def _section(self, section: Section) -> str:
        parts = [f"### {section.title}", section.what, table(section.columns, section.rows)]
        parts += section.notes
        return "\n\n".join(parts) + "\n"

    def write(self, docs: Path, part: str) -> None:
        """Into docs/performance.md, between the marks of this part, and what can be drawn into the picture."""
        page = docs / "performance.md"
        begin, end = f"<!-- {part}: written by scripts/bench -->", f"<!-- end of {part} -->"
        text = f"{begin}\n\n{self.summary()}\n{self.details()}\n{end}"
        whole, count = re.subn(
            re.escape(begin) + ".*?" + re.escape(end), lambda _: text, page.read_text(), flags=re.DOTALL
        )
        if count != 1:
            raise Failure(f"{page} does not have the marks of {part} once")
        page.write_text(whole)
        charts = [chart for section in self.sections for chart in section.charts]
        if part == "tables" and charts:
            (docs / "performance.svg").write_text(picture.draw(charts))
