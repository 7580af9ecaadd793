"""An account that asks for pages and comes back to its stream, over and over."""

import asyncio

from . import read_answer, read_work, run_until_told

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
                status, _ = await read_answer(reader)
                counts["refused" if status == 429 else "pages"] += 1
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
    work = read_work()
    common = (work["port"], work["token"], work["cursor"])
    pages = [page(*common) for _ in range(work["pages"])]
    await run_until_told(counts, *pages, *(come_back(*common) for _ in range(work["streams"])))


asyncio.run(main())
