"""Target 10: ten minutes at half the maximum rate, with consumers coming and going."""

from .. import machine, words
from ..broker import Broker
from ..figures import Figure, Results
from ..generator import Soak, folder_of
from ..section import Section, Target
from ..setting import Run
from . import fanout

CONSUMERS = 1_000
LEAVING_PER_SECOND = 20
# What is kept for a while must no longer grow when a third of the time is over, and reach further back than
# anybody is away.
KEPT_SECONDS = 120


def measure(run: Run) -> list[Section]:
    maximum = _maximum_rate(run)
    kept = int(maximum / 2 * KEPT_SECONDS)
    broker = Broker(run, limits={"ENTRIES_PER_SPACE": kept, "DEDUPE_WINDOW_MILLISECONDS": 60_000})
    accounts = [f"s{number}" for number in range(CONSUMERS)]
    server = broker.new_server(accounts)
    greetings = [words.stream(broker.token(account)) for account in accounts]
    soak = Soak(
        run,
        port=broker.port,
        servers=broker.processes,
        consumers=CONSUMERS,
        rate=maximum / 2,
        leaving=LEAVING_PER_SECOND,
        seconds=60 if run.is_quick else 600,
        greetings=words.write_list(folder_of(run) / "soak", greetings),
        template=words.write(folder_of(run) / "soak-send", words.send(server, broker.app, "s")),
    )
    reports = []
    while not reports or not reports[-1]["final"]:
        memory = {
            "broker": machine.resident_bytes(broker.process.id) / 2**20,
            "redis": broker.redis.info("used_memory") / 2**20,
        }
        reports.append({**soak.report(), **memory})
    soak.stop()
    broker.stop()
    return [_section(run, maximum, reports)]


def _maximum_rate(run: Run) -> float:
    contender = fanout.belfry(run)
    rounds = [contender.generator.round(max(fanout.WINDOWS), max(run.seconds, 1)) for _ in range(3)]
    contender.stop()
    return Results(rounds).rate("notifications").median


def _section(run: Run, maximum: float, reports: list[dict]) -> Section:
    final, during = reports[-1], reports[1:-1]
    section = Section(
        title=f"Soak: {final['at'] / 60:.0f} minutes at half the maximum rate",
        what=(
            f"{maximum / 2:.0f} notifications a second (half of what fan-out with sixteen in flight reaches) to a"
            f" server of {CONSUMERS:,}; {LEAVING_PER_SECOND} consumers a second cut their connection and come back with"
            " their last event id, most within five seconds, one in ten within a minute."
            f" {final['left']:,} did. Latency: from sending to each consumer that is there. The server keeps"
            f" the entries of {KEPT_SECONDS} seconds and remembers sends for a minute, so that what is stored stops"
            " growing early."
        ),
        columns=[
            "minute",
            "deliveries/s",
            "p50, ms",
            "p99, ms",
            "CPU, µs a delivery",
            "broker, MiB",
            "Redis, MiB",
        ],
    )
    six = 6  # reports a minute
    minutes = [during[at : at + six] for at in range(0, len(during), six)]
    before = reports[0]["delivered"]
    for number, part in enumerate(minutes, 1):
        seconds = 10 * len(part)
        section.row(
            str(number),
            Figure(((part[-1]["delivered"] - before) / seconds,)),
            *(Figure(tuple(one[name] * scale for one in part)) for name, scale in _COLUMNS),
        )
        before = part[-1]["delivered"]
    section.notes.append(
        f"{final['sent']:,} notifications sent, {final['delivered']:,} deliveries checked: {final['missing']} missing,"
        f" {final['doubled']} doubled, {final['unknown']} unknown; {final['cut']} streams cut by the broker."
    )
    wrong = final["missing"] + final["doubled"] + final["unknown"]
    section.targets.append(Target(10, "soak: notifications lost or doubled", Figure((wrong,)), 0, unit=""))
    third = max(1, len(during) // 3)
    for name, what, limit in (
        ("broker", "broker's memory", 1.05),
        ("redis", "Redis's memory", 1.05),
        ("p50", "latency, p50", 1.2),
        ("p99", "latency, p99", 1.5),
    ):
        early, late = (_median(part, name) for part in (during[third : 2 * third], during[-third:]))
        section.targets.append(
            Target(10, f"soak: {what}, last third compared with the middle one", late / early, limit)
        )
    return section


_COLUMNS = (("p50", 1e-3), ("p99", 1e-3), ("cost", 1), ("broker", 1), ("redis", 1))


def _median(reports: list[dict], name: str) -> Figure:
    return Figure((Figure(tuple(one[name] for one in reports)).median,))
