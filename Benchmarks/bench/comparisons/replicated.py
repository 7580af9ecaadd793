"""What it costs to acknowledge only what replicas have: `durability` `local` beside `replicated`."""

from .. import machine, words
from ..broker import Broker
from ..cluster import Nodes
from ..failure import Failure
from ..figures import Results, alternate
from ..generator import exchange, folder_of
from ..section import Section
from ..setting import Run

CONNECTIONS = 64
SENDS_A_SECOND = 1_000
KINDS = {
    "`local`, no replica": (0, "local"),
    "`local`, a replica": (1, "local"),
    "`replicated`, a replica": (1, "replicated"),
    "`replicated`, two replicas": (2, "replicated"),
}


class Setup:
    def __init__(self, run: Run, name: str):
        replicas, durability = KINDS[name]
        self.run = run
        self.nodes = Nodes(run, None, replicas)
        environment = {"BELFRY_DURABILITY": durability, "BELFRY_REPLICAS": str(max(replicas, 1))}
        self.broker = Broker(run, nodes=self.nodes, environment=environment)
        self.server = self.broker.new_server(["owner"])
        self.file = words.write(
            folder_of(run) / f"replicated-{self.broker.port}", words.send(self.server, self.broker.app, "replicated")
        )
        self.next = 1

    def alone(self) -> dict:
        """One in flight: what a producer waits for each."""
        return self._send(self.run.seconds, connections=1)

    def many(self) -> dict:
        """At a rate, over many connections, so that one question about replicas may serve several."""
        here = machine.spent_seconds([self.broker.process.id])
        nodes = sum(self.nodes.spent_seconds())
        found = self._send(max(self.run.seconds, 3), connections=CONNECTIONS, rate=SENDS_A_SECOND)
        return {
            **found,
            "broker_seconds": machine.spent_seconds([self.broker.process.id]) - here,
            "redis_seconds": sum(self.nodes.spent_seconds()) - nodes,
        }

    def _send(self, seconds: float, **settings) -> dict:
        found = exchange(
            self.run, seconds=seconds, first=self.next, port=self.broker.port, servers=self.broker.processes,
            template=self.file, answers="http", expect='"duplicate":false', **settings,
        )  # fmt: skip
        self.next = found["next"]
        if found["refusals"] or found["words"] not in (0, found["numbers"]):
            raise Failure(f"not all was accepted: {found}")
        return found

    def stop(self) -> None:
        self.broker.stop()
        self.nodes.stop()


def measure(run: Run) -> list[Section]:
    setups = {name: Setup(run, name) for name in KINDS}
    alone = alternate(run, {name: setup.alone for name, setup in setups.items()})
    many = alternate(run, {name: setup.many for name, setup in setups.items()})
    for setup in setups.values():
        setup.stop()
    return [_section(alone, many)]


def _section(alone: dict[str, Results], many: dict[str, Results]) -> Section:
    section = Section(
        title="A send that replicas have",
        what=(
            "`POST /v1/notifications` to one server, first with one in flight, then"
            f" {SENDS_A_SECOND:,} a second over {CONNECTIONS} connections; a single Redis and its replicas, append-only files"
            " flushed every second, all processes on one core: what a replica waits for there, it has on a machine of its own at"
            " once, but for the network."
        ),
        columns=[
            "", "alone, p50, ms", "alone, p99, ms", "many, p50, ms", "many, p99, ms", "broker, µs a send",
            "all nodes, µs a send",
        ],  # fmt: skip
    )
    for name in KINDS:
        one, found = alone[name], many[name]
        section.row(
            name, one.scaled("p50", 1e-3), one.scaled("p99", 1e-3), found.scaled("p50", 1e-3), found.scaled("p99", 1e-3),
            found.per("broker_seconds", "answers", 1e6), found.per("redis_seconds", "answers", 1e6),
        )  # fmt: skip
    return section
