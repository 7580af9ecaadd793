"""What reaches out: a callback that is asked, a copy to a webhook, a push, and exact counts, each beside a send."""

import json
import threading
import time
from typing import Callable

from .. import machine, words
from ..broker import Broker
from ..failure import Failure
from ..figures import Results, alternate
from ..generator import exchange, folder_of
from ..receiver import Receiver
from ..section import Section, Target
from ..setting import Run
from .neighbour import Quiet
from .posting import CONNECTIONS

SENDS = 2_000
SLOW_SENDS = 10_000
UNREAD = 1_000
COUNTS = 200


class ReachingSender:
    """So many sends, and whatever comes of them at the receiver."""

    def __init__(self, run: Run, broker: Broker, receiver: Receiver, server: str, reached: bool, **fields: object):
        self.run, self.broker, self.receiver, self.server = run, broker, receiver, server
        self.reached, self.fields = reached, fields
        self.next = 1

    def round(self, count: int = SENDS) -> dict:
        requests = [self._request(self.next + number) for number in range(count)]
        self.next += count
        path = words.write_list(folder_of(self.run) / f"reaching-{self.server}-{id(self)}", requests)
        arrived, spent = self.receiver.count, machine.spent_seconds(self.broker.processes)
        found = exchange(
            self.run,
            port=self.broker.port,
            servers=self.broker.processes,
            requests=path,
            connections=CONNECTIONS,
            answers="http",
            expect='"duplicate":false',
        )
        if found["refusals"] or found["words"] != count:
            raise Failure(f"not all was accepted: {found}")
        if self.reached:
            self.receiver.wait_for(arrived + count)
        return {**found, "spent": machine.spent_seconds(self.broker.processes) - spent}

    def _request(self, number: int) -> bytes:
        text = words.send(self.server, self.broker.app, f"reaching-{id(self)}", **self.fields)
        digits = f"{number:010}"
        return text.replace(words.NEXT, digits).replace(words.SAME, digits).encode()


def _configured(run: Run, receiver: Receiver) -> Broker:
    def callback(env: str, path: str) -> dict:
        secret = "whsec_" + "QUFB" * 8
        events = ["notification.send"]
        url = f"{receiver.url}/{path}"
        values = {"env": env, "url": url, "secret": secret, "events": events}
        return {**values, "onFailure": "allow", "trusted": True}

    configuration = run.new_folder("reaching") / "belfry.json"
    values = {
        "webhooks": {"allowedNetworks": ["127.0.0.0/8"]},
        "push": {"allowedNetworks": ["127.0.0.0/8"], "delayMilliseconds": 0, "perSecond": 100_000},
        "callbacks": [callback("asked", "asked"), callback("slow", "after/50/slow")],
    }
    configuration.write_text(json.dumps(values))
    # The quiet account marks none of its own.
    limits = {"UNREAD_PER_SENDER": 1_000_000, "NOTIFICATIONS_PER_MAILBOX": 1_000_000}
    return Broker(run, limits=limits, environment={"BELFRY_CONFIG": str(configuration)})


def _counting(broker: Broker, path: str) -> Callable[[], dict]:
    """Questions of one account about its unread notifications, one after the other."""

    def ask() -> dict:
        spent, begin = machine.spent_seconds(broker.processes), time.perf_counter()
        for _ in range(COUNTS):
            broker.call("GET", path, account="counted")
        seconds = time.perf_counter() - begin
        return {"spent": machine.spent_seconds(broker.processes) - spent, "answers": COUNTS, "seconds": seconds}

    return ask


def measure(run: Run) -> list[Section]:
    receiver = Receiver(run)
    broker = _configured(run, receiver)
    plain = broker.new_server(["owner"])
    copied = broker.new_server(["owner"])
    pushed = broker.new_server(["owner", "absent"])
    counted = [broker.new_server(["counted"]) for _ in range(20)]
    broker.call("POST", "/v1/webhooks", {"url": f"{receiver.url}/copies", "spaces": [f"server:{copied}"]})
    pusher = {"kind": "matrix", "url": receiver.url, "appId": "bench", "pushkey": "absent"}
    broker.call("PUT", "/v1/account/pushers/phone", pusher, account="absent")
    for number in range(UNREAD):
        broker.call("POST", "/v1/notifications", {"serverId": counted[number % 20], "body": f"{number}"})

    to_push = {"setting": {"pushEnable": True, "needBadge": False}}
    senders = {
        "plain": ReachingSender(run, broker, receiver, plain, False),
        "asked": ReachingSender(run, broker, receiver, plain, True, env="asked"),
        "copied": ReachingSender(run, broker, receiver, copied, True),
        "pushed": ReachingSender(run, broker, receiver, pushed, True, **to_push),
    }
    slow = ReachingSender(run, broker, receiver, plain, True, env="slow")
    quiet = Quiet(broker)

    def beside_slow() -> dict:
        thread = threading.Thread(target=slow.round, args=(SLOW_SENDS,))
        thread.start()
        found = quiet.round(run.seconds * 2)
        thread.join()
        return found

    results = alternate(run, {name: sender.round for name, sender in senders.items()})
    counts = alternate(
        run,
        {
            "counts": _counting(broker, "/v1/notifications/counts"),
            "page": _counting(broker, "/v1/notifications?limit=500"),
        },
    )
    waits = alternate(run, {"alone": lambda: quiet.round(run.seconds * 2), "beside": beside_slow})
    broker.stop()
    receiver.stop()
    return [_reaching(results), _counts(counts), _waits(waits)]


def _reaching(results: dict[str, Results]) -> Section:
    section = Section(
        title="Requests to others, compared with a send",
        what=(
            f"{SENDS:,} sends over {CONNECTIONS} connections, and all that comes of them at a receiver on the loopback: a"
            " callback that is asked before each and allows it, a copy to a webhook after each, a push to one account's"
            " gateway after each. The receiver is not counted."
        ),
        columns=["", "CPU, µs a send", "compared with a send alone", "sends/s"],
    )
    costs = {name: found.per("spent", "answers", 1e6) for name, found in results.items()}
    rows = (("plain", "a send"), ("asked", "with a callback"), ("copied", "with a copy"), ("pushed", "with a push"))
    for name, label in rows:
        section.row(label, costs[name], costs[name] / costs["plain"], results[name].rate("answers"))
    return section


def _counts(results: dict[str, Results]) -> Section:
    section = Section(
        title=f"Counting {UNREAD:,} unread in 20 servers",
        what="`GET /v1/notifications/counts` by one client, one after the other; compared with a page of 500 of the same.",
        columns=["", "CPU, µs an answer", "answers/s"],
    )
    for name, label in (("counts", "counts"), ("page", "a page of 500")):
        section.row(label, results[name].per("spent", "answers", 1e6), results[name].rate("answers"))
    return section


def _waits(results: dict[str, Results]) -> Section:
    section = Section(
        title=f"A quiet account beside {SLOW_SENDS:,} sends whose callback takes 50 ms",
        what="One account sends to itself without a callback, and reads its stream.",
        columns=["", "a send, p99, ms", "until delivered, p99, ms"],
    )
    for name, label in (("alone", "alone"), ("beside", "beside them")):
        section.row(label, results[name]["sent"], results[name]["delivered"])
    ratio = results["beside"]["sent"] / results["alone"]["sent"]
    what = "p99 of a send without a callback, with sends whose callback takes 50 ms and without"
    section.targets.append(Target(14, what, ratio, 2))
    return section
