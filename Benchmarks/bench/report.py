"""The tables, for the terminal and for docs/performance.md."""

from pathlib import Path

from .section import Section, Target
from .setting import Run


def table(columns: list[str], rows: list[list[str]]) -> str:
    """Markdown, padded so that it can be read as it is."""
    lines = [columns, *rows]
    widths = [max(len(line[at]) for line in lines) for at in range(len(columns))]
    texts = ["| " + " | ".join(cell.ljust(width) for cell, width in zip(line, widths)) + " |" for line in lines]
    return "\n".join([texts[0], "|" + "|".join("-" * (width + 2) for width in widths) + "|", *texts[1:]])


class Report:
    def __init__(self, sections: list[Section], about: str, run: Run, seconds: float):
        self.sections = sections
        self.about = about
        self.run = run
        self.seconds = seconds

    @property
    def targets(self) -> list[Target]:
        return [target for section in self.sections for target in section.targets]

    def summary(self) -> str:
        rows = [
            [str(one.number), one.what, one.limit_text, one.figure_text, "met" if one.is_met else "**MISSED**"]
            for one in self.targets
        ]
        missed = sum(not one.is_met for one in self.targets)
        outcome = f"{missed} of {len(rows)} targets missed." if missed else f"All {len(rows)} targets met."
        head = (
            f"{self.about}. {self.run.rounds} alternating rounds of {self.run.seconds:g} s each, medians and"
            f" (lowest–highest); {self.seconds:.0f} s in all. {outcome if rows else ''}"
        ).rstrip()
        if not rows:
            return head + "\n"
        return head + "\n\n" + table(["", "target", "wanted", "reached", ""], rows) + "\n"

    def details(self) -> str:
        return "\n".join(self._section(section) for section in self.sections)

    def _section(self, section: Section) -> str:
        parts = [f"### {section.title}", section.what, table(section.columns, section.rows)]
        parts += section.notes
        return "\n\n".join(parts) + "\n"
