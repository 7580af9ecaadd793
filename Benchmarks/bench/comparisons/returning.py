"""Target 6: coming back, alone with much unread, and ten thousand at once."""

from typing import Callable

from .. import words
from ..broker import Broker
from ..failure import Failure
from ..figures import Results, alternate
from ..generator import Held, exchange, folder_of, pages
from ..redis import command
from ..section import Bar, Chart, Section, Target
from ..setting import Run

SPACES, UNREAD_EACH = 100, 10
UNREAD = SPACES * UNREAD_EACH
PAGE, READERS = 500, 4

ACCOUNTS_PER_SERVER = 2_000
MISSED = 10
RETURNS = 3


def measure(run: Run) -> list[Section]:
    return [_unread(run), _all_at_once(run)]


# --- One account, much unread -----------------------------------------------------------------------------


def _unread(run: Run) -> Section:
    broker = Broker(run)
    servers = [broker.new_server(["back"], name=f"space {number}") for number in range(SPACES)]
    _mark_all_read(broker, "back")
    seconds, microseconds = map(int, broker.redis.call("TIME"))
    start = str(seconds * 1_000 + microseconds // 1_000 + 1)
    for server in servers:
        send_numbered(broker, server, UNREAD_EACH)
    token = broker.token("back")
    head, tail = words.http("GET", f"/v1/notifications?limit={PAGE}", token).split(" HTTP/1.1", 1)
    settings = {
        "port": broker.port,
        "servers": broker.processes,
        "connections": READERS,
        "limit": PAGE,
        "head": words.write(folder_of(run) / "page-head", head),
        "tail": words.write(folder_of(run) / "page-tail", " HTTP/1.1" + tail),
        "seconds": run.seconds,
    }
    results = alternate(run, {"pages": lambda: pages(run, **settings), "ranges": _ranges(run, broker, start)})
    for found in results["pages"].rounds:
        if found["entries"] % UNREAD:
            raise Failure(f"{found['entries']} entries are no multiple of {UNREAD}")
    broker.stop()
    return _unread_section(results)


def send_numbered(broker: Broker, server: str, count: int, first: int = 1) -> None:
    lines = [
        words.notification(server, "n")
        .replace(words.NEXT, f"{number:010}")
        .replace(words.SAME, f"{number:010}")
        for number in range(first, first + count)
    ]
    answer = broker.call("POST", "/v1/notifications/batch", "\n".join(lines).encode())
    if answer.count(b'"status":201') != count:
        raise Failure(f"a batch was not accepted: {answer[:500]!r}")


def _mark_all_read(broker: Broker, account: str) -> None:
    """What it is told besides: that the servers are there."""
    while notifications := broker.call("GET", "/v1/notifications?limit=500", account=account)[
        "notifications"
    ]:
        upTo = notifications[-1]["messageServerId"]
        broker.call("POST", "/v1/notifications/read", {"upTo": upTo}, account=account)


def _ranges(run: Run, broker: Broker, start: str) -> Callable[[], dict]:
    """The same entries as Redis alone would give them: each log from `start` on, in one pipeline."""
    logs = broker.redis.call("KEYS", "belfry:*:log:server:*")
    pipeline = b"".join(command("XRANGE", log, start, "+", "COUNT", PAGE) for log in logs)
    template = words.write(folder_of(run) / "ranges", pipeline)

    def round() -> dict:
        found = exchange(
            run,
            path=broker.redis_path,
            servers=broker.redis_processes,
            template=template,
            window=2,
            answers="resp",
            replies=len(logs),
            seconds=run.seconds,
        )
        return {**found, "entries": found["answers"] * UNREAD}

    return round


def _unread_section(results: dict[str, Results]) -> Section:
    section = Section(
        title=f"Coming back to {UNREAD:,} unread in {SPACES} servers",
        what=(
            f"`GET /v1/notifications`, pages of {PAGE} to the end and again from the beginning, by {READERS} readers"
            f" at once; compared with the same entries by {SPACES} pipelined `XRANGE`s on Belfry's own Redis, which"
            " neither merges them nor asks who may see them."
        ),
        columns=["", "entries/s", "CPU, µs an entry", "p50 of an answer, ms", "server core, %"],
    )
    names = {"pages": "Belfry, pages", "ranges": "Redis, XRANGE"}
    for key, name in names.items():
        found = results[key]
        section.row(
            name, found.rate("entries"), found.cost("entries"), found.scaled("p50", 1e-3), found.server_load
        )
    rates = {key: results[key].rate("entries") for key in names}
    section.targets.append(
        Target(6, "entries per second, compared with XRANGE", rates["pages"] / rates["ranges"], 0.5, is_ceiling=False)
    )
    bars = [Bar(names["pages"], rates["pages"], "belfry"), Bar(names["ranges"], rates["ranges"], "floor")]
    section.charts.append(
        Chart(f"Reading {UNREAD:,} unread from {SPACES} servers", "entries a second", bars, False)
    )
    return section


# --- Ten thousand at once ---------------------------------------------------------------------------------


def consumer_count(run: Run) -> int:
    return 2_000 if run.is_quick else 10_000


def _all_at_once(run: Run) -> Section:
    count = consumer_count(run)
    broker = Broker(run)
    accounts = [f"r{number}" for number in range(count)]
    servers = [
        broker.new_server(accounts[start : start + ACCOUNTS_PER_SERVER])
        for start in range(0, count, ACCOUNTS_PER_SERVER)
    ]
    tokens = [broker.token(account) for account in accounts]
    _send_to_all(broker, servers, 1, first=1)
    cursors: list[str | None] = [None] * count
    rounds = []
    for number in range(RETURNS + 1):
        expected = MISSED if number else 1
        found, cursors = _return(run, broker, tokens, cursors, expected)
        if number:
            rounds.append(found)
        _send_to_all(broker, servers, MISSED, first=100 * (number + 1))
    broker.stop()
    return _return_section(count, Results(rounds))


def _send_to_all(broker: Broker, servers: list[str], count: int, first: int) -> None:
    for server in servers:
        send_numbered(broker, server, count, first)


def _return(
    run: Run, broker: Broker, tokens: list[str], cursors: list[str | None], expected: int
) -> tuple[dict, list[str]]:
    greetings = [words.stream(token, cursor) for token, cursor in zip(tokens, cursors, strict=True)]
    seen = folder_of(run) / "cursors"
    commands = broker.redis.info("total_commands_processed")
    held = Held(
        run,
        port=broker.port,
        servers=broker.processes,
        consumers=len(tokens),
        at_once=len(tokens),
        greetings=words.write_list(folder_of(run) / "returning", greetings),
        framing="events",
        ready="retry: ",
        marks=expected,
        cursors=seen,
    )
    commands = broker.redis.info("total_commands_processed") - commands
    held.stop()
    return {**held.found, "commands": commands}, seen.read_text().splitlines()


def _return_section(count: int, results: Results) -> Section:
    section = Section(
        title=f"{count:,} consumers reconnect at once",
        what=(
            f"Each opens a stream with its last event id in the same moment, and has missed {MISSED} notifications;"
            f" {count // ACCOUNTS_PER_SERVER} servers of {ACCOUNTS_PER_SERVER:,}. Served is who has them all."
            f" {RETURNS} rounds. Commands: as Redis counts them, those inside functions and between brokers included."
        ),
        columns=[
            "",
            "all served, s",
            "p50, s",
            "p99, s",
            "CPU, µs each",
            "Redis commands each",
            "lost",
            "not exactly once",
        ],
    )
    section.row(
        "Belfry",
        results["seconds"],
        results.scaled("p50", 1e-6),
        results.scaled("p99", 1e-6),
        results.cost("consumers"),
        results.per("commands", "consumers"),
        results["lost"],
        results["wrong"],
    )
    section.targets += [
        Target(
            6,
            f"{count:,} reconnect: lost, or not served exactly once",
            results["lost"] + results["wrong"],
            0,
            unit="",
        ),
        Target(6, f"{count:,} reconnect: the last one is served after", results["seconds"], 30, unit="s"),
    ]
    return section
