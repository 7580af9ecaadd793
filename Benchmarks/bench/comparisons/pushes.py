"""Pushes and sends of others next to an account whose device takes its pushes slowly."""

import http.client
import json
import time

from ..broker import Broker
from ..failure import Failure
from ..figures import alternate, p99_milliseconds
from ..programs import measure_next_to
from ..receiver import Receiver
from ..section import Section, Target
from ..setting import Run
from .neighbour import SECONDS_BETWEEN

SERVERS = 100
"""The slow account has so many, so it has something to push in nearly all partitions."""
PER_SECOND = 100
"""The pace of an account that is permitted by default."""
ANSWERED_AFTER = 8_000
"""Milliseconds until the slow device's gateway has taken a push."""
SECONDS_BEFORE = 3
"""More pushes are due to the slow device then than a loop has under way."""
PUSHED = 5
"""One in so many sends of the measured account is pushed."""
SECONDS_UNTIL_PUSHED = 30


class Absent:
    """An account that sends to itself, is not connected, and has pushes sent to its device."""

    def __init__(self, broker: Broker, gateway: Receiver):
        self.gateway = gateway
        self.token = broker.token("absent")
        self.connection = http.client.HTTPConnection("127.0.0.1", broker.port, timeout=30)
        _put_pusher(broker, "absent", f"{gateway.url}/noted")

    def send(self, is_pushed: bool) -> str:
        setting = {"pushEnable": is_pushed, "needBadge": False}
        body = json.dumps({"toAccids": ["absent"], "body": "x" * 200, "setting": setting})
        headers = {"Authorization": f"Bearer {self.token}", "Content-Type": "application/json"}
        self.connection.request("POST", "/v1/notifications", body, headers)
        answer = self.connection.getresponse()
        text = answer.read()
        if answer.status != 201:
            raise Failure(f"the absent account was refused: {answer.status}")
        return json.loads(text)["messageServerId"]

    def round(self, seconds: float) -> dict:
        sent: list[float] = []
        begun: dict[str, float] = {}
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            is_pushed = len(sent) % PUSHED == 0
            begin = time.monotonic()
            id = self.send(is_pushed)
            sent.append(time.monotonic() - begin)
            if is_pushed:
                begun[id] = begin
            time.sleep(SECONDS_BETWEEN)
        arrived = self._wait_for_pushes(set(begun))
        pushed = [arrived[id] - begin for id, begin in begun.items()]
        return {"sent": p99_milliseconds(sent), "pushed": p99_milliseconds(pushed), "pushes": len(pushed)}

    def _wait_for_pushes(self, ids: set[str]) -> dict[str, float]:
        arrived: dict[str, float] = {}
        end = time.monotonic() + SECONDS_UNTIL_PUSHED
        while not ids <= arrived.keys():
            if time.monotonic() > end:
                missing = len(ids - arrived.keys())
                raise Failure(f"{missing} of {len(ids)} pushes have not come after {SECONDS_UNTIL_PUSHED} s")
            time.sleep(0.05)
            arrived |= self.gateway.take_noted()
        return arrived


def _put_pusher(broker: Broker, account: str, url: str) -> None:
    pusher = {"kind": "matrix", "url": url, "appId": "bench", "pushkey": account}
    broker.call("PUT", "/v1/account/pushers/phone", pusher, account=account)


def _configured(run: Run, gateways: list[Receiver]) -> Broker:
    configuration = run.new_folder("pushes") / "belfry.json"
    push = {"allowedNetworks": ["127.0.0.0/8"], "delayMilliseconds": 0, "origins": [each.url for each in gateways]}
    configuration.write_text(json.dumps({"push": push}))
    limits = {"SENDS_PER_SECOND_PER_ACCOUNT": PER_SECOND}
    # The measured account marks none of its own.
    limits |= {"UNREAD_PER_SENDER": 1_000_000, "NOTIFICATIONS_PER_MAILBOX": 1_000_000}
    return Broker(run, limits=limits, environment={"BELFRY_CONFIG": str(configuration)})


def measure(run: Run) -> list[Section]:
    gateway, slow_gateway = Receiver(run), Receiver(run)
    broker = _configured(run, [gateway, slow_gateway])
    absent = Absent(broker, gateway)
    servers = [broker.new_server(["slow"]) for _ in range(SERVERS)]
    bodies = [json.dumps({"serverId": each, "body": "x", "setting": {"pushEnable": True}}) for each in servers]
    work = {"port": broker.port, "token": broker.token("slow"), "bodies": bodies, "perSecond": PER_SECOND}

    def alone() -> dict:
        return absent.round(run.seconds * 2)

    def after_some_time() -> dict:
        time.sleep(SECONDS_BEFORE)
        before = slow_gateway.waiting
        found = alone()
        return {**found, "waiting": min(before, slow_gateway.waiting)}

    def next_to() -> dict:
        _put_pusher(broker, "slow", f"{slow_gateway.url}/after/{ANSWERED_AFTER}/phone")
        found = measure_next_to(run, "sending", work, after_some_time)
        # The pushes that are due to the device are given up, so that the next round is one without it.
        broker.call("DELETE", "/v1/account/pushers/phone", account="slow")
        while slow_gateway.waiting:
            slow_gateway.let_go()
            time.sleep(0.5)
        if not found["waiting"]:
            raise Failure("no push waited at the slow device's gateway")
        return found

    results = alternate(run, {"alone": alone, "next to it": next_to})
    for each in (broker, gateway, slow_gateway):
        each.stop()
    section = Section(
        title="Pushes next to those of a slow device",
        what=(
            f"One account that is not connected sends to itself some {1 / SECONDS_BETWEEN:.0f} times a second at most; one in"
            f" {PUSHED} is pushed. Another sends {PER_SECOND} a second to its {SERVERS} servers, all pushed to its own"
            f" device, whose gateway answers after {ANSWERED_AFTER / 1_000:g} s. A push counts from its send until it is at"
            " the gateway."
        ),
        columns=["", "a send, p99, ms", "until pushed, p99, ms", "pushes a round"],
    )
    for name in ("alone", "next to it"):
        section.row(name, results[name]["sent"], results[name]["pushed"], results[name]["pushes"])
    both = results["next to it"]
    section.notes.append(
        f"The other account sent {both['posted'].median:,.0f} a round, and {both['refused'].median:,.0f} were refused; at"
        f" least {both['waiting'].median:,.0f} of its pushes waited for their answers."
    )
    for figure, what in (("pushed", "time until a push arrives"), ("sent", "p99 of the sends of an account with a device")):
        ratio = both[figure] / results["alone"][figure]
        section.targets.append(Target(17, f"{what}, with another's slow device and without", ratio, 2))
    return [section]
