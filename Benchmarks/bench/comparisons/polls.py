"""A quiet account next to 300 long polls, while notifications come that none of them may see."""

import itertools
import json

from ..broker import Broker
from ..failure import Failure
from ..figures import Results, alternate
from ..programs import measure_next_to
from ..section import Section, Target
from ..setting import Run
from .neighbour import Quiet

POLLS = 300
PER_SECOND = 100
"""Notifications that the polls do not see."""
_numbers = itertools.count()


def _work(broker: Broker) -> dict:
    """Each round has a server of its own, so that the polls of a round do not begin by reading what came in the others."""
    number = next(_numbers)
    pollers = [f"poller{number}.{at}" for at in range(POLLS)]
    server = broker.new_server(["keeper", "named", *pollers])
    channel = {"name": "busy", "type": "private", "membership": "roster", "members": ["named"]}
    made = broker.call("POST", f"/v1/servers/{server}/channels", channel, account="keeper")
    seen = {"serverId": server, "body": "x" * 200}
    unseen = ({**seen, "toAccids": ["named"]}, {**seen, "channelId": made["channelId"]})
    return {
        "port": broker.port,
        "token": broker.app,
        "bodies": [json.dumps(body) for body in unseen],
        "perSecond": PER_SECOND,
        "tokens": [broker.token(poller) for poller in pollers],
        "seen": json.dumps(seen),
    }


def measure(run: Run) -> list[Section]:
    # The quiet account marks none of its own.
    broker = Broker(run, limits={"UNREAD_PER_SENDER": 1_000_000, "NOTIFICATIONS_PER_MAILBOX": 1_000_000})
    quiet = Quiet(broker)

    def alone() -> dict:
        return quiet.round(run.seconds * 2)

    def next_to_sends() -> dict:
        return measure_next_to(run, "sending", _work(broker), alone)

    def next_to_polls() -> dict:
        found = measure_next_to(run, "polling", _work(broker), alone)
        if found["early"]:
            raise Failure(f"{found['early']} polls were answered by what they must not see")
        return found

    contenders = {"alone": alone, "sends": next_to_sends, "polls": next_to_polls}
    results = alternate(run, contenders)
    broker.stop()
    return [_polls(results)]


def _polls(results: dict[str, Results]) -> Section:
    section = Section(
        title=f"A quiet account next to {POLLS} long polls",
        what=(
            f"One account sends to itself and reads its stream. {POLLS} others, all members of one server, wait for"
            f" notifications by long polls. {PER_SECOND} notifications a second come in their server, to another member or in"
            " a channel of others, so that no poll may be answered. The same without the polls, and without either."
        ),
        columns=["", "a send, p99, ms", "until delivered, p99, ms", "quiet sends a round"],
    )
    rows = (("alone", "alone"), ("sends", "next to the notifications"), ("polls", "next to the notifications and the polls"))
    for name, label in rows:
        found = results[name]
        section.row(label, found["sent"], found["delivered"], found["sends"])
    posted = results["polls"]["posted"].median
    section.notes.append(
        f"{posted:,.0f} notifications a round came while the polls waited. None of them answered a poll; one that all may see"
        " answered each poll at the end of the round."
    )
    what = f"p99 of a quiet account's send, with {POLLS} long polls that see nothing and without"
    section.targets.append(Target(16, what, results["polls"]["sent"] / results["sends"]["sent"], 2))
    return section
