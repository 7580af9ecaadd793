"""Targets 1 to 3: one notification to 1,000 consumers, with one and with sixteen in flight."""

from dataclasses import dataclass
from typing import Callable

from .. import words
from ..broker import Broker
from ..figures import Results, alternate
from ..generator import FanOut, folder_of
from ..peers import Nchan, floor, mosquitto, nats
from ..redis import Redis, command
from ..section import Bar, Chart, Section, Target
from ..setting import Run

CONSUMERS = 1_000
WINDOWS = (1, 16)

BELFRY, FLOOR, REDIS, NATS = "Belfry", "bare send()", "Redis Pub/Sub", "nats-server"
REDIS_LARGE, NATS_LARGE = "Redis Pub/Sub, as large", "nats-server, as large"
MQTT, MQTT_1 = "mosquitto, QoS 0", "mosquitto, QoS 1"
NCHAN, NCHAN_REDIS = "nginx with nchan", "nginx with nchan, on Redis"

PROMISES = {
    BELFRY: "stored (append-only file, fsync every second), deduplicated, resumable; each send and stream with a token",
    FLOOR: "none; as many bytes as Belfry's event has",
    REDIS: "none: live only, nothing stored",
    REDIS_LARGE: "the same; a payload of as many bytes as Belfry's event has",
    NATS: "none: live only, nothing stored",
    NATS_LARGE: "the same; a payload of as many bytes as Belfry's event has",
    MQTT: "none: live only",
    MQTT_1: "acknowledged by each consumer, persistent sessions; in memory, written to disk every 30 minutes",
    NCHAN: f"Server-Sent Events; the last {Nchan.BUFFERED:,} in memory, resumable; no deduplication, no token",
    NCHAN_REDIS: f"the same, the last {Nchan.BUFFERED:,} in a Redis (append-only file, fsync every second)",
}


@dataclass
class Contender:
    generator: FanOut
    stop_server: Callable[[], None]

    def stop(self) -> None:
        self.generator.stop()
        self.stop_server()


def belfry(run: Run, broker: Broker | None = None, consumers: int = CONSUMERS) -> Contender:
    broker = broker or Broker(run)
    folder = folder_of(run)
    accounts = [f"c{number}" for number in range(consumers)]
    server = broker.new_server(accounts)
    greetings = [words.stream(broker.token(account)) for account in accounts]
    return Contender(
        FanOut(
            run,
            port=broker.port,
            servers=broker.processes,
            consumers=consumers,
            framing="http",
            ready="retry: ",
            # One HTTP connection carries one request at a time.
            publishers=max(WINDOWS),
            greetings=words.write_list(folder / f"greetings-{broker.port}", greetings),
            template=words.write(folder / f"send-{broker.port}", words.send(server, broker.app, "f")),
        ),
        broker.stop,
    )


def _peer(
    run: Run, server, name: str, greetings: list[bytes], ready: str | bytes, template, **settings
) -> Contender:
    folder = folder_of(run)
    return Contender(
        FanOut(
            run,
            port=server.port,
            servers=server.processes,
            consumers=CONSUMERS,
            ready=ready,
            greetings=words.write_list(folder / f"greetings-{name}", greetings),
            template=words.write(folder / f"publish-{name}", template),
            **settings,
        ),
        server.stop,
    )


def _floor(run: Run, bytes_each: int) -> Contender:
    hello = words.write(folder_of(run) / "hello-floor", "P")
    template = words.payload(size=bytes_each)
    return _peer(run, floor(run, "send_floor"), "floor", [b"C"], "ready", template, publisher_greeting=hello)


def _redis(run: Run, size: int = words.PAYLOAD_BYTES) -> Contender:
    greetings, publish = [command("SUBSCRIBE", "n")], command("PUBLISH", "n", words.payload(size=size))
    return _peer(run, Redis(run, "--appendonly", "no"), f"redis-{size}", greetings, ":1\r\n", publish)


def _nats(run: Run, size: int = words.PAYLOAD_BYTES) -> Contender:
    hello = words.write(folder_of(run) / "hello-nats", words.NATS_CONNECT)
    greetings = [words.nats_subscribe("n").encode()]
    publish = words.nats_publish("n", size)
    return _peer(run, nats(run), f"nats-{size}", greetings, "PONG", publish, publisher_greeting=hello)


