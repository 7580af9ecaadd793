"""Sends spread over a thousand servers beside sends to one; and what the number of partitions has to do with it."""

import time
from typing import Callable

from .. import machine, words
from ..broker import Broker
from ..failure import Failure
from ..figures import Results, alternate
from ..generator import exchange, folder_of
from ..section import Bar, Chart, Section, Target
from ..setting import Run
from .posting import CONNECTIONS

SERVERS = 1_000
SENDS_A_SECOND = 6_000
"""As many as are prepared for each second that a round should last."""
ACTIVE_SERVERS = 700
IDLE_SECONDS = 10
PARTITIONS = (16, 64, 256, 1_024)
MASTERS = (3, 8)


class SpreadSender:
    """The same requests for both: a list, gone through once, of which each names the next server."""

    def __init__(self, run: Run, broker: Broker, name: str, servers: list[str]):
        self.run, self.broker, self.name, self.servers = run, broker, name, servers
        self.next = 1

    def round(self) -> dict:
        count = int(self.run.seconds * SENDS_A_SECOND)
        numbers = range(self.next, self.next + count)
        self.next += count
        requests = [self._request(number) for number in numbers]
        path = words.write_list(folder_of(self.run) / f"{self.name}-{self.broker.port}", requests)
        calls, spent = self._calls(), machine.spent_seconds(self.broker.redis_processes)
        found = exchange(
            self.run,
            port=self.broker.port,
            servers=self.broker.processes,
            requests=path,
            connections=CONNECTIONS,
            answers="http",
            expect='"duplicate":false',
        )
        if found["refusals"] or found["words"] != count:
            raise Failure(f"not all was accepted: {found}")
        spent = machine.spent_seconds(self.broker.redis_processes) - spent
        return {**found, "redis_seconds": spent, "calls": self._calls() - calls}

    def _request(self, number: int) -> bytes:
        server = self.servers[number % len(self.servers)]
        text = words.send(server, self.broker.app, self.name)
        digits = f"{number:010}"
        return text.replace(words.NEXT, digits).replace(words.SAME, digits).encode()

    def _calls(self) -> int:
        """Of functions: of sends that leave in one turn of the broker's loop, those of a partition share one."""
        for line in self.broker.redis.call("INFO", "commandstats").decode().splitlines():
            if line.startswith("cmdstat_fcall:"):
                return int(line.split("calls=")[1].split(",")[0])
        return 0


def _rounds(run: Run, broker: Broker) -> dict[str, Callable[[], dict]]:
    servers = [broker.new_server([f"owner{number}"]) for number in range(SERVERS)]
    return {
        "one": SpreadSender(run, broker, "one", servers[:1]).round,
        "many": SpreadSender(run, broker, "many", servers).round,
    }


def measure(run: Run) -> list[Section]:
    broker = Broker(run)
    results = alternate(run, _rounds(run, broker))
    broker.stop()
    section = Section(
        title=f"Sends to one server and to {SERVERS:,}",
        what=(
            f"`POST /v1/notifications` over {CONNECTIONS} connections that are kept, to one server and to"
            f" {SERVERS:,} in turn, nobody connected. Sends of one partition that are under way together share a call"
            " of Redis."
        ),
        columns=["", "CPU, µs a send", "of it Redis, µs", "sends a call", "sends/s"],
    )
    for name, label in (("one", "one server"), ("many", f"{SERVERS:,} servers")):
        _row(section, label, results[name])
    costs = {name: found.cost("answers") for name, found in results.items()}
    ratio = costs["many"] / costs["one"]
    section.targets.append(Target(5, f"CPU per send, spread over {SERVERS:,} servers, compared with one", ratio, 1.3))
    bars = [Bar("to one server", costs["one"], "belfry"), Bar(f"to {SERVERS:,} servers", costs["many"], "belfry")]
    section.charts.append(Chart(f"Posting over {CONNECTIONS} connections", "µs of CPU a send", bars))
    return [section]


def _row(section: Section, label: str, found: Results) -> None:
    sends_a_call = found["answers"] / found["calls"]
    section.row(
        label,
        found.cost("answers"),
        found.per("redis_seconds", "answers", 1e6),
        sends_a_call,
        found.rate("answers"),
    )


# --- The number of partitions -----------------------------------------------------------------------------


def measure_partitions(run: Run) -> list[Section]:
    section = Section(
        title="How many partitions",
        what=(
            f"Each number in a keyspace of its own: what a broker costs that has nothing to do, over {IDLE_SECONDS} s;"
            f" sends as above; the cursor of an account in {ACTIVE_SERVERS} servers all of which were active; and how"
            " unevenly the busiest master of a cluster would be loaded by 10,000 servers."
        ),
        columns=[
            "partitions",
            "idle, commands/s",
            "idle, CPU, %",
            "one server, µs",
            "1,000 servers, µs",
            "sends a call",
            "cursor, bytes",
            *(f"{masters} masters, busiest" for masters in MASTERS),
        ],
    )
    for count in PARTITIONS:
        broker = Broker(run, partitions=count)
        commands, load = _idle(broker)
        results = alternate(run, _rounds(run, broker))
        section.row(
            str(count),
            f"{commands:.0f}",
            f"{load:.2f}",
            results["one"].cost("answers"),
            results["many"].cost("answers"),
            results["many"]["answers"] / results["many"]["calls"],
            str(_cursor_bytes(broker)),
            *(f"{_busiest(count, masters):.2f}" for masters in MASTERS),
        )
        broker.stop()
    return [section]


def _idle(broker: Broker) -> tuple[float, float]:
    time.sleep(2)
    commands, spent = _commands(broker), machine.spent_seconds(broker.processes)
    time.sleep(IDLE_SECONDS)
    spent = machine.spent_seconds(broker.processes) - spent
    return (_commands(broker) - commands) / IDLE_SECONDS, 100 * spent / IDLE_SECONDS


def _commands(broker: Broker) -> int:
    for line in broker.redis.call("INFO", "stats").decode().splitlines():
        if line.startswith("total_commands_processed:"):
            return int(line.split(":")[1])
    raise Failure("Redis counts no commands")


def _cursor_bytes(broker: Broker) -> int:
    servers = [broker.new_server([f"host{number}", "everywhere"]) for number in range(ACTIVE_SERVERS)]
    for number, server in enumerate(servers):
        fields = {"serverId": server, "messageClientId": f"active-{number}", "body": "active"}
        broker.call("POST", "/v1/notifications", fields)
    cursor = ""
    while True:
        after = f"&after={cursor}" if cursor else ""
        page = broker.call("GET", f"/v1/notifications?limit=500{after}", account="everywhere")
        cursor = page["cursor"]
        if not page["notifications"]:
            return len(cursor)


def _busiest(count: int, masters: int) -> float:
    """The load of the busiest master beside the mean, where each has so many neighbouring slots."""
    servers = 10_000
    loads = [0] * masters
    for number in range(servers):
        partition = _fnv1a(f"server:{number + 1}") % count
        slot = partition * 16_384 // count
        loads[slot * masters // 16_384] += 1
    return max(loads) * masters / servers


def _fnv1a(text: str) -> int:
    value = 0xCBF29CE484222325
    for byte in text.encode():
        value = (value ^ byte) * 0x100000001B3 % 2**64
    return value
