"""Who there is, what they belong to, and what each of them does."""

import asyncio
from dataclasses import dataclass, field

from bench.failure import Failure

from ..history import OK, REFUSED, Call, Change
from ..machinery.http import Answer, Connection, NoAnswer
from ..machinery.tokens import mint
from ..stage import SECRET, Stage

ACCOUNTS = [f"a{number}" for number in range(1, 13)]
FILLERS = [f"f{number}" for number in range(1, 11)]
OWNER = "a1"
RETRY_SECONDS = 0.25
# What says that it was done by an earlier try of the same call: who has left is no member, who has joined is one.
DONE_ALREADY = {403, 404, 409}


class Person:
    """An account's way to brokers: a connection to each, used in turn."""

    def __init__(self, stage: Stage, account: str, device: str = ""):
        self.stage = stage
        self.account = account
        self.token = mint(SECRET.encode(), account)
        self.app = mint(SECRET.encode(), "faults", role="app")
        self.device = device
        self.connections = [Connection(broker.front.port) for broker in stage.brokers]
        self.random = stage.random_of(f"person {account}")
        self.place = self.random.randrange(len(self.connections))

    async def ask(
        self, method: str, path: str, body: object = None, *, trusted=True, device: str = "", seconds=5.0
    ) -> Answer:
        """Once, of the next broker."""
        self.place = (self.place + 1) % len(self.connections)
        headers = {"Belfry-Account": self.account} if trusted and self.account else {}
        if device or self.device:
            headers["Belfry-Device"] = device or self.device
        token = self.app if trusted else self.token
        return await self.connections[self.place].ask(
            method, path, token, body, headers=headers, seconds=seconds
        )

    async def settle(self, call: Call, method: str, path: str, body: object = None, **how) -> Answer | None:
        """Tries until the answer is known, and writes into the call what came of it. None where the scene ended first."""
        while not (self.stage.is_over and call.tries):
            call.tries += 1
            try:
                answer = await self.ask(method, path, body, **how)
            except (NoAnswer, TimeoutError):
                answer = None
            if answer and answer.status < 300:
                call.ended, call.outcome, call.status = self.stage.now, OK, answer.status
                return answer
            if answer and answer.status < 500 and answer.status not in (408, 429):
                call.ended, call.outcome, call.status = self.stage.now, REFUSED, answer.status
                return answer
            if not answer or answer.status >= 500:
                call.unanswered.append(self.stage.now)
            await asyncio.sleep(RETRY_SECONDS * (0.5 + self.random.random()))
        return None

    async def change(
        self, effects: list[tuple[str, str, bool]], method: str, path: str, body: object = None, **how
    ) -> Change:
        """A change that is a state: doing it twice is doing it once."""
        earlier = [change for change in self.stage.history.changes if change.effects == effects]
        change = Change(self.stage.now, effects=effects)
        self.stage.history.changes.append(change)
        await self.settle(change, method, path, body, **how)
        # Also a try of the same change that was given up long ago may have been carried out since.
        is_tried_before = change.tries > 1 or any(other.unanswered for other in earlier)
        if change.outcome == REFUSED and is_tried_before and change.status in DONE_ALREADY:
            change.outcome = OK
        return change

    def close(self) -> None:
        for connection in self.connections:
            connection.close()


@dataclass
class World:
    """The spaces."""

    plaza: str = ""
    """A server whose population crosses the threshold."""
    hall: str = ""
    """A server that members leave and join again."""
    channel: str = ""
    """A public channel of the hall, some of whose members are blocked from time to time."""
    choir: str = ""
    """A group."""
    doors: list[str] = field(default_factory=list)
    """Servers that are joined and left for the sake of it."""
    threshold: int = 0


async def build(stage: Stage) -> World:
    stage.history.accounts = [*ACCOUNTS]
    owner = Person(stage, OWNER)

    async def make(path: str, body: object, key: str) -> str:
        answer = await owner.ask("POST", path, body, seconds=20)
        if answer.status >= 300:
            raise Failure(f"POST {path}: {answer.status} {answer.body.decode(errors='replace')}")
        return answer.json[key]

    async def change(effects, method: str, path: str, body: object = None, who: Person = owner) -> None:
        change = await who.change(effects, method, path, body)
        if change.outcome != OK:
            raise Failure(f"{method} {path}: {change.status}")

    async def server(name: str, members: list[str]) -> str:
        id = await make("/v1/servers", {"name": name}, "serverId")
        effects = [(account, f"member server:{id}", True) for account in (OWNER, *members)]
        await change(effects, "POST", f"/v1/servers/{id}/members", {"accids": members or [OWNER]})
        return id

    world = World()
    world.plaza = await server("plaza", ACCOUNTS[1:])
    world.hall = await server("hall", ACCOUNTS[1:9])
    world.doors = [await server(f"door {number}", []) for number in range(3)]
    path = f"/v1/servers/{world.hall}/channels"
    world.channel = await make(path, {"name": "stairs", "type": "public"}, "channelId")
    world.choir = await make("/v1/groups", {"name": "choir", "style": "publicOpen"}, "groupId")
    stage.history.changes.append(
        Change(stage.now, stage.now, OK, effects=[(OWNER, f"member group:{world.choir}", True)])
    )
    for account in ACCOUNTS[1:]:
        joiner = Person(stage, account)
        effects = [(account, f"member group:{world.choir}", True)]
        await change(effects, "POST", f"/v1/groups/{world.choir}/applications", {}, who=joiner)
        if account in ("a3", "a8"):
            effects = [(account, f"subscribed server:{world.plaza}", True)]
            await change(effects, "PUT", f"/v1/servers/{world.plaza}/subscription", who=joiner)
        joiner.close()
    owner.close()
    return world
