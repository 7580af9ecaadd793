"""What ten greedy accounts do to a quiet one: its sends and what it is sent, beside the same without them."""

import http.client
import json
import socket
import time

from ..broker import Broker
from ..failure import Failure
from ..figures import Results, alternate, p99_milliseconds
from ..programs import measure_next_to
from ..section import Section, Target
from ..setting import Run

GREEDY = 10
CONNECTIONS = 4
"""Of each greedy account."""
STORED = 2_000
"""What a page of a greedy account is read from."""
SECONDS_BETWEEN = 0.015
"""Below an account's pace, so that it is never refused."""


class Quiet:
    """One account that sends to itself now and then, and reads its stream."""

    def __init__(self, broker: Broker, **fields: object):
        """`fields`: of each notification."""
        self.fields = fields
        self.token = broker.token("quiet")
        self.connection = http.client.HTTPConnection("127.0.0.1", broker.port, timeout=30)
        self.stream = socket.create_connection(("127.0.0.1", broker.port), timeout=30)
        head = f"GET /v1/notifications/stream HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer {self.token}\r\n\r\n"
        self.stream.sendall(head.encode())
        self.received = b""
        self.count = 0
        self._read_until(b"retry: ")

    def _read_until(self, word: bytes) -> None:
        while word not in self.received:
            piece = self.stream.recv(65_536)
            if not piece:
                raise Failure("the quiet account's stream has ended")
            self.received += piece
        self.received = self.received.partition(word)[2]

    def send(self) -> tuple[float, float]:
        """Seconds until it was acknowledged, and until it was there."""
        self.count += 1
        word = f"quiet {self.count} "
        body = self._body(word)
        headers = {"Authorization": f"Bearer {self.token}", "Content-Type": "application/json"}
        begin = time.perf_counter()
        self.connection.request("POST", "/v1/notifications", body, headers)
        answer = self.connection.getresponse()
        answer.read()
        acknowledged = time.perf_counter() - begin
        if answer.status != 201:
            raise Failure(f"the quiet account was refused: {answer.status}")
        self._read_until(word.encode())
        return acknowledged, time.perf_counter() - begin

    def _body(self, word: str) -> str:
        return json.dumps({"toAccids": ["quiet"], "body": word + "x" * 200, **self.fields})

    @property
    def body_bytes(self) -> int:
        """About, of a request."""
        return len(self._body("quiet 1 "))

    def round(self, seconds: float) -> dict:
        sent, delivered = [], []
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            one, two = self.send()
            sent.append(one)
            delivered.append(two)
            time.sleep(SECONDS_BETWEEN)
        return {"sent": p99_milliseconds(sent), "delivered": p99_milliseconds(delivered), "sends": len(sent)}


def measure(run: Run) -> list[Section]:
    # The paces are what is measured; of its own notifications the quiet account marks none.
    limits = {"SENDS_PER_SECOND_PER_ACCOUNT": 100, "READS_PER_SECOND_PER_ACCOUNT": 100}
    limits |= {"UNREAD_PER_SENDER": 1_000_000, "NOTIFICATIONS_PER_MAILBOX": 1_000_000}
    broker = Broker(run, limits=limits)
    accounts = [f"greedy{number}" for number in range(GREEDY)]
    server = broker.new_server(accounts)
    for start in range(0, STORED, 1_000):
        lines = (json.dumps({"serverId": server, "body": f"{start + at} " + "x" * 200}) for at in range(1_000))
        broker.call("POST", "/v1/notifications/batch", "\n".join(lines).encode())
    quiet = Quiet(broker)
    seconds = run.seconds * 2

    def alone() -> dict:
        return quiet.round(seconds)

    def beside() -> dict:
        tokens = [broker.token(account) for account in accounts]
        work = {"port": broker.port, "tokens": tokens, "server": server, "connections": CONNECTIONS}
        return measure_next_to(run, "greedy", work, alone)

    results = alternate(run, {"alone": alone, "beside": beside})
    broker.stop()
    section = Section(
        title=f"A quiet account beside {GREEDY} greedy ones",
        what=(
            f"One account sends to itself some {1 / SECONDS_BETWEEN:.0f} times a second at most and reads its stream;"
            f" each of {GREEDY} others asks over {CONNECTIONS} connections as fast as it is answered: pages of 500,"
            " sends, batches and invitations of accounts that do not exist. The paces are the defaults."
        ),
        columns=["", "a send, p99, ms", "until delivered, p99, ms", "quiet sends a round"],
    )
    for name, label in (("alone", "alone"), ("beside", f"beside {GREEDY}")):
        found: Results = results[name]
        section.row(label, found["sent"], found["delivered"], found["sends"])
    both = results["beside"]
    section.notes.append(
        f"The greedy ones were answered {both['answers'].median:,.0f} times a round, and"
        f" {both['refused'].median:,.0f} of these were refused."
    )
    ratio = both["sent"] / results["alone"]["sent"]
    section.targets.append(Target(13, "p99 of a quiet account's send, with ten greedy accounts and without", ratio, 2))
    return [section]
