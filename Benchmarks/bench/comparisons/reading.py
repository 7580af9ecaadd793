"""Target 8: marking as read, a hundred a call."""

from .. import words
from ..broker import Broker
from ..failure import Failure
from ..figures import Results
from ..generator import exchange, folder_of
from ..section import Section, Target
from ..setting import Run
from .returning import send_numbered

ENTRIES, ITEMS = 1_000, 100
CONNECTIONS = 16


def measure(run: Run) -> list[Section]:
    each = 10 if run.is_quick else 100
    broker = Broker(run)
    accounts = [f"k{number}" for number in range(each * run.rounds)]
    server = broker.new_server(accounts)
    send_numbered(broker, server, ENTRIES)
    ids = _ids_of_unread(broker, accounts[0])
    # An entry is read once, so each round has accounts of its own.
    rounds = [
        _mark_all(run, broker, accounts[start : start + each], ids) for start in range(0, len(accounts), each)
    ]
    broker.stop()
    return [_section(Results(rounds))]


def _ids_of_unread(broker: Broker, account: str) -> list[str]:
    ids: list[str] = []
    after = ""
    while len(ids) < ENTRIES:
        page = broker.call("GET", f"/v1/notifications?limit=500{after}", account=account)
        # Not what else an account is told, such as that it has joined: the others have not seen that.
        ids += [one["messageServerId"] for one in page["notifications"] if one["type"] == 100]
        after = f"&after={page['cursor']}"
    return ids


def _mark_all(run: Run, broker: Broker, accounts: list[str], ids: list[str]) -> dict:
    requests = []
    for start in range(0, ENTRIES, ITEMS):
        items = ",".join(f'{{"messageServerId":"{one}","type":100}}' for one in ids[start : start + ITEMS])
        body = f'{{"items":[{items}]}}'
        requests += [
            words.http("POST", "/v1/notifications/read", broker.token(account), body).encode()
            for account in accounts
        ]
    found = exchange(
        run,
        port=broker.port,
        servers=broker.processes,
        connections=CONNECTIONS,
        requests=words.write_list(folder_of(run) / "marks", requests),
        answers="http",
        expect=f'"read":{ITEMS}',
    )
    if found["words"] != len(requests):
        raise Failure(f"{found['words']} of {len(requests)} calls marked {ITEMS}: {found}")
    return {**found, "items": len(requests) * ITEMS}


def _section(results: Results) -> Section:
    section = Section(
        title="Marking as read",
        what=(
            f"`POST /v1/notifications/read` with {ITEMS} items, over {CONNECTIONS} connections: each of some accounts"
            f" marks all {ENTRIES:,} entries of a server, in {ENTRIES // ITEMS} calls."
        ),
        columns=["", "items/s", "CPU, µs an item", "p50 of a call, ms", "p99, ms", "server core, %"],
    )
    section.row(
        "Belfry",
        results.rate("items"),
        results.cost("items"),
        results.scaled("p50", 1e-3),
        results.scaled("p99", 1e-3),
        results.server_load,
    )
    section.targets.append(
        Target(
            8,
            "items marked as read a second",
            results.rate("items"),
            50_000,
            is_ceiling=False,
            unit="items/s",
        )
    )
    return section
