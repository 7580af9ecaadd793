"""Whom a broker reaches out to: a process of its own that answers whatever is posted to it, and counts it.

`/after/MILLISECONDS/…` is answered after that time, all else at once; the answer does for a callback, a webhook and a push
gateway. Of what is posted to `/noted` it keeps when the event came.
"""

import asyncio
import json
import sys
import time
import urllib.request

from .processes import Process, free_port
from .setting import Run

ANSWER = b'{"decision":"allow","rejected":[]}'


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
        """The requests that are answered."""
        return self._ask("state")["count"]

    @property
    def waiting(self) -> int:
        """The requests that wait for their answers."""
        return self._ask("state")["waiting"]

    def take_noted(self) -> dict[str, float]:
        """When the events came that were noted since the last time, by their ids and by `time.monotonic`."""
        return self._ask("noted")

    def let_go(self) -> None:
        """Answers all that wait."""
        self._ask("let-go")

    def _ask(self, what: str) -> dict:
        with urllib.request.urlopen(f"{self.url}/{what}", timeout=30) as answer:
            return json.load(answer)

    def _answers(self) -> bool:
        try:
            return self.count == 0
        except OSError:
            return False

    def wait_for(self, count: int) -> None:
        self.process.wait_until(lambda: self.count >= count, seconds=120)

    def stop(self) -> None:
        self.process.stop()


class Service:
    """The program of the process."""

    def __init__(self):
        self.count = self.waiting = 0
        self.noted: dict[str, float] = {}
        self.is_let_go = asyncio.Event()

    async def serve(self, port: int) -> None:
        server = await asyncio.start_server(self.answer, "127.0.0.1", port, backlog=1_024)
        await server.serve_forever()

    async def answer(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            while True:
                head = (await reader.readuntil(b"\r\n\r\n")).decode().lower()
                method, path, _ = head.split(" ", 2)
                if method == "post":
                    posted = await reader.readexactly(int(head.partition("content-length:")[2].split("\r\n")[0]))
                    body = await self.take(path, posted)
                else:
                    body = json.dumps(self.tell(path)).encode()
                kind = "Content-Type: application/json\r\n"
                writer.write(f"HTTP/1.1 200 OK\r\n{kind}Content-Length: {len(body)}\r\n\r\n".encode() + body)
        except (asyncio.IncompleteReadError, ConnectionError):
            writer.close()

    async def take(self, path: str, posted: bytes) -> bytes:
        if path.startswith("/after/"):
            await self.wait(float(path.split("/")[2]) / 1_000)
        elif path == "/noted":
            self.noted[json.loads(posted)["notification"]["event_id"]] = time.monotonic()
        self.count += 1
        return ANSWER

    async def wait(self, seconds: float) -> None:
        self.waiting += 1
        try:
            await asyncio.wait_for(self.is_let_go.wait(), seconds)
        except TimeoutError:
            pass
        finally:
            self.waiting -= 1

    def tell(self, path: str) -> dict:
        if path == "/noted":
            noted, self.noted = self.noted, {}
            return noted
        if path == "/let-go":
            self.is_let_go.set()
            self.is_let_go = asyncio.Event()
        return {"count": self.count, "waiting": self.waiting}


if __name__ == "__main__":
    asyncio.run(Service().serve(int(sys.argv[1])))
