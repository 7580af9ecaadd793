"""What an account that has marked tens of thousands does to others when it pages and comes back."""

import json

from ..broker import Broker
from ..failure import Failure
from ..figures import Results, alternate
from ..programs import measure_next_to
from ..section import Section, Target
from ..setting import Run
from .neighbour import Quiet

MARKS = 60_000
PER_MARK = 500
PAGES = 6
"""Connections that ask for pages."""
STREAMS = 2
"""Connections that come back."""


def _mark_all(broker: Broker) -> str:
    """Sends and marks so many, one id each. Gives the cursor behind them."""
    server = broker.new_server(["reader"])
    first = broker.call("POST", "/v1/notifications", {"serverId": server, "body": "never read"})
    cursor, marked = "", 0
    while marked < MARKS:
        lines = (json.dumps({"serverId": server, "body": f"{marked + at}"}) for at in range(PER_MARK))
        broker.call("POST", "/v1/notifications/batch", "\n".join(lines).encode())
        path = f"/v1/notifications?limit={PER_MARK}" + (f"&after={cursor}" if cursor else "")
        page = broker.call("GET", path, account="reader")
        ids = [each["messageServerId"] for each in page["notifications"]]
        # The first of all stays unread, so that no mark of everything could take the place of the single ones.
        ids = [each for each in ids if each != first["messageServerId"]]
        if ids:
            items = [{"messageServerId": each} for each in ids]
            broker.call("POST", "/v1/notifications/read", {"items": items}, account="reader")
        elif page["cursor"] == cursor:
            raise Failure(f"only {marked} could be marked")
        marked += len(ids)
        cursor = page["cursor"]
    return cursor


def measure(run: Run) -> list[Section]:
    # Only what was marked is to count: the logs keep all of it.
    limits = {"UNREAD_PER_SENDER": 1_000_000, "NOTIFICATIONS_PER_MAILBOX": 1_000_000}
    broker = Broker(run, limits=limits)
    cursor = _mark_all(broker)
    quiet = Quiet(broker)
    seconds = run.seconds * 2
    work = {"port": broker.port, "token": broker.token("reader"), "cursor": cursor, "pages": PAGES, "streams": STREAMS}

    def alone() -> dict:
        return quiet.round(seconds)

    def next_to() -> dict:
        return measure_next_to(run, "returning_reader", work, alone)

    results = alternate(run, {"alone": alone, "next to it": next_to})
    broker.stop()
    section = Section(
        title=f"A quiet account next to one with {MARKS:,} single read marks",
        what=(
            f"One account sends to itself and reads its stream. Another has marked {MARKS:,} notifications one by one. It asks"
            f" for pages with nothing new over {PAGES} connections, and comes back to its stream over {STREAMS}."
        ),
        columns=["", "a send, p99, ms", "until delivered, p99, ms", "quiet sends a round"],
    )
    for name in ("alone", "next to it"):
        found: Results = results[name]
        section.row(name, found["sent"], found["delivered"], found["sends"])
    both = results["next to it"]
    section.notes.append(
        f"The other account was given {both['pages'].median:,.0f} pages and {both['streams'].median:,.0f} streams a round;"
        f" {both['refused'].median:,.0f} pages were refused."
    )
    ratio = both["sent"] / results["alone"]["sent"]
    what = f"p99 of a quiet account's send, next to one with {MARKS:,} read marks and without"
    section.targets.append(Target(15, what, ratio, 2))
    return [section]
