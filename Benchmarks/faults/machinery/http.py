"""As much of HTTP/1.1 as producers and consumers need, on asyncio."""

import asyncio
import json
from dataclasses import dataclass

LINE = 1 << 22


class NoAnswer(Exception):
    """Whether the request was carried out is not known."""


@dataclass
class Answer:
    status: int
    headers: dict[str, str]
    body: bytes = b""

    @property
    def json(self):
        return json.loads(self.body) if self.body else None

    @property
    def code(self) -> str:
        try:
            return self.json.get("code", "")
        except (ValueError, AttributeError):
            return ""


class Connection:
    """One connection to one broker, made when it is needed and made again after a failure."""

    def __init__(self, port: int):
        self.port = port
        # One request at a time: what somebody does beside others waits for its turn.
        self._turn = asyncio.Lock()
        self._reader: asyncio.StreamReader | None = None
        self._writer: asyncio.StreamWriter | None = None

    async def ask(
        self, method: str, path: str, token: str, body: object = None, *, headers=None, seconds: float = 5
    ) -> Answer:
        async with self._turn:
            return await self._ask(method, path, token, body, headers or {}, seconds)

    async def _ask(
        self, method: str, path: str, token: str, body: object, headers: dict[str, str], seconds: float
    ) -> Answer:
        try:
            async with asyncio.timeout(seconds):
                await self._send(method, path, token, body, headers)
                answer = await read_head(self._reader)
                answer.body = await self._read_body(answer)
        except (OSError, EOFError, ValueError, asyncio.LimitOverrunError) as problem:
            self.close()
            raise NoAnswer(type(problem).__name__) from problem
        except BaseException:
            self.close()
            raise
        if answer.headers.get("connection", "").lower() == "close":
            self.close()
        return answer

    async def open_stream(
        self, path: str, token: str, headers: dict[str, str], seconds: float = 5
    ) -> tuple[Answer, asyncio.StreamReader]:
        try:
            async with asyncio.timeout(seconds):
                await self._send("GET", path, token, None, headers)
                answer = await read_head(self._reader)
        except (OSError, EOFError, ValueError) as problem:
            self.close()
            raise NoAnswer(type(problem).__name__) from problem
        return answer, self._reader

    def close(self) -> None:
        if self._writer:
            self._writer.transport.abort()
        self._reader = self._writer = None

    async def _send(self, method: str, path: str, token: str, body: object, headers: dict[str, str]) -> None:
        if not self._writer or self._writer.is_closing() or self._reader.at_eof():
            self.close()
            self._reader, self._writer = await asyncio.open_connection("127.0.0.1", self.port, limit=LINE)
        payload = b"" if body is None else json.dumps(body).encode()
        lines = [f"{method} {path} HTTP/1.1", "Host: belfry", f"Authorization: Bearer {token}"]
        lines += [f"{name}: {value}" for name, value in headers.items()]
        if body is not None:
            lines.append("Content-Type: application/json")
        if body is not None or method != "GET":
            lines.append(f"Content-Length: {len(payload)}")
        self._writer.write("\r\n".join(lines).encode() + b"\r\n\r\n" + payload)
        await self._writer.drain()

    async def _read_body(self, answer: Answer) -> bytes:
        if answer.headers.get("transfer-encoding", "").lower() == "chunked":
            pieces = []
            while piece := await read_chunk(self._reader):
                pieces.append(piece)
            return b"".join(pieces)
        length = int(answer.headers.get("content-length", "0"))
        return await self._reader.readexactly(length) if length else b""


async def read_head(reader: asyncio.StreamReader) -> Answer:
    head = await reader.readuntil(b"\r\n\r\n")
    lines = head.decode("latin-1").split("\r\n")
    headers = {}
    for line in lines[1:]:
        name, _, value = line.partition(":")
        if name:
            headers[name.lower()] = value.strip()
    return Answer(int(lines[0].split()[1]), headers)


async def read_chunk(reader: asyncio.StreamReader) -> bytes:
    """Empty at the end."""
    size = int((await reader.readuntil(b"\r\n")).split(b";")[0], 16)
    piece = await reader.readexactly(size)
    await reader.readexactly(2)
    return piece


@dataclass
class Event:
    name: str
    data: str
    id: str | None


class Events:
    """Server-Sent Events out of a stream's body. An event that was not received whole is none."""

    def __init__(self, answer: Answer, reader: asyncio.StreamReader):
        self._is_chunked = answer.headers.get("transfer-encoding", "").lower() == "chunked"
        self._reader = reader
        self._rest = b""

    async def next(self) -> list[Event]:
        """What has arrived; empty for a sign of life alone. EOFError at the end."""
        piece = await (read_chunk(self._reader) if self._is_chunked else self._reader.read(LINE))
        if not piece:
            raise EOFError
        *whole, self._rest = (self._rest + piece).split(b"\n\n")
        return [event for event in map(parse_event, whole) if event]


def parse_event(text: bytes) -> Event | None:
    name, data, id = "message", [], None
    for line in text.decode().split("\n"):
        field, _, value = line.partition(":")
        value = value.removeprefix(" ")
        if field == "event":
            name = value
        elif field == "data":
            data.append(value)
        elif field == "id":
            id = value
    return Event(name, "\n".join(data), id) if data else None
