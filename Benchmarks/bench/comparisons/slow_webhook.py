"""Sends that a callback is asked about, next to a slow webhook on the same host."""

import json
import time

from ..broker import Broker
from ..failure import Failure
from ..figures import alternate
from ..receiver import Receiver
from ..section import Section, Target
from ..setting import Run
from .neighbour import Quiet

SERVERS = 300
"""One notification each: so there is something to deliver in nearly all partitions."""
ANSWERED_AFTER = 12_000
"""Milliseconds until the webhook has taken a copy. It may take 15 s."""
DELIVERIES = 40
"""So many deliveries at least wait for their answers while the sends are measured."""


def _configured(run: Run, receiver: Receiver) -> Broker:
    callback = {"env": "asked", "url": f"{receiver.url}/asked", "secret": "whsec_" + "QUFB" * 8}
    callback |= {"events": ["notification.send"], "onFailure": "deny"}
    values = {"webhooks": {"allowedNetworks": ["127.0.0.0/8"]}, "callbacks": [callback]}
    configuration = run.new_folder("slow-webhook") / "belfry.json"
    configuration.write_text(json.dumps(values))
    # The quiet account marks none of its own.
    limits = {"UNREAD_PER_SENDER": 1_000_000, "NOTIFICATIONS_PER_MAILBOX": 1_000_000}
    return Broker(run, limits=limits, environment={"BELFRY_CONFIG": str(configuration)})


def measure(run: Run) -> list[Section]:
    receiver = Receiver(run)
    broker = _configured(run, receiver)
    servers = [broker.new_server(["owner"]) for _ in range(SERVERS)]
    lines = (json.dumps({"serverId": server, "body": "x" * 200, "env": "copied"}) for server in servers)
    batch = "\n".join(lines).encode()
    quiet = Quiet(broker, env="asked")

    def alone() -> dict:
        answered = receiver.count
        found = quiet.round(run.seconds * 2)
        asked = receiver.count - answered
        if asked < found["sends"]:
            raise Failure(f"the callback was asked about {asked} of {found['sends']} sends")
        return found

    def next_to() -> dict:
        webhook = {"url": f"{receiver.url}/after/{ANSWERED_AFTER}/copies", "env": "copied"}
        id = broker.call("POST", "/v1/webhooks", webhook)["webhookId"]
        broker.call("POST", "/v1/notifications/batch", batch)
        receiver.process.wait_until(lambda: receiver.waiting >= DELIVERIES)
        # The first of a burst have passed.
        time.sleep(0.5)
        before = receiver.waiting
        found = alone()
        waiting = min(before, receiver.waiting)
        broker.call("DELETE", f"/v1/webhooks/{id}")
        while receiver.waiting:
            receiver.let_go()
            time.sleep(0.5)
        if waiting < DELIVERIES:
            raise Failure(f"only {waiting} deliveries waited while it was measured")
        return {**found, "waiting": waiting}

    results = alternate(run, {"alone": alone, "next to it": next_to})
    broker.stop()
    receiver.stop()
    section = Section(
        title="Sends with a callback next to a slow webhook on the same host",
        what=(
            "One account sends to itself with a callback, which allows each send at once, and reads its stream. A webhook on"
            f" the callback's host answers after {ANSWERED_AFTER / 1_000:g} s. A back end's batch of {SERVERS} notifications,"
            " each to a server of its own, is delivered to it."
        ),
        columns=["", "a send, p99, ms", "until delivered, p99, ms", "sends a round"],
    )
    for name in ("alone", "next to it"):
        section.row(name, results[name]["sent"], results[name]["delivered"], results[name]["sends"])
    both = results["next to it"]
    section.notes.append(f"At least {both['waiting'].median:,.0f} deliveries waited for the webhook's answers.")
    what = "p99 of a send with a callback, with a slow webhook on the same host and without"
    section.targets.append(Target(18, what, both["sent"] / results["alone"]["sent"], 2))
    return [section]
