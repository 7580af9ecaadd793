"""Sends notifications, each until it is settled, and changes some of them afterwards."""

import asyncio
from collections import deque

from ..history import OK, REFUSED, UNKNOWN, Recall, Send, Update
from ..machinery.http import NoAnswer
from ..stage import Stage
from .people import ACCOUNTS, RETRY_SECONDS, Person, World

# Of what is sent, so much is sent again although it was acknowledged.
REPEATED = 0.1
# How often each kind is chosen.
KINDS = {"plaza": 5, "hall": 4, "channel": 3, "choir": 3, "one": 4, "several": 2, "named": 2}


class Producer:
    def __init__(self, stage: Stage, world: World, number: int, pause: float, kinds: dict[str, int] | None = None):
        self.stage, self.world, self.number, self.pause = stage, world, number, pause
        self.random = stage.random_of(f"producer {number}")
        self.kinds = kinds or KINDS
        self.count = 0
        self.people: dict[str, Person] = {}

    async def run(self) -> None:
        while not self.stage.is_over:
            await self.send_one(self.random.choices([*self.kinds], [*self.kinds.values()])[0])
            if self.random.random() < REPEATED:
                await self.repeat_one()
            await asyncio.sleep(self.pause * 2 * self.random.random())

    def person(self, account: str) -> Person:
        if account not in self.people:
            self.people[account] = Person(self.stage, account)
        return self.people[account]

    async def send_one(self, kind: str, to: tuple[str, ...] = (), sender: str = "") -> Send:
        random, world = self.random, self.world
        self.count += 1
        client_id = f"p{self.number}-{self.count}"
        sender = sender or random.choice(ACCOUNTS[:9])
        send = Send(self.stage.now, client_id=client_id, sender=sender, body=f"{client_id} v0")
        body = {"messageClientId": client_id, "body": send.body}
        if kind == "plaza":
            send.space, body["serverId"] = f"server:{world.plaza}", world.plaza
        elif kind == "hall":
            send.space, body["serverId"] = f"server:{world.hall}", world.hall
        elif kind == "channel":
            send.space = f"channel:{world.hall}/{world.channel}"
            body |= {"serverId": world.hall, "channelId": world.channel}
        elif kind == "choir":
            send.space, body["groupId"] = f"group:{world.choir}", world.choir
        elif kind == "named":
            # Members that never leave.
            send.space, body["serverId"] = f"server:{world.plaza}", world.plaza
            send.to = to or tuple(random.sample(ACCOUNTS, 3))
        else:
            send.space = "accounts"
            send.to = to or tuple(random.sample(ACCOUNTS, 1 if kind == "one" else 3))
        if send.to:
            body["toAccids"] = list(send.to)
        self.stage.history.sends.append(send)
        await self.settle(send, body, self.person(sender), trusted=random.random() < 0.6)
        return send

    async def settle(self, send: Send, body: dict, sender: Person, *, trusted: bool) -> None:
        """As Person.settle, but every answer is compared with the ones before it."""
        random = self.random
        while not (self.stage.is_over and send.tries > 40):
            send.tries += 1
            # Whoever tries again may do so from another device.
            device = random.choice(["phone", "desk"])
            try:
                answer = await sender.ask("POST", "/v1/notifications", body, trusted=trusted, device=device)
            except (NoAnswer, TimeoutError):
                answer = None
            if answer and answer.status < 300:
                id = answer.json["messageServerId"]
                if send.id and id != send.id:
                    send.other_ids.append(id)
                send.id = send.id or id
                send.ended, send.outcome, send.status = self.stage.now, OK, answer.status
                return
            if answer and answer.status < 500 and answer.status not in (408, 429):
                send.ended, send.outcome = self.stage.now, REFUSED
                send.status, send.code = answer.status, answer.code
                return
            if not answer or answer.status >= 500:
                send.unanswered.append(self.stage.now)
            await asyncio.sleep(RETRY_SECONDS * (0.5 + random.random()))
        send.outcome = UNKNOWN

    async def repeat_one(self) -> None:
        done = [send for send in self.stage.history.sends[-200:] if send.outcome == OK]
        if done:
            await self.repeat(self.random.choice(done))

    async def repeat(self, send: Send) -> None:
        """What was settled before, again, as a producer does that lost its notes: from another device, perhaps."""
        body = {"messageClientId": send.client_id, "body": send.body, "toAccids": list(send.to)}
        if send.space != "accounts":
            scene, _, name = send.space.partition(":")
            body |= {"groupId": name} if scene == "group" else {"serverId": name.split("/")[0]}
            if scene == "channel":
                body["channelId"] = name.split("/")[1]
        body = {key: value for key, value in body.items() if value}
        try:
            device = self.random.choice(["phone", "desk"])
            answer = await self.person(send.sender).ask("POST", "/v1/notifications", body, device=device)
        except (NoAnswer, TimeoutError):
            return
        if 400 <= answer.status < 500 and answer.status not in (408, 429):
            send.refused_again.append((self.stage.now, answer.status, answer.code))
        if answer.status < 300 and answer.json["messageServerId"] != send.id:
            send.other_ids.append(answer.json["messageServerId"])


class Updater:
    """Changes what was sent, one after the other."""

    def __init__(self, stage: Stage, pause: float):
        self.stage, self.pause = stage, pause
        self.random = stage.random_of("updater")
        self.versions: dict[str, int] = {}
        self.recent: deque[Send] = deque(maxlen=60)
        self.person = Person(stage, "")

    async def run(self) -> None:
        while not self.stage.is_over:
            await asyncio.sleep(self.pause * 2 * self.random.random())
            sends = [send for send in self.stage.history.sends[-80:] if send.outcome == OK]
            if sends:
                await self.update(self.random.choice(sends))

    async def update(self, send: Send) -> Update:
        version = self.versions[send.id] = self.versions.get(send.id, 0) + 1
        update = Update(self.stage.now, id=send.id, version=version)
        self.stage.history.updates.append(update)
        body = {"body": f"{send.client_id} v{version}"}
        await self.person.settle(update, "PATCH", f"/v1/notifications/{send.id}", body)
        return update


class Recaller:
    """Takes back some of what was sent."""

    def __init__(self, stage: Stage, pause: float):
        self.stage, self.pause = stage, pause
        self.random = stage.random_of("recaller")
        self.person = Person(stage, "")

    async def run(self) -> None:
        while not self.stage.is_over:
            await asyncio.sleep(self.pause * 2 * self.random.random())
            sends = [send for send in self.stage.history.sends[-80:] if send.outcome == OK]
            if sends:
                recall = Recall(self.stage.now, id=self.random.choice(sends).id)
                self.stage.history.recalls.append(recall)
                await self.person.settle(recall, "DELETE", f"/v1/notifications/{recall.id}")
