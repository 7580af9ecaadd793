"""Target 9: what a second loop gains."""

from typing import Callable

from ..broker import Broker
from ..figures import Results, alternate
from ..section import Section
from ..setting import Run
from . import fanout, posting

ONE, ONE_OF_TWO, TWO = "one loop, one core", "one loop, two cores", "two loops, two cores"


def measure(run: Run) -> list[Section]:
    both = {run.server_core, run.generator_core}
    brokers = {
        ONE: lambda: Broker(run),
        ONE_OF_TWO: lambda: Broker(run, cores=both),
        TWO: lambda: Broker(run, loops=2, cores=both),
    }
    section = Section(
        title="Two loops against one",
        what=(
            "The broker, and Redis, on both cores; the generator shares the second one with them. Without it: the"
            " rate, divided by the part of the cores that the generator left. Posting over 64 connections, and"
            " fan-out to 1,000 consumers with sixteen in flight."
        ),
        columns=[
            "",
            "a second",
            "without the generator",
            "gain",
            "CPU, µs each",
            "server cores",
            "generator's",
        ],
    )
    for name, results, unit in (
        ("posting", _posting(run, brokers), "answers"),
        ("deliveries", _fanout(run, brokers), "deliveries"),
    ):
        _add_rows(section, name, results, unit)
    return [section]


def _posting(run: Run, brokers: dict[str, Callable[[], Broker]]) -> dict[str, Results]:
    started = {name: start() for name, start in brokers.items()}
    rounds = {}
    for name, broker in started.items():
        server = broker.new_server([f"l{number}" for number in range(posting.MEMBERS)])
        sender = posting.to_belfry(run, broker, "loops", server, broker.app, posting.CONNECTIONS)
        rounds[name] = sender.round
    results = alternate(run, rounds)
    for broker in started.values():
        broker.stop()
    return results


def _fanout(run: Run, brokers: dict[str, Callable[[], Broker]]) -> dict[str, Results]:
    contenders = {name: fanout.belfry(run, start()) for name, start in brokers.items()}
    rounds = {
        name: (lambda one=one: one.generator.round(max(fanout.WINDOWS), run.seconds))
        for name, one in contenders.items()
    }
    results = alternate(run, rounds)
    for contender in contenders.values():
        contender.stop()
    return results


def _add_rows(section: Section, name: str, results: dict[str, Results], unit: str) -> None:
    without = {}
    for key, found in results.items():
        share = found.per("generator_seconds", "seconds")
        rate = found.rate(unit)
        # On one core the generator takes nothing from the servers.
        without[key] = rate if key == ONE else rate.map(share, lambda one, used: one * 2 / (2 - min(used, 1)))
        section.row(
            f"{name}, {key}",
            rate,
            without[key],
            without[key] / without[ONE],
            found.cost(unit),
            found.per("server_seconds", "seconds"),
            share,
        )
