"""What sends cost by this executable and by an earlier one, in the same rounds."""

from typing import Callable

from .. import machine
from ..broker import Broker
from ..figures import Figure, Results, alternate
from ..section import Section, Target
from ..setting import Run
from .posting import BATCH, CONNECTIONS, MEMBERS, Sender, in_batches, to_belfry
from .spread import SERVERS, SpreadSender

NOW, BEFORE = "now", "before"
LONE = f"to {SERVERS:,} servers"
"""Hardly any shares its call of Redis with another; with one in flight the kernel's part would be most of it."""
ONE_IN_FLIGHT = "one in flight"
SHARED, USER, BATCHED = "to one server", "to one server, a user's", f"batches of {BATCH}"
UNITS = {LONE: "answers", SHARED: "answers", USER: "answers", ONE_IN_FLIGHT: "answers", BATCHED: "numbers"}
REDIS_LIMITS = {LONE: 0.4, BATCHED: 0.3}
USER_LIMIT = 1.1


def _rounds(run: Run, broker: Broker) -> dict[str, Callable[[], dict]]:
    accounts = [f"p{number}" for number in range(MEMBERS)]
    server, user = broker.new_server(accounts), broker.token(accounts[0])
    senders = {
        SHARED: to_belfry(run, broker, "shared", server, broker.app, CONNECTIONS),
        USER: to_belfry(run, broker, "user", server, user, CONNECTIONS),
        ONE_IN_FLIGHT: to_belfry(run, broker, "one", server, broker.app, 1),
        BATCHED: in_batches(run, broker, "batch", server),
    }
    servers = [broker.new_server([f"owner{number}"]) for number in range(SERVERS)]
    lone = SpreadSender(run, broker, "many", servers).round
    return {LONE: lone, **{name: _with_redis(broker, sender) for name, sender in senders.items()}}


def _with_redis(broker: Broker, sender: Sender) -> Callable[[], dict]:
    def round() -> dict:
        spent = machine.spent_seconds(broker.redis_processes)
        found = sender.round()
        return {**found, "redis_seconds": machine.spent_seconds(broker.redis_processes) - spent}

    return round


def measure(run: Run) -> list[Section]:
    brokers = {NOW: Broker(run), BEFORE: Broker(run, executable=run.before)}
    rounds = {
        f"{when} {name}": round
        for when, broker in brokers.items()
        for name, round in _rounds(run, broker).items()
    }
    # Each beside its like: what slows the machine for a while slows both.
    order = [f"{when} {name}" for name in UNITS for when in brokers]
    results = alternate(run, {name: rounds[name] for name in order})
    for broker in brokers.values():
        broker.stop()
    return [_section(results)]


def _section(results: dict[str, Results]) -> Section:
    section = Section(
        title="Sends by this executable, and by an earlier one",
        what=(
            f"`POST /v1/notifications` over {CONNECTIONS} connections, to {SERVERS:,} servers in turn and to one of"
            f" {MEMBERS} members; to that one also over one connection, and by `POST /v1/notifications/batch`. The ratio is"
            " of now to before, round by round."
        ),
        columns=["", "CPU, µs a send", "before", "ratio", "of it Redis, µs", "before", "ratio"],
    )
    costs: dict[str, Figure] = {}
    for name, unit in UNITS.items():
        now, before = results[f"{NOW} {name}"], results[f"{BEFORE} {name}"]
        whole = now.cost(unit), before.cost(unit)
        redis = now.per("redis_seconds", unit, 1e6), before.per("redis_seconds", unit, 1e6)
        costs[name] = whole[0]
        section.row(name, *whole, whole[0] / whole[1], *redis, redis[0] / redis[1])
        if name in REDIS_LIMITS:
            what = f"Redis's part of a send, {name}, compared with the earlier executable"
            section.targets.append(Target(4, what, redis[0] / redis[1], REDIS_LIMITS[name]))
    ratio = costs[USER] / costs[SHARED]
    section.targets.append(Target(4, "CPU of a user's send, compared with a back end's", ratio, USER_LIMIT))
    return section
