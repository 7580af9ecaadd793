"""Greedy accounts, which ask as fast as they are answered."""

import asyncio
import itertools
import json

from . import read_answer, read_work, run_until_told

counts = {"answers": 0, "refused": 0}


def requests(token: str, server: str):
    """What one connection asks, over and over."""
    head = f"Host: x\r\nAuthorization: Bearer {token}\r\n"

    def post(path: str, body: str, form: str = "application/json") -> bytes:
        fields = f"Content-Type: {form}\r\nContent-Length: {len(body)}\r\n"
        return f"POST {path} HTTP/1.1\r\n{head}{fields}\r\n{body}".encode()

    for number in itertools.count():
        yield f"GET /v1/notifications?limit=500 HTTP/1.1\r\n{head}\r\n".encode()
        yield post("/v1/notifications", json.dumps({"serverId": server, "body": "x" * 200}))
        lines = "\n".join(json.dumps({"serverId": server, "body": "y"}) for _ in range(100))
        yield post("/v1/notifications/batch", lines, "application/x-ndjson")
        names = [f"nobody{number}.{at}" for at in range(20)]
        yield post(f"/v1/servers/{server}/invitations", json.dumps({"accids": names}))


async def ask(port: int, token: str, server: str) -> None:
    while True:
        try:
            reader, writer = await asyncio.open_connection("127.0.0.1", port, limit=1 << 24)
            for request in requests(token, server):
                writer.write(request)
                status, _ = await read_answer(reader)
                counts["answers"] += 1
                counts["refused"] += status == 429
        except (OSError, asyncio.IncompleteReadError):
            await asyncio.sleep(0.05)


async def main() -> None:
    work = read_work()
    connections = [token for token in work["tokens"] for _ in range(work["connections"])]
    await run_until_told(counts, *(ask(work["port"], token, work["server"]) for token in connections))


asyncio.run(main())
