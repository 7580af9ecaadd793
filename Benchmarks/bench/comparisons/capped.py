"""The cost of a log at its cap, where each batch has older entries trimmed."""

from .. import words
from ..broker import Broker
from ..failure import Failure
from ..figures import Results, alternate
from ..generator import exchange, folder_of
from ..section import Section, Target
from ..setting import Run
from .posting import BATCH

ENTRIES_PER_SPACE = 20_000
FILLED = 24_000
"""The log at its cap was sent so many. Trimming keeps somewhat more than the cap."""
BATCHES, BATCHES_QUICK = 150, 50
"""A round has so many: a log that was empty before stays below the cap."""


class BatchSender:
    """Batches to a log, one after the other, each notification with an id of its own."""

    def __init__(self, run: Run, broker: Broker):
        self.run, self.broker = run, broker
        self.next = 1

    def send(self, server: str, batches: int) -> dict:
        requests = [self._request(server) for _ in range(batches)]
        found = exchange(
            self.run,
            port=self.broker.port,
            servers=self.broker.processes,
            requests=words.write_list(folder_of(self.run) / f"capped-{server}-{self.next}", requests),
            connections=1,
            answers="http",
            expect='"status":201',
        )
        if found["refusals"] or found["words"] != batches * BATCH:
            raise Failure(f"not all was accepted: {found}")
        return found

    def _request(self, server: str) -> bytes:
        body = ""
        for _ in range(BATCH):
            digits = f"{self.next:010}"
            line = words.notification(server, "capped").replace(words.NEXT, digits).replace(words.SAME, digits)
            body += line + "\n"
            self.next += 1
        return words.http("POST", "/v1/notifications/batch", self.broker.app, body, kind="x-ndjson").encode()


def measure(run: Run) -> list[Section]:
    broker = Broker(run, limits={"ENTRIES_PER_SPACE": ENTRIES_PER_SPACE})
    sender = BatchSender(run, broker)
    capped = broker.new_server(["owner"])
    sender.send(capped, FILLED // BATCH)
    batches = BATCHES_QUICK if run.is_quick else BATCHES

    def into_capped() -> dict:
        return {**sender.send(capped, batches), "entries": _entries(broker, capped)}

    def into_another() -> dict:
        server = broker.new_server(["owner"])
        return {**sender.send(server, batches), "entries": _entries(broker, server)}

    results = alternate(run, {"below": into_another, "capped": into_capped})
    broker.stop()
    return [_capped(results, batches)]


def _entries(broker: Broker, server: str) -> int:
    (log,) = broker.redis.call("KEYS", f"belfry:*:log:server:{server}")
    return broker.redis.call("XLEN", log)


def _capped(results: dict[str, Results], batches: int) -> Section:
    section = Section(
        title=f"Batches of {BATCH} into a log at its cap",
        what=(
            f"{batches} batches, one after the other, into a server's log that keeps {ENTRIES_PER_SPACE:,} entries and has"
            " them, and into the empty log of another server. CPU is that of the broker and its Redis."
        ),
        columns=["", "CPU, µs a batch", "a batch, µs", "p99, ms", "entries after a round"],
    )
    below, capped = results["below"], results["capped"]
    if not below["entries"].high < ENTRIES_PER_SPACE <= capped["entries"].low < FILLED:
        raise Failure(f"the logs have {below['entries'].text()} and {capped['entries'].text()} entries")
    for found, label in ((below, "below the cap"), (capped, "at the cap")):
        cost, took = found.cost("answers"), found.per("seconds", "answers", 1e6)
        section.row(label, cost, took, found.scaled("p99", 1e-3), found["entries"])
    costs = capped.cost("answers") / below.cost("answers")
    times = capped.per("seconds", "answers") / below.per("seconds", "answers")
    for name, ratio in (("CPU", costs), ("time", times)):
        what = f"{name} of a batch of {BATCH} into a log at its cap, compared with one below it"
        section.targets.append(Target(20, what, ratio, 1.2))
    return section
