"""One Redis beside clusters of one, two and three masters: what a send costs the broker and each node, and what grows with
their number. All of them share one core, so nothing here is a rate that a cluster reaches."""

import time

from .. import machine, words
from ..broker import Broker
from ..cluster import Nodes
from ..failure import Failure
from ..figures import Figure, Results, alternate
from ..generator import exchange, folder_of
from ..section import Section
from ..setting import Run

CONNECTIONS = 64
SENDS_A_SECOND = 1_000
"""Far from what the core manages, or what waits for the others would be measured."""
IDLE_SECONDS = 10
PAGES = 200
PAGE_SPACES = 700
MASTERS = (None, 1, 2, 3)
"""None: a Redis that is no cluster."""


class Setup:
    def __init__(self, run: Run, masters: int | None):
        self.run, self.masters = run, masters
        self.nodes = Nodes(run, masters)
        self.broker = Broker(run, nodes=self.nodes)
        count = 1_000 if run.is_quick else 10_000
        self.servers = [
            self.broker.new_server([f"owner{number % 100}", *(["everywhere"] if number < PAGE_SPACES else [])])
            for number in range(count)
        ]
        self.idle = self._idle()
        self.next = 1

    @property
    def name(self) -> str:
        return f"{self.masters} master{'s' if self.masters > 1 else ''}" if self.masters else "a single Redis"

    def _idle(self) -> dict:
        time.sleep(3)
        nodes, broker = self.nodes, [self.broker.process.id]
        commands, spent = nodes.info("total_commands_processed"), machine.spent_seconds(broker)
        time.sleep(IDLE_SECONDS)
        return {
            "commands": (nodes.info("total_commands_processed") - commands) / IDLE_SECONDS,
            "load": 100 * (machine.spent_seconds(broker) - spent) / IDLE_SECONDS,
            "connections": nodes.info("connected_clients") - len(nodes.nodes),
        }

    def round(self) -> dict:
        """Sends at a rate, each to the next space."""
        seconds = max(self.run.seconds, 3)
        numbers = range(self.next, self.next + int(seconds * SENDS_A_SECOND))
        self.next += len(numbers)
        path = words.write_list(folder_of(self.run) / f"cluster-{self.broker.port}", [self._request(n) for n in numbers])
        calls, inside = self.nodes.function_calls()
        spent, here = self.nodes.spent_seconds(), machine.spent_seconds([self.broker.process.id])
        found = exchange(
            self.run,
            port=self.broker.port,
            servers=self.broker.processes,
            requests=path,
            connections=CONNECTIONS,
            answers="http",
            expect='"duplicate":false',
            rate=SENDS_A_SECOND,
        )
        if found["refusals"] or found["words"] != len(numbers):
            raise Failure(f"not all was accepted: {found}")
        each = [after - before for after, before in zip(self.nodes.spent_seconds(), spent, strict=True)]
        calls_after, inside_after = self.nodes.function_calls()
        return {
            **found,
            "broker_seconds": machine.spent_seconds([self.broker.process.id]) - here,
            "redis_seconds": sum(each),
            "busiest": max(each) / sum(each) * len(each),
            "calls": calls_after - calls,
            "inside": inside_after - inside,
            **self._pages(),
        }

    def _request(self, number: int) -> bytes:
        text = words.send(self.servers[number % len(self.servers)], self.broker.app, "cluster")
        digits = f"{number:010}"
        return text.replace(words.NEXT, digits).replace(words.SAME, digits).encode()

    def _pages(self) -> dict:
        """An account comes back that is in so many spaces, all of which have been active: each partition is asked."""
        processes = [self.broker.process.id]
        here, there = machine.spent_seconds(processes), sum(self.nodes.spent_seconds())
        began = time.monotonic()
        for _ in range(PAGES):
            self.broker.call("GET", "/v1/notifications?limit=50", account="everywhere")
        return {
            "page_seconds": (time.monotonic() - began) / PAGES,
            "page_broker": (machine.spent_seconds(processes) - here) / PAGES,
            "page_redis": (sum(self.nodes.spent_seconds()) - there) / PAGES,
        }

    def stop(self) -> None:
        self.broker.stop()
        self.nodes.stop()


def measure(run: Run) -> list[Section]:
    setups = [Setup(run, masters) for masters in MASTERS]
    results = alternate(run, {setup.name: setup.round for setup in setups})
    for setup in setups:
        setup.stop()
    return [_sends(setups, results), _growth(setups, results)]


def _sends(setups: list[Setup], results: dict[str, Results]) -> Section:
    spaces = len(setups[0].servers)
    section = Section(
        title="A send, by the number of masters",
        what=(
            f"`POST /v1/notifications`, {SENDS_A_SECOND:,} a second over {CONNECTIONS} connections, to {spaces:,} servers"
            " in turn; masters without replicas, append-only file flushed every second, all processes on one core. The"
            " last column is what is calculated from the third: sends a second at which the busiest master would have six"
            " tenths of a core to do, if each had a core, and there were brokers enough."
        ),
        columns=[
            "", "broker, µs a send", "all nodes, µs a send", "in functions, µs a call", "sends a call",
            "busiest node, compared with the mean", "calculated sends/s",
        ],  # fmt: skip
    )
    for setup in setups:
        found = results[setup.name]
        node = found.per("redis_seconds", "answers", 1e6)
        busiest = node.map(found["busiest"], lambda all, share: all * share / len(setup.nodes.nodes))
        section.row(
            setup.name,
            found.per("broker_seconds", "answers", 1e6),
            node,
            found.per("inside", "calls"),
            found.per("answers", "calls"),
            found["busiest"],
            Figure(tuple(0.6 * 1e6 / one for one in busiest.values)),
        )
    return section


def _growth(setups: list[Setup], results: dict[str, Results]) -> Section:
    section = Section(
        title="What grows with the masters",
        what=(
            f"A broker of one loop: its connections to Redis; over {IDLE_SECONDS} s in which nobody does anything, the"
            " commands that all nodes carry out, and its share of a core; and the first page of an account in"
            f" {PAGE_SPACES} servers that were all active."
        ),
        columns=["", "connections", "idle, commands/s", "idle, broker, %", "page, broker, µs", "page, all nodes, µs", "page, ms"],
    )  # fmt: skip
    for setup in setups:
        found = results[setup.name]
        section.row(
            setup.name,
            str(setup.idle["connections"]),
            f"{setup.idle['commands']:.0f}",
            f"{setup.idle['load']:.2f}",
            found.scaled("page_broker", 1e6),
            found.scaled("page_redis", 1e6),
            found.scaled("page_seconds", 1e3),
        )
    return section
