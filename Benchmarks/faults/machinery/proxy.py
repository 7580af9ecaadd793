"""A TCP proxy that does to connections what networks do: cuts, waits, half-open ones, replies that are eaten."""

import asyncio
import contextlib
import socket
import struct
from typing import Callable

PIECE = 64 * 1024
Rewriting = Callable[[], "Rewriter"]


class Rewriter:
    """Changes what passes in one direction of one connection. As it is, it changes nothing."""

    def feed(self, piece: bytes) -> bytes:
        return piece


class Proxy:
    """Between whoever connects to `port` and `target`. How it behaves can be changed at any moment, and holds for the
    connections there are as for new ones."""

    def __init__(self, port: int, target: int):
        self.port = port
        self.target = target
        self.delay = 0.0
        # Half-open: connections stand, and nothing passes either way.
        self.is_stalled = False
        # What is asked arrives, what is answered does not.
        self.eats_replies = False
        # The next piece of an answer is passed on by half, and then the connection is cut.
        self.cuts_next_replies = 0
        # Who connects from one of these addresses is half-open.
        self.severed: frozenset[str] = frozenset()
        self._joined = asyncio.Event()
        self._joined.set()
        self.rewrite_up: Rewriting | None = None
        self.rewrite_down: Rewriting | None = None
        self._moving = asyncio.Event()
        self._moving.set()
        self._links: set[tuple[asyncio.StreamWriter, asyncio.StreamWriter]] = set()
        self._tasks: set[asyncio.Task] = set()
        self._server: asyncio.Server | None = None

    async def start(self) -> None:
        self._server = await asyncio.start_server(self._accept, "127.0.0.1", self.port, backlog=1_024)

    async def stop(self) -> None:
        if self._server:
            self._server.close()
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    def stall(self) -> None:
        self.is_stalled = True
        self._moving.clear()

    def sever(self, addresses: set[str]) -> None:
        self.severed = frozenset(addresses)
        self._joined.clear()

    def join(self) -> None:
        self.severed = frozenset()
        self._joined.set()

    def heal(self) -> None:
        self.delay, self.is_stalled, self.eats_replies, self.cuts_next_replies = 0.0, False, False, 0
        self._moving.set()

    def cut(self) -> int:
        """All connections, with a reset."""
        links = list(self._links)
        for link in links:
            self._abort(link)
        return len(links)

    def _abort(self, link: tuple[asyncio.StreamWriter, asyncio.StreamWriter]) -> None:
        self._links.discard(link)
        for writer in link:
            with contextlib.suppress(OSError):
                writer.get_extra_info("socket").setsockopt(
                    socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0)
                )
            writer.transport.abort()

    async def _accept(self, client: asyncio.StreamReader, to_client: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        self._tasks.add(task)
        link = None
        try:
            await self._moving.wait()
            peer = to_client.get_extra_info("peername")[0]
            if peer in self.severed:
                await self._joined.wait()
            server, to_server = await asyncio.open_connection("127.0.0.1", self.target)
            link = (to_client, to_server)
            self._links.add(link)
            up = asyncio.create_task(self._carry(client, to_server, link, peer, is_reply=False))
            down = asyncio.create_task(self._carry(server, to_client, link, peer, is_reply=True))
            try:
                await asyncio.wait((up, down), return_when=asyncio.FIRST_COMPLETED)
            finally:
                up.cancel()
                down.cancel()
                await asyncio.gather(up, down, return_exceptions=True)
        except (OSError, asyncio.CancelledError):
            pass
        finally:
            self._tasks.discard(task)
            if link:
                self._links.discard(link)
                link[1].transport.abort() if link[1].transport.is_closing() else link[1].close()
            to_client.close()

    async def _carry(self, reader, writer, link, peer: str, *, is_reply: bool) -> None:
        make = self.rewrite_down if is_reply else self.rewrite_up
        rewriter = make() if make else None
        try:
            while piece := await reader.read(PIECE):
                if self.delay:
                    await asyncio.sleep(self.delay)
                if self.is_stalled:
                    await self._moving.wait()
                if peer in self.severed:
                    await self._joined.wait()
                if is_reply and self.eats_replies:
                    continue
                if is_reply and self.cuts_next_replies > 0 and len(piece) > 1:
                    self.cuts_next_replies -= 1
                    writer.write(piece[: len(piece) // 2])
                    await writer.drain()
                    self._abort(link)
                    return
                if rewriter:
                    piece = rewriter.feed(piece)
                if piece:
                    writer.write(piece)
                    await writer.drain()
        except OSError:
            pass
