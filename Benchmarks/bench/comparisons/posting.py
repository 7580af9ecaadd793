"""Target 4: one notification a request over 64 connections, and a hundred a request beside JetStream."""

from typing import Callable

from .. import jetstream, redisbenchmark, words
from ..broker import Broker
from ..failure import Failure
from ..figures import Results, alternate
from ..generator import exchange, folder_of
from ..peers import Peer, floor
from ..redis import Redis
from ..section import Bar, Chart, Section, Target
from ..setting import Run

CONNECTIONS = 64
BATCH, BATCHES_AT_ONCE = 100, 4
IN_FLIGHT = BATCH * BATCHES_AT_ONCE
MEMBERS = 10
DURABLE = "append-only file, fsync every second; deduplicated for an hour; a token"

APP, USER, FLOOR = "Belfry, a back end's send", "Belfry, a user's send", "libmicrohttpd answering 201"
BATCHES = f"Belfry, batches of {BATCH}"
MANY, ONE = f"JetStream, {IN_FLIGHT} in flight", "JetStream, one in flight"
BELFRY_ONE = "Belfry, one in flight"
XADD, FCALL = "Redis alone, XADD", "Redis alone, Belfry's send"


class Sender:
    """Sends again and again, and never the same number twice: that would be a duplicate."""

    def __init__(self, run: Run, processes: list[int], name: str, template: str, **settings):
        self.run = run
        path = words.write(folder_of(run) / name, template)
        self.settings = {"servers": processes, "template": path, **settings}
        self.next = 1

    def round(self) -> dict:
        found = exchange(self.run, seconds=self.run.seconds, first=self.next, **self.settings)
        self.next = found["next"]
        if found["refusals"] or found["words"] not in (0, found["numbers"]):
            raise Failure(f"not all was accepted: {found}")
        return found


def to_belfry(run: Run, broker: Broker, name: str, server: str, token: str, connections: int) -> Sender:
    return Sender(
        run,
        broker.processes,
        f"{name}-{broker.port}",
        words.send(server, token, name),
        port=broker.port,
        connections=connections,
        answers="http",
        expect='"duplicate":false',
    )


def in_batches(run: Run, broker: Broker, name: str, server: str) -> Sender:
    return Sender(
        run,
        broker.processes,
        f"{name}-{broker.port}",
        words.batch(server, broker.app, name, BATCH),
        port=broker.port,
        connections=BATCHES_AT_ONCE,
        answers="http",
        expect='"status":201',
    )


def _to_jetstream(run: Run, server: Peer, window: int, first: int) -> Sender:
    hello = words.write(folder_of(run) / "hello-jetstream", words.nats_subscribe(jetstream.INBOX))
    sender = Sender(
        run,
        server.processes,
        f"jetstream-{window}",
        words.jetstream_publish(jetstream.SUBJECT, jetstream.INBOX),
        port=server.port,
        window=window,
        greeting=hello,
        answers="word",
        expect='"seq":',
    )
    sender.next = first
    return sender


def _floor_sender(run: Run, server: Peer, template: str) -> Sender:
    return Sender(
        run,
        server.processes,
        "floor-201",
        template,
        port=server.port,
        connections=CONNECTIONS,
        answers="http",
    )


def measure(run: Run) -> list[Section]:
    broker, daemon, nats = Broker(run), floor(run, "answer_floor"), jetstream.start(run)
    accounts = [f"p{number}" for number in range(MEMBERS)]
    server = broker.new_server(accounts)
    app = to_belfry(run, broker, "app", server, broker.app, CONNECTIONS)
    senders: dict[str, Sender] = {
        APP: app,
        USER: to_belfry(run, broker, "user", server, broker.token(accounts[0]), CONNECTIONS),
        FLOOR: _floor_sender(run, daemon, words.send(server, broker.app, "app")),
        BATCHES: in_batches(run, broker, "batch", server),
        MANY: _to_jetstream(run, nats, IN_FLIGHT, 1),
        BELFRY_ONE: to_belfry(run, broker, "one", server, broker.app, 1),
        ONE: _to_jetstream(run, nats, 1, 5_000_000_000),
    }
    rounds: dict[str, Callable[[], dict]] = {name: sender.round for name, sender in senders.items()}
    redis = Redis(run, *Redis.DURABLE)
    rounds |= _redis_floors(run, broker, redis, server)
    results = alternate(run, rounds)
    for one in (broker, daemon, nats, redis):
        one.stop()
    return [_posting(results), _batches(results)]


