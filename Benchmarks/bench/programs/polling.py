"""Accounts that wait for notifications by long polls. Meanwhile an application sends what none of them may see.

In the end it sends one that all of them see. Each poll has to be answered then, so all of them have waited."""

import asyncio
import json

from .. import words
from ..failure import Failure
from . import read_answer, read_work, run_until_told
from .sending import send

counts = {"early": 0, "answered": 0, "posted": 0, "refused": 0}
WAIT_SECONDS = 60
AT_ONCE = 20
SECONDS_UNTIL_ANSWERED = 30


class Poll:
    def __init__(self, port: int, token: str):
        self.port, self.token = port, token

    async def begin(self, turn: asyncio.Semaphore) -> None:
        """Reads what there is, so that the poll has to wait for the next."""
        async with turn:
            self.reader, self.writer = await asyncio.open_connection("127.0.0.1", self.port, limit=1 << 24)
            page = await self._ask("limit=500")
            while page["notifications"]:
                page = await self._ask(f"limit=500&after={page['cursor']}")
            self.cursor = page["cursor"]

    async def wait(self) -> None:
        while True:
            page = await self._ask(f"wait={WAIT_SECONDS}&after={self.cursor}")
            self.cursor = page["cursor"]
            counts["answered"] += 1

    async def _ask(self, question: str) -> dict:
        self.writer.write(words.http("GET", f"/v1/notifications?{question}", self.token).encode())
        status, body = await read_answer(self.reader)
        if status != 200:
            raise Failure(f"a poll was refused: {status} {body.decode()}")
        return json.loads(body)


async def answer_all(port: int, token: str, body: str, count: int) -> None:
    counts["early"] = counts["answered"]
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    writer.write(words.http("POST", "/v1/notifications", token, body).encode())
    await read_answer(reader)
    async with asyncio.timeout(SECONDS_UNTIL_ANSWERED):
        while counts["answered"] - counts["early"] < count:
            await asyncio.sleep(0.05)


async def main() -> None:
    work = read_work()
    polls = [Poll(work["port"], token) for token in work["tokens"]]
    turn = asyncio.Semaphore(AT_ONCE)
    await asyncio.gather(*(poll.begin(turn) for poll in polls))
    sending = send(work["port"], work["token"], work["bodies"], work["perSecond"], counts)

    async def finish() -> None:
        await answer_all(work["port"], work["token"], work["seen"], len(polls))

    await run_until_told(counts, *(poll.wait() for poll in polls), sending, finish=finish)


asyncio.run(main())
