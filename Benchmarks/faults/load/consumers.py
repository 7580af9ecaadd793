"""Devices: streams that are cut and resume on other brokers, pagers, and those who mark what they have read."""

import asyncio
import json
import re

from ..history import Device, Mark, Shown, Spell, Told
from ..machinery.http import Connection, Event, Events, NoAnswer
from ..machinery.tokens import mint
from ..stage import SECRET, Stage
from .people import Person

# Twice what is between two signs of life of a broker.
SILENCE_SECONDS = 32
HEAD_SECONDS = 6
VERSION = re.compile(r" v(\d+)$")


class Consumer:
    """What streams and pagers have in common: they write down what they are shown."""

    kind = ""

    def __init__(self, stage: Stage, account: str, name: str):
        self.stage, self.account, self.name = stage, account, f"{account}-{name}"
        self.device = Device(self.name, account, self.kind, stage.now)
        stage.history.devices[self.name] = self.device
        self.random = stage.random_of(f"{self.kind} {self.name}")
        self.token = mint(SECRET.encode(), account, device=self.name)
        self.cursor = ""
        self.is_over = False
        self.unread: dict[str, None] = {}
        """What this device shows as unread, in order."""

    def show(self, notification: dict, asked: float) -> None:
        id = str(notification.get("messageServerId", ""))
        if not id:
            return
        body = notification.get("body") or ""
        version = VERSION.search(body)
        space = notification.get("serverId") or notification.get("groupId") or ""
        self.stage.history.shown.append(
            Shown(
                *(self.name, self.stage.now, asked, id, notification.get("type", 0)),
                # Built-in ones are known by their id alone.
                notification.get("messageClientId", "") if notification.get("type") == 100 else "",
                *(body, int(version[1]) if version else 0, str(space)),
            )
        )
        self.unread[id] = None

    def tell(self, what: str, **more) -> None:
        self.stage.history.told.append(Told(self.name, self.stage.now, what, **more))


class Stream(Consumer):
    kind = "stream"

    def __init__(self, stage: Stage, account: str, name: str, *, life: float | None):
        """`life`: after how many seconds on average it is cut, and resumes elsewhere."""
        super().__init__(stage, account, name)
        self.life = life
        self.reads = asyncio.Event()
        self.reads.set()
        self.place = self.random.randrange(len(stage.brokers))
        self.connection: Connection | None = None

    async def run(self) -> None:
        while not self.is_over:
            self.place = (self.place + 1) % len(self.stage.brokers)
            await self.connect(self.stage.brokers[self.place].front.port)
            if not self.is_over:
                await asyncio.sleep(0.02 + 0.3 * self.random.random())

    async def connect(self, port: int) -> None:
        self.connection = connection = Connection(port)
        asked = self.stage.now
        headers = {"Last-Event-ID": self.cursor} if self.cursor else {}
        try:
            answer, reader = await connection.open_stream(
                "/v1/notifications/stream", self.token, headers, HEAD_SECONDS
            )
        except (NoAnswer, TimeoutError):
            connection.close()
            return
        if answer.status != 200:
            if 400 <= answer.status < 500 and answer.status not in (408, 429):
                self.tell("cursorRefused", first=f"{answer.status}, {len(self.cursor)} bytes")
                self.is_over = True
            connection.close()
            return
        spell = Spell(self.name, self.stage.now)
        self.stage.history.spells.append(spell)
        try:
            await self.follow(Events(answer, reader), asked)
        finally:
            self.stage.history.spells[self._last_spell()].ended = self.stage.now
            connection.close()

    def _last_spell(self) -> int:
        spells = self.stage.history.spells
        return next(at for at in reversed(range(len(spells))) if spells[at].device == self.name)

    async def follow(self, events: Events, asked: float) -> None:
        random = self.random
        until = self.stage.now + (random.uniform(0.2, 2) * self.life if self.life else 1e9)
        while not self.is_over:
            if not self.reads.is_set():
                self.stage.history.spells[self._last_spell()].ended = self.stage.now
                await self.reads.wait()
                self.stage.history.spells.append(Spell(self.name, self.stage.now))
            left = until - self.stage.now
            if left <= 0 and not self.stage.is_over:
                return
            try:
                async with asyncio.timeout(min(SILENCE_SECONDS, max(left, 0.5))):
                    found = await events.next()
            except TimeoutError:
                # A read that was given up may have taken a part of an event: nothing may follow it.
                return
            except (OSError, EOFError, ValueError, asyncio.IncompleteReadError):
                return
            for event in found:
                if self.hear(event, asked):
                    return

    def hear(self, event: Event, asked: float) -> bool:
        """True where the stream is over."""
        if event.id is not None:
            self.cursor = event.id
        data = json.loads(event.data)
        if event.name == "notification":
            self.show(data, asked)
        elif event.name == "read":
            ids = tuple(str(id) for id in data.get("messageServerIds") or ())
            up_to = str(data.get("upTo") or "")
            self.tell("read", ids=ids, up_to=up_to)
            self.forget(ids, up_to)
        elif event.name == "updated":
            version = VERSION.search(data.get("body") or "")
            id = str(data["messageServerId"])
            self.tell("updated", ids=(id,), version=int(version[1]) if version else 0)
        elif event.name == "retracted":
            id = str(data["messageServerId"])
            self.tell("retracted", ids=(id,))
            self.forget((id,), "")
        elif event.name == "preferences":
            # It begins anew: also when the store may have gone back to earlier preferences.
            self.tell("preferences")
            self.unread.clear()
        elif event.name == "gap":
            self.tell("gap", first=str(data["from"]), last=str(data["to"]))
        elif event.name == "kicked":
            self.tell("kicked", first=data.get("reason", ""))
            return True
        return False

    def forget(self, ids: tuple[str, ...], up_to: str) -> None:
        for id in ids:
            self.unread.pop(id, None)
        if up_to:
            self.unread = {id: None for id in self.unread if int(id) > int(up_to)}