def _redis_floors(run: Run, broker: Broker, redis: Redis, server: str) -> dict[str, Callable[[], dict]]:
    fcall = redisbenchmark.overhear_send(broker, server)
    fields = ["all", redisbenchmark.notification(fcall)]
    requests = int(run.seconds * 40_000)

    def xadd() -> dict:
        add = ["XADD", "log", "MAXLEN", "~", "100000", "*", *fields]
        return redisbenchmark.measure(run, ["-p", str(redis.port)], redis.processes, add, requests * 3)

    def send() -> dict:
        return redisbenchmark.measure(
            run,
            ["-s", str(broker.redis_path)],
            broker.redis_processes,
            fcall,
            requests,
        )

    return {XADD: xadd, FCALL: send}


def _posting(results: dict[str, Results]) -> Section:
    section = Section(
        title=f"Posting, one notification a request, {CONNECTIONS} connections",
        what=(
            f"`POST /v1/notifications` with a token, a `messageClientId` and a {words.PAYLOAD_BYTES}-byte body to a"
            f" server of {MEMBERS} members, none of them connected, over {CONNECTIONS} connections that are kept;"
            " each sends its next request when it has its answer. Compared with a daemon on the same HTTP library"
            " that reads the same requests and answers 201."
        ),
        columns=[
            "",
            "sends/s",
            "CPU, µs a send",
            "p50, ms",
            "p99, ms",
            "server core, %",
            "generator, %",
            "promise",
        ],
    )
    for name, promise in {APP: DURABLE, USER: DURABLE + "; the sender's membership", FLOOR: "none"}.items():
        _add_row(section, name, results[name], "answers", promise)
    rates = {name: results[name].rate("answers") for name in (APP, USER, FLOOR)}
    for name, who in ((APP, "a back end's token"), (USER, "a user's token")):
        section.targets.append(
            Target(
                4,
                f"posting rate, compared with the daemon that answers 201, {who}",
                rates[name] / rates[FLOOR],
                0.5,
                False,
            )
        )
    bars = [Bar(name, rate, "floor" if name == FLOOR else "belfry") for name, rate in rates.items()]
    section.charts.append(Chart("Posting over 64 connections", "sends a second", bars, less_is_better=False))
    return section


def _batches(results: dict[str, Results]) -> Section:
    section = Section(
        title=f"Sending in batches of {BATCH}",
        what=(
            f"`POST /v1/notifications/batch`, {BATCH} notifications a request, {BATCHES_AT_ONCE} requests at once;"
            f" JetStream with as many publishes in flight, each with its own `Nats-Msg-Id`. Latency: of a batch,"
            " of a publish. Below, both with one notification in flight, and Redis alone, by redis-benchmark: an `XADD`"
            " of the same notification, and the function call by which Belfry appends one"
            f" (pipelines of {redisbenchmark.PIPELINE}, {redisbenchmark.CLIENTS} connections)."
        ),
        columns=[
            "",
            "sends/s",
            "CPU, µs a send",
            "p50, ms",
            "p99, ms",
            "server core, %",
            "generator, %",
            "promise",
        ],
    )
    stream = "file storage, fsync every 2 minutes (the default of this version); deduplicated for an hour; no token"
    rows = {BATCHES: DURABLE, MANY: stream, BELFRY_ONE: DURABLE, ONE: stream}
    for name, promise in rows.items():
        _add_row(section, name, results[name], "numbers", promise)
    redis = {XADD: "append-only file, fsync every second", FCALL: "as Belfry, less HTTP and token"}
    for name, promise in redis.items():
        found = results[name]
        section.row(
            name, found.rate("answers"), found.cost("answers"), "", "", found.server_load, "", promise
        )
    cost = {name: results[name].cost("numbers") for name in (BATCHES, MANY)}
    rate = {name: results[name].rate("numbers") for name in (BATCHES, MANY)}
    section.targets += [
        Target(4, "CPU per send in batches of 100, compared with JetStream", cost[BATCHES] / cost[MANY], 2.5),
        Target(4, "rate in batches of 100, compared with JetStream", rate[BATCHES] / rate[MANY], 0.5, False),
    ]
    bars = [Bar(BATCHES, cost[BATCHES], "belfry"), Bar(MANY, cost[MANY])]
    bars += [Bar(name, results[name].cost("answers"), "floor") for name in redis]
    section.charts.append(Chart("Acknowledged, deduplicated, stored sends", "µs of CPU a send", bars))
    return section


def _add_row(section: Section, name: str, found: Results, unit: str, promise: str) -> None:
    section.row(
        name,
        found.rate(unit),
        found.cost(unit),
        found.scaled("p50", 1e-3),
        found.scaled("p99", 1e-3),
        found.server_load,
        found.generator_load,
        promise,
    )
