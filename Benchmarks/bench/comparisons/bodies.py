"""Batches and sends next to accounts that begin long batches and never send the rest."""

import http.client
import json
import time

from ..broker import Broker
from ..failure import Failure
from ..figures import alternate, p99_milliseconds
from ..programs import measure_next_to
from ..section import Section, Target
from ..setting import Run
from .neighbour import SECONDS_BETWEEN, Quiet

ACCOUNTS, BATCHES = 4, 2
"""Those that hold, and how many batches each of them begins."""
ANNOUNCED_BYTES = 8 << 20
"""The longest batch that there may be."""
SENT_BYTES = 4_300_000
LINES = 100
LINE_BYTES = 230
FIELD_BYTES = 3_150
"""A send has two fields of this length."""


class BackEnd:
    """A back end that sends batches."""

    def __init__(self, broker: Broker):
        self.broker = broker
        server = broker.new_server(["owner"])
        line = {"serverId": server, "body": ""}
        line["body"] = "x" * (LINE_BYTES - len(json.dumps(line)) - 1)
        self.batch = "\n".join([json.dumps(line)] * LINES).encode()
        self.connection = http.client.HTTPConnection("127.0.0.1", broker.port, timeout=30)

    def send(self) -> float:
        """Seconds until it was acknowledged."""
        headers = {"Authorization": f"Bearer {self.broker.app}", "Content-Type": "application/x-ndjson"}
        begin = time.perf_counter()
        self.connection.request("POST", "/v1/notifications/batch", self.batch, headers)
        answer = self.connection.getresponse()
        lines = answer.read()
        acknowledged = time.perf_counter() - begin
        if answer.status != 200 or lines.count(b'"status":201') != LINES:
            raise Failure(f"the back end was refused: {answer.status} {lines[:200].decode()}")
        return acknowledged


def measure(run: Run) -> list[Section]:
    # The quiet account marks none of its own.
    broker = Broker(run, limits={"UNREAD_PER_SENDER": 1_000_000, "NOTIFICATIONS_PER_MAILBOX": 1_000_000})
    back_end = BackEnd(broker)
    quiet = Quiet(broker, ext="x" * FIELD_BYTES, attach="x" * FIELD_BYTES)
    tokens = [broker.token(f"holder{number}") for number in range(ACCOUNTS)]
    work = {"port": broker.port, "tokens": tokens, "batches": BATCHES}
    work |= {"announcedBytes": ANNOUNCED_BYTES, "sentBytes": SENT_BYTES}

    def alone() -> dict:
        sends, batches = [], []
        end = time.monotonic() + run.seconds * 2
        while time.monotonic() < end:
            sends.append(quiet.send()[0])
            batches.append(back_end.send())
            time.sleep(SECONDS_BETWEEN)
        return {"send": p99_milliseconds(sends), "batch": p99_milliseconds(batches), "batches": len(batches)}

    def next_to() -> dict:
        found = measure_next_to(run, "holding", work, alone)
        if not found["held"]:
            raise Failure("all that would be held was refused")
        return found

    results = alternate(run, {"alone": alone, "next to them": next_to})
    broker.stop()
    section = Section(
        title=f"Batches and sends next to {ACCOUNTS} accounts that hold long bodies",
        what=(
            f"A back end's batch of {len(back_end.batch) / 1_000:.0f} KB and an account's send to itself of"
            f" {quiet.body_bytes / 1_000:.1f} KB, one after the other. {ACCOUNTS} other accounts begin {BATCHES} batches each,"
            f" send {SENT_BYTES / 1e6:.1f} MB of them, and no more. Neither the back end nor the account may be refused."
        ),
        columns=["", "a batch, p99, ms", "a send, p99, ms", "batches a round"],
    )
    for name in ("alone", "next to them"):
        section.row(name, results[name]["batch"], results[name]["send"], results[name]["batches"])
    both = results["next to them"]
    section.notes.append(
        f"{both['held'].median:,.0f} of the {ACCOUNTS * BATCHES} long batches were held, and"
        f" {both['refused'].median:,.0f} were refused."
    )
    for figure, what in (("batch", "a back end's batch of 23 KB"), ("send", "an account's send of 6.6 KB")):
        ratio = both[figure] / results["alone"][figure]
        section.targets.append(Target(19, f"p99 of {what}, with accounts that hold long bodies and without", ratio, 2))
    return [section]
