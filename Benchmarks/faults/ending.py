"""The end of a scene: all is well, what is outstanding arrives, and the feeds are read from their beginning."""

import asyncio

from bench.failure import Failure

from .checker import check
from .history import FOREVER, OK, Fault, FinalFeed, History
from .keyspace import partition, partitions_of
from .load.consumers import Stream
from .load.people import Person
from .machinery.http import Connection, Events, NoAnswer
from .stage import OWN_LAG_SECONDS, Stage

PAGE = 500
# So long a machine may be busy with something else, before an answer or the rest of a feed is said not to come.
PATIENCE_SECONDS = 30
# How far a replica that is in step may be behind its master.
LAG_SECONDS = 1.0


async def drain(stage: Stage, bound: float) -> None:
    """Until nothing is outstanding, and no longer than it takes to say that something is missing."""
    history = stage.history
    write_down_losses(stage)
    started = max([stage.now, *(fault.ended for fault in history.faults if fault.ended < 1e18)])
    while stage.now < started + bound + 3:
        await asyncio.sleep(1)
        before = stage.now
        history.ended = before
        # What would be missing if no patience were had.
        outstanding = [one for one in check(history, 0.0) if one.kind in ("lost", "untold")]
        if not outstanding:
            break
        # What passes through this program waits for a check that takes long, and is excused: nothing is due any more that is
        # not left alone for the whole bound afterwards. Then it is, and needs no other check here.
        if stage.now - before >= OWN_LAG_SECONDS / 2:
            await asyncio.sleep(bound + 1)
            break
    history.ended = stage.now


def write_down_losses(stage: Stage) -> None:
    """What was sent before a tail was cut, was acknowledged or shown, and Redis does not have. Its file is never rewritten
    while a scene plays. What was sent afterwards and is not there would be lost for no reason."""
    history = stage.history
    cuts = [fault for fault in history.faults if fault.lost_since < FOREVER or fault.undone]
    if not cuts:
        return
    present = stage.redis.ids()
    if not stage.redis.ids_include_read:
        present |= marked_read(history)
    sent = {send.client_id: send for send in history.sends}
    began = {send.id: send.began for send in history.sends if send.id}
    # A broker that was stopped may have passed on a send long after it had been asked.
    settled = {send.id: send.ended for send in history.sends if send.id}
    acknowledged = {send.id for send in history.sends if send.outcome == OK}
    concerned: dict[str, set[int]] = {send.id: partitions_of(send.id, *send.to) for send in history.sends if send.id}
    for shown in history.shown:
        send = sent.get(shown.client_id)
        began.setdefault(shown.id, send.began if send else shown.at)
        settled.setdefault(shown.id, send.ended if send else shown.at)
        concerned.setdefault(shown.id, partitions_of(shown.id)).add(partition(history.account_of(shown.device)))
    for cut in cuts:
        cut.lost_ids.clear()
        cut.excused_ids.clear()
    for id, time in began.items():
        # A disk that is full loses what was sent since; its fault ends when Redis is back.
        cut = next(
            (cut for cut in cuts if time <= (cut.killed or cut.began) and may_concern(cut, settled[id], concerned[id])), None
        )
        if not cut or cut.lost_since == FOREVER and id in acknowledged:
            continue
        if id not in present:
            cut.lost_ids.append(id)
        elif cut.undone:
            cut.excused_ids.append(id)


def may_concern(cut: Fault, settled: float, partitions: set[int]) -> bool:
    """What a failover undoes is of its master's partitions, and no older than what a replica lags behind."""
    return not cut.undone or settled >= cut.began - LAG_SECONDS and not cut.undone.isdisjoint(partitions)


def marked_read(history: History) -> set[str]:
    """Notifications that an account was shown and has marked read: Redis removes them from its own log. A mark up to a later
    one also covers what a lost tail took, so this serves only where a look at Redis cannot tell the two apart."""
    items, ends = set(), {}
    for mark in history.marks:
        if mark.outcome == OK:
            items.update(mark.items)
            ends[mark.account] = max(ends.get(mark.account, 0), int(mark.up_to or 0))
    for shown in history.shown:
        if int(shown.id) <= ends.get(history.account_of(shown.device), 0):
            items.add(shown.id)
    return items


async def read_feeds(stage: Stage) -> None:
    """All at once: most of it is waiting for more to come."""
    await asyncio.gather(*(read_everything(stage, account) for account in stage.history.accounts))


async def read_everything(stage: Stage, account: str) -> None:
    person = Person(stage, account)
    # Taken first: what a page shows is what there is when it is asked for.
    final = FinalFeed(account, stage.now, ())
    final.ids = tuple(await read_feed(person))
    final.count = await read_count(person)
    final.fresh = tuple(await watch_fresh(stage, account, len(final.ids)))
    stage.history.finals[account] = final
    person.close()


async def ask_patiently(person: Person, path: str):
    end = person.stage.now + PATIENCE_SECONDS
    while person.stage.now < end:
        try:
            answer = await person.ask("GET", path, trusted=False, device="final")
            if answer.status < 500:
                return answer
        except (NoAnswer, TimeoutError):
            pass
        await asyncio.sleep(0.3)
    raise Failure(f"GET {path} is not answered, with all well")


async def read_feed(person: Person) -> list[str]:
    ids: list[str] = []
    cursor = ""
    while True:
        path = f"/v1/notifications?limit={PAGE}" + (f"&after={cursor}" if cursor else "")
        answer = await ask_patiently(person, path)
        if answer.status != 200:
            raise Failure(f"GET {path[:60]}: {answer.status} {answer.body.decode(errors='replace')}")
        page = answer.json
        ids += [str(notification["messageServerId"]) for notification in page["notifications"]]
        if not page["notifications"]:
            return ids
        cursor = page["cursor"]


async def read_count(person: Person) -> int | None:
    answer = await ask_patiently(person, "/v1/notifications/counts")
    return answer.json["unread"] if answer.status == 200 else None


async def watch_fresh(stage: Stage, account: str, expected: int) -> list[str]:
    """A device that was never there before."""
    probe = Stream(stage, account, "fresh", life=None)
    # It is judged by the end's own rules.
    del stage.history.devices[probe.name]
    shown: list[str] = []
    probe.show = lambda notification, asked: shown.append(str(notification["messageServerId"]))
    probe.tell = lambda what, **more: None
    connection = Connection(stage.random_of(f"fresh {account}").choice(stage.brokers).front.port)
    try:
        answer, reader = await connection.open_stream(
            "/v1/notifications/stream", probe.token, {}, PATIENCE_SECONDS
        )
        events = Events(answer, reader)
        # Never given up in the middle of a piece.
        next_piece = asyncio.create_task(events.next())
        # Heartbeats say nothing new. A little longer than it takes, for what is shown beyond what is expected.
        last = stage.now
        while stage.now - last < (0.5 if len(shown) >= expected else PATIENCE_SECONDS):
            done, _ = await asyncio.wait({next_piece}, timeout=0.25)
            if not done:
                continue
            before = len(shown)
            for event in next_piece.result():
                probe.hear(event, 0)
            if len(shown) > before:
                last = stage.now
            next_piece = asyncio.create_task(events.next())
        next_piece.cancel()
    except (NoAnswer, OSError, EOFError, TimeoutError) as problem:
        raise Failure(f"a new stream of {account} breaks with all well: {problem!r}") from problem
    finally:
        connection.close()
    return shown
