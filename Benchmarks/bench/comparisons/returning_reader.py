"""An account that pages and comes back, as a process of its own: over and over until it is told to end, then says how often."""

import asyncio
import json
import signal
import sys

counts = {"pages": 0, "refused": 0, "streams": 0}
SECONDS_BETWEEN_STREAMS = 0.2


def request(path: str, token: str, *fields: str) -> bytes:
    lines = [f"GET {path} HTTP/1.1", "Host: x", f"Authorization: Bearer {token}", *fields]
    return ("\r\n".join(lines) + "\r\n\r\n").encode()


async def page(port: int, token: str, cursor: str) -> None:
    while True:
        try:
            reader, writer = await asyncio.open_connection("127.0.0.1", port, limit=1 << 24)
            while True:
                writer.write(request(f"/v1/notifications?limit=500&after={cursor}", token))
                head = (await reader.readuntil(b"\r\n\r\n")).decode().lower()
                length = int(head.partition("content-length:")[2].split("\r\n")[0] or 0)
                await reader.readexactly(length)
                counts["refused" if " 429 " in head.split("\r\n")[0] + " " else "pages"] += 1
        except (OSError, asyncio.IncompleteReadError):
            await asyncio.sleep(0.05)


async def come_back(port: int, token: str, cursor: str) -> None:
    """Opens a stream, takes what it is sent for a moment, and leaves."""
    while True:
        try:
            reader, writer = await asyncio.open_connection("127.0.0.1", port, limit=1 << 24)
            writer.write(request("/v1/notifications/stream", token, f"Last-Event-ID: {cursor}"))
            try:
                async with asyncio.timeout(SECONDS_BETWEEN_STREAMS):
                    while await reader.read(1 << 20):
                        pass
            except TimeoutError:
                counts["streams"] += 1
            writer.close()
        except OSError:
            await asyncio.sleep(0.05)


async def main() -> None:
    work = json.loads(sys.argv[1])
    common = (work["port"], work["token"], work["cursor"])
    tasks = [asyncio.create_task(page(*common)) for _ in range(work["pages"])]
    tasks += [asyncio.create_task(come_back(*common)) for _ in range(work["streams"])]
    ended = asyncio.Event()
    asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, ended.set)
    await ended.wait()
    for task in tasks:
        task.cancel()
    print(json.dumps(counts))


asyncio.run(main())
