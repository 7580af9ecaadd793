"""Decides, from ids and acknowledged changes alone, whether a history is as promised. A pure function."""

from ..history import History
from . import delivery, gaps, telling
from .case import Case
from .violation import KINDS, Violation

__all__ = ["KINDS", "Violation", "check"]


def check(history: History, bound: float) -> list[Violation]:
    """`bound`: how many seconds after all is well a device may be told what it must know."""
    case = Case(history, bound)
    found = [violation for rule in delivery.RULES + telling.RULES + gaps.RULES for violation in rule(case)]
    return sorted(found, key=lambda violation: violation.at)