class Pager(Consumer):
    kind = "pages"

    def __init__(self, stage: Stage, account: str, name: str = "pages", *, pause: float = 1.0):
        super().__init__(stage, account, name)
        self.pause = pause
        self.person = Person(stage, account)
        stage.history.spells.append(Spell(self.name, stage.now))

    async def run(self) -> None:
        while not self.is_over:
            # Whoever has more to fetch does not wait.
            if not await self.page(self.random.choice((5, 50))):
                await asyncio.sleep(self.pause * 2 * self.random.random())

    async def page(self, limit: int) -> bool:
        """Whether it was full."""
        path = f"/v1/notifications?limit={limit}"
        path += f"&after={self.cursor}" if self.cursor else ""
        asked = self.stage.now
        try:
            answer = await self.person.ask("GET", path, trusted=False)
        except (NoAnswer, TimeoutError):
            return False
        if answer.status != 200:
            if answer.status < 500 and answer.status not in (408, 429):
                self.tell("cursorRefused", first=f"{answer.status} {answer.code}, {len(self.cursor)} bytes")
                self.is_over = True
            return False
        page = answer.json
        self.cursor = page["cursor"] or self.cursor
        if gap := page.get("gap"):
            self.tell("gap", first=str(gap["from"]), last=str(gap["to"]))
        for notification in page["notifications"]:
            self.show(notification, asked)
        return len(page["notifications"]) == limit


class Marker:
    """An account that reads, by one of its streams: single entries, or all up to one."""

    def __init__(self, stage: Stage, streams: list[Stream], pause: float):
        self.stage, self.streams, self.pause = stage, streams, pause
        self.random = stage.random_of(f"marker {streams[0].account}")
        self.person = Person(stage, streams[0].account)

    async def run(self) -> None:
        while not self.stage.is_over:
            await asyncio.sleep(self.pause * 2 * self.random.random())
            stream = self.random.choice(self.streams)
            if stream.unread:
                await self.mark(stream, everything=self.random.random() < 0.15)

    async def mark(self, stream: Stream, *, everything: bool = False) -> Mark:
        mark = Mark(self.stage.now, account=stream.account, device=stream.name)
        ids = list(stream.unread)
        if everything:
            mark.up_to = max(ids, key=int)
            body: dict = {"upTo": mark.up_to}
        else:
            mark.items = tuple(self.random.sample(ids, min(len(ids), self.random.randint(1, 6))))
            body = {"items": [{"messageServerId": id} for id in mark.items]}
        self.stage.history.marks.append(mark)
        path = "/v1/notifications/read"
        answer = await self.person.settle(mark, "POST", path, body, trusted=False, device=stream.name)
        if answer and mark.is_ok:
            mark.count = answer.json["read"]
            stream.forget(mark.items, mark.up_to)
        return mark