def _nchan(run: Run, *, on_redis: bool) -> Contender:
    return _peer(
        run,
        Nchan(run, on_redis=on_redis),
        f"nchan-{on_redis}",
        [words.nchan_stream()],
        ": hi",
        words.nchan_publish(),
        publisher_framing="http",
        publishers=max(WINDOWS),
    )


def _mosquitto(run: Run, quality: int) -> Contender:
    is_persistent = quality > 0
    name = f"mqtt-{quality}"
    hello = words.write(folder_of(run) / f"hello-{name}", words.mqtt_connect("publisher"))
    greetings = [
        words.mqtt_connect(f"c{number}", is_persistent=is_persistent) + words.mqtt_subscribe("n", quality)
        for number in range(CONSUMERS)
    ]
    return _peer(
        run,
        mosquitto(run, persistence=is_persistent),
        name,
        greetings,
        words.MQTT_SUBSCRIBED,
        words.mqtt_publish("n", quality),
        publisher_greeting=hello,
        framing="mqtt" if quality else "plain",
    )


def measure(run: Run) -> list[Section]:
    contenders = {BELFRY: belfry(run)}
    first = contenders[BELFRY].generator.round(1, run.seconds)
    bytes_each = round(first["bytes"] / first["deliveries"])
    contenders |= {
        FLOOR: _floor(run, bytes_each),
        REDIS: _redis(run),
        REDIS_LARGE: _redis(run, bytes_each),
        NATS: _nats(run),
        NATS_LARGE: _nats(run, bytes_each),
        MQTT: _mosquitto(run, 0),
        MQTT_1: _mosquitto(run, 1),
        NCHAN: _nchan(run, on_redis=False),
        NCHAN_REDIS: _nchan(run, on_redis=True),
    }
    sections = []
    for window in WINDOWS:
        rounds = {name: _round(one, window, run.seconds) for name, one in contenders.items()}
        sections.append(_section(alternate(run, rounds), window, bytes_each))
    for contender in contenders.values():
        contender.stop()
    return sections


def _round(contender: Contender, window: int, seconds: float) -> Callable[[], dict]:
    return lambda: contender.generator.round(window, seconds)


def _section(results: dict[str, Results], window: int, bytes_each: int) -> Section:
    in_flight = "one" if window == 1 else "sixteen"
    section = Section(
        title=f"Fan-out to {CONSUMERS:,} consumers, {in_flight} in flight",
        what=(
            f"A {words.PAYLOAD_BYTES}-byte payload to {CONSUMERS:,} connected consumers; the next one is sent when the"
            f" last consumer has {'it' if window == 1 else 'one of the sixteen on their way'}."
            f" Latency: from sending to the last consumer's socket. Belfry's event has {bytes_each} bytes."
        ),
        columns=[
            "",
            "CPU, µs a delivery",
            "deliveries/s",
            "p50, ms",
            "p99, ms",
            "server core, %",
            "generator, %",
            "promise",
        ],
    )
    for name, found in results.items():
        section.row(
            name,
            found.cost("deliveries"),
            found.rate("deliveries"),
            found.scaled("p50", 1e-3),
            found.scaled("p99", 1e-3),
            found.server_load,
            found.generator_load,
            PROMISES[name],
        )
    _add_targets(section, results, window)
    cost_bars = [Bar(name, found.cost("deliveries"), _kind(name)) for name, found in results.items()]
    section.charts.append(
        Chart(f"Fan-out to {CONSUMERS:,}, {in_flight} in flight", "µs of CPU a delivery", cost_bars)
    )
    return section


def _kind(name: str) -> str:
    return {BELFRY: "belfry", FLOOR: "floor"}.get(name, "peer")


def _add_targets(section: Section, results: dict[str, Results], window: int) -> None:
    cost = {name: found.cost("deliveries") for name, found in results.items()}

    def against(number: int, name: str, limit: float) -> None:
        what = f"CPU per delivery, compared with {name}, {'one' if window == 1 else 'sixteen'} in flight"
        section.targets.append(Target(number, what, cost[BELFRY] / cost[name], limit))

    if window == 1:
        against(1, FLOOR, 1.25)
        for name in (REDIS, NATS, MQTT):
            against(1, name, 1)
        for percentile in ("p50", "p99"):
            times = {name: found[percentile] for name, found in results.items()}
            better = min((REDIS, NATS), key=lambda name: times[name].median)
            what = f"latency to the last consumer, {percentile}, compared with {better}"
            section.targets.append(Target(3, what, times[BELFRY] / times[better], 1.3))
    else:
        against(2, NATS, 1)
        against(2, REDIS, 1.2)
