"""The README lists every public method with its parameters, and every event with its fields."""
import dataclasses
import inspect
import pathlib
import typing
import unittest

from belfry_client import BelfryClient, FeedEvent, NotificationFeed

README = pathlib.Path(__file__).parents[1] / "README.md"

#: Methods that only a feed calls.
FOR_FEEDS = {"open_feed", "forget_token"}


def public_methods(kind):
    return {
        name: list(inspect.signature(method).parameters)[1:] for name, method in vars(kind).items()
        if inspect.isfunction(method) and not name.startswith("_") and name not in FOR_FEEDS}


def listed(heading):
    """The calls in the first column of a section's tables, each with the names in its brackets."""
    section = README.read_text().split(f"\n## {heading}\n")[1].split("\n## ")[0]
    rows = [line.removeprefix("| `").split(")`")[0] for line in section.splitlines() if line.startswith("| `")]
    calls = [row.split("(") for row in rows]
    return [(name, [each for each in names.replace("*", "").replace(",", " ").split()]) for name, names in calls]


class ReadmeTests(unittest.TestCase):
    def test_every_method_is_listed(self):
        methods = [*public_methods(BelfryClient).items(), *public_methods(NotificationFeed).items()]
        self.assertCountEqual(listed("Methods"), methods)

    def test_every_event_is_listed(self):
        events = [
            (event.__name__, [field.name for field in dataclasses.fields(event)])
            for event in typing.get_args(FeedEvent)]
        self.assertCountEqual(listed("Events"), events)
