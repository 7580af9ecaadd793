"""Target 5: what a send costs does not depend on how many members the server has."""

from typing import Callable

from .. import machine, words
from ..broker import Broker
from ..failure import Failure
from ..figures import Results, alternate
from ..generator import exchange, folder_of
from ..redis import Client, Redis, command
from ..section import Bar, Chart, Section, Target
from ..setting import Run
from .posting import BATCH, Sender, in_batches

INBOXES = 2_000
TIMES_THE_ROUNDS = 3
"""What is asked for is a tenth, and a single round may have Redis rewrite its append-only file in it, a million
members and all."""
STORED_NOTIFICATION_BYTES = 350
"""About what Belfry appends for a body of 200: the comparison must not gain by writing less."""


def fill_roster(redis: Client, server: str, count: int) -> None:
    """Straight into Redis, as docs/redis-layout.md describes: a million through the interface would take minutes,
    and their indexes, which no send looks at, gigabytes."""
    key = redis.call("KEYS", f"belfry:*:roster:server:{server}")[0]
    commands = []
    for start in range(0, count, 1_000):
        fields = [
            word
            for number in range(start, min(start + 1_000, count))
            for word in (f"m{number}", "m 1763700000000-4096")
        ]
        commands.append(command("HSET", key, *fields))
    redis.many(commands, at_once=10)


def sizes(run: Run) -> tuple[int, ...]:
    return (10, 2_000, 100_000 if run.is_quick else 1_000_000)


def _rounds(run: Run) -> int:
    return run.rounds * TIMES_THE_ROUNDS


def measure(run: Run) -> list[Section]:
    broker, plain = Broker(run), Redis(run, *Redis.DURABLE)
    rounds: dict[str, Callable[[], dict]] = {}
    for size in sizes(run):
        server = broker.new_server([f"owner{size}"])
        fill_roster(broker.redis, server, size - 1)
        members = broker.call("GET", f"/v1/servers/{server}", account=f"owner{size}")["memberCount"]
        if members != size:
            raise Failure(f"the server has {members} members, not {size}")
        rounds[_name(size)] = _with_redis_share(broker, in_batches(run, broker, f"flat{size}", server))
    # Not in between: whoever comes after it would find a Redis that has just rested.
    results = alternate(run, rounds, _rounds(run)) | alternate(run, {"inboxes": _inboxes(run, plain)})
    broker.stop()
    plain.stop()
    return [_section(run, results)]


def _name(size: int) -> str:
    return f"Belfry, {size:,} members"


def _with_redis_share(broker: Broker, sender: Sender) -> Callable[[], dict]:
    def round() -> dict:
        first, spent = sender.next, machine.spent_seconds(broker.redis_processes)
        found = sender.round()
        spent = machine.spent_seconds(broker.redis_processes) - spent
        # The warming up is in it, so all numbers are.
        return {**found, "redis_seconds": spent, "all_numbers": sender.next - first}

    return round


def _inboxes(run: Run, redis: Redis) -> Callable[[], dict]:
    """As an inbox for each member would have it: the notification is written to each."""
    sends = max(2, int(run.seconds * 20))
    adds = [
        command("XADD", f"inbox:{number}", "*", "notification", "x" * STORED_NOTIFICATION_BYTES)
        for number in range(INBOXES)
    ]
    requests = words.write_list(folder_of(run) / "inboxes", [b"".join(adds)] * sends)

    def round() -> dict:
        found = exchange(
            run,
            port=redis.port,
            servers=redis.processes,
            requests=requests,
            answers="resp",
            replies=INBOXES,
        )
        return {**found, "numbers": sends, "all_numbers": sends, "redis_seconds": found["server_seconds"]}

    return round


def _section(run: Run, results: dict[str, Results]) -> Section:
    section = Section(
        title="A send to few and to many",
        what=(
            f"Batches of {BATCH} to servers of different sizes, nobody connected, {_rounds(run)} rounds: all of"
            f" the CPU, and Redis's share of it. Below, the same notification written to {INBOXES:,} inboxes, a"
            f" pipeline of `XADD`s to {INBOXES:,} streams of a Redis with the same durability,"
            f" {STORED_NOTIFICATION_BYTES} bytes each."
        ),
        columns=["", "CPU, µs a send", "of it Redis, µs", "sends/s"],
    )
    for name, found in results.items():
        label = f"{INBOXES:,} inboxes" if name == "inboxes" else name
        section.row(
            label,
            found.cost("numbers"),
            found.per("redis_seconds", "all_numbers", 1e6),
            found.rate("numbers"),
        )
    small, *others = [_name(size) for size in sizes(run)]
    for name in others:
        ratio = results[name].cost("numbers") / results[small].cost("numbers")
        what = f"CPU per send, {name.removeprefix('Belfry, ')}, compared with 10"
        section.targets.append(Target(5, what, ratio, 1.1))
    bars = [Bar(_name(size), results[_name(size)].cost("numbers"), "belfry") for size in sizes(run)]
    bars.append(Bar(f"{INBOXES:,} inboxes (XADD)", results["inboxes"].cost("numbers")))
    section.charts.append(Chart("A send to few and to many", "µs of CPU a send", bars))
    return section
