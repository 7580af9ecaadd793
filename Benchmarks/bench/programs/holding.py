"""Accounts that begin long batches and never send the rest."""

import asyncio

from . import read_work, run_until_told

counts = {"held": 0, "refused": 0}


class Batch:
    def __init__(self, port: int, token: str, announced_bytes: int, sent_bytes: int):
        self.port, self.token = port, token
        self.announced_bytes, self.sent_bytes = announced_bytes, sent_bytes

    async def begin(self) -> None:
        self.reader, writer = await asyncio.open_connection("127.0.0.1", self.port)
        head = (
            f"POST /v1/notifications/batch HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer {self.token}\r\n"
            f"Content-Type: application/x-ndjson\r\nContent-Length: {self.announced_bytes}\r\n\r\n"
        )
        # Kept, or the connection would be closed.
        self.writer = writer
        writer.write(head.encode() + b" " * self.sent_bytes)
        try:
            await writer.drain()
        except OSError:
            pass
        counts["held"] += 1

    async def stay(self) -> None:
        """The broker answers only to refuse."""
        try:
            await self.reader.read(1)
        except OSError:
            pass
        counts["held"] -= 1
        counts["refused"] += 1


async def main() -> None:
    work = read_work()
    batches = [
        Batch(work["port"], token, work["announcedBytes"], work["sentBytes"])
        for token in work["tokens"]
        for _ in range(work["batches"])
    ]
    await asyncio.gather(*(batch.begin() for batch in batches))
    await run_until_told(counts, *(batch.stay() for batch in batches))


asyncio.run(main())
