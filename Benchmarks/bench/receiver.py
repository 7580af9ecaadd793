"""Whom a broker reaches out to: a process of its own that answers whatever is posted to it, and counts it.

`/slow…` is answered after 50 ms, all else at once; the answer does for a callback, a webhook and a push gateway.
"""

import asyncio
import sys
import urllib.request

from .processes import Process, free_port
from .setting import Run

ANSWER = b'{"decision":"allow","rejected":[]}'
SLOW_SECONDS = 0.05


class Receiver:
    def __init__(self, run: Run):
        self.port = free_port()
        self.process = Process(
            "receiver",
            [sys.executable, "-m", "bench.receiver", str(self.port)],
            log=run.new_folder("receiver") / "log",
            cores={run.generator_core},
        )
        self.process.wait_until(self._answers)

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    @property
    def count(self) -> int:
        with urllib.request.urlopen(self.url, timeout=30) as answer:
            return int(answer.read())

    def _answers(self) -> bool:
        try:
            return self.count == 0
        except OSError:
            return False

    def wait_for(self, count: int) -> None:
        self.process.wait_until(lambda: self.count >= count, seconds=120)

    def stop(self) -> None:
        self.process.stop()


async def serve(port: int) -> None:
    count = 0

    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        nonlocal count
        try:
            while True:
                head = (await reader.readuntil(b"\r\n\r\n")).decode().lower()
                body = str(count).encode()
                if head.startswith("post"):
                    await reader.readexactly(int(head.partition("content-length:")[2].split("\r\n")[0]))
                    if head.startswith("post /slow"):
                        await asyncio.sleep(SLOW_SECONDS)
                    count += 1
                    body = ANSWER
                kind = "Content-Type: application/json\r\n"
                writer.write(f"HTTP/1.1 200 OK\r\n{kind}Content-Length: {len(body)}\r\n\r\n".encode() + body)
        except (asyncio.IncompleteReadError, ConnectionError):
            writer.close()

    server = await asyncio.start_server(answer, "127.0.0.1", port, backlog=1_024)
    await server.serve_forever()


if __name__ == "__main__":
    asyncio.run(serve(int(sys.argv[1])))
