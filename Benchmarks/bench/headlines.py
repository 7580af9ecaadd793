"""The figures that docs/performance.md shows to users. Each is one cell of a comparison's table."""

from dataclasses import dataclass

from .section import Section


@dataclass(frozen=True)
class Headline:
    what: str
    section: str
    row: str
    column: str
    unit: str = ""


ONE_SERVER = "Sends to one server and to 1,000"
FAN_OUT = "Fan-out to 1,000 consumers, sixteen in flight"
STORED = "Memory of what is stored"

HEADLINES = [
    Headline("sends, one a request, to one server", ONE_SERVER, "one server", "sends/s", "a second"),
    Headline("sends, one a request, to 1,000 servers in turn", ONE_SERVER, "1,000 servers", "sends/s", "a second"),
    Headline("sends in batches of 100", "Sending in batches of 100", "Belfry, batches of 100", "sends/s", "a second"),
    Headline("answer to a send while nothing else runs, p50", "Sending in batches of 100", "Belfry, one in flight", "p50, ms", "ms"),
    Headline("the same, p99", "Sending in batches of 100", "Belfry, one in flight", "p99, ms", "ms"),
    Headline("deliveries to 1,000 streams, one notification at a time", "Fan-out to 1,000 consumers, one in flight", "Belfry", "deliveries/s", "a second"),
    Headline("deliveries to 1,000 streams, sixteen notifications at a time", FAN_OUT, "Belfry", "deliveries/s", "a second"),
    Headline("unread notifications read page by page, from 100 servers", "Coming back to 1,000 unread in 100 servers", "Belfry, pages", "entries/s", "a second"),
    Headline("notifications marked as read, 100 a request", "Marking as read", "Belfry", "items/s", "a second"),
    Headline("10,000 streams that reconnect at once: the last one has everything", "10,000 consumers reconnect at once", "Belfry", "all served, s", "s"),
    Headline("memory of the broker for a stream that waits, of 10,000", "Memory of a consumer that waits", "10,000", "KiB of broker each", "KiB"),
    Headline("memory of Redis for a stored notification with a body of 200 bytes", STORED, "a notification stored, body of 200", "bytes", "bytes"),
    Headline("memory of Redis for a member of a server, index included", STORED, "a member, its account's index and all", "bytes", "bytes"),
]


def rows(sections: list[Section]) -> list[list[str]]:
    """Those that were measured, each with its value."""
    found = []
    for one in HEADLINES:
        for section in sections:
            if section.title != one.section:
                continue
            for row in section.rows:
                if row[0] == one.row:
                    found.append([one.what, f"{row[section.columns.index(one.column)]} {one.unit}".rstrip()])
    return found
