"""Between the nodes of a cluster, and between brokers and nodes: proxies that can part one node from the others.

They run on a thread of their own, so that nothing else that this program does can look like a node that is silent.
"""

import asyncio
import threading
from typing import Callable

from ..machinery.ports import held_port
from ..machinery.proxy import Proxy

# Of brokers, and of this program.
OTHERS = "127.0.0.1"


class Ways:
    """To one node: by which clients and replicas reach it, and by which the other nodes do."""

    def __init__(self, number: int, port: int, bus_port: int):
        # Where the node's own connections come from.
        self.address = f"127.0.0.{10 + number}"
        self.front = Proxy(held_port(), port)
        self.bus = Proxy(held_port(), bus_port)

    @property
    def options(self) -> list[str]:
        """By which the node says that it is reached here."""
        return [
            *("--bind-source-addr", self.address, "--cluster-announce-ip", OTHERS),
            *("--cluster-announce-port", str(self.front.port), "--cluster-announce-bus-port", str(self.bus.port)),
        ]


class Network:
    def __init__(self):
        self.ways: list[Ways] = []
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, daemon=True)

    async def start(self) -> None:
        self._thread.start()
        for proxy in self._proxies():
            await self._run(proxy.start())

    async def stop(self) -> None:
        for proxy in self._proxies():
            await self._run(proxy.stop())
        self._loop.call_soon_threadsafe(self._loop.stop)
        await asyncio.to_thread(self._thread.join)

    async def part(self, one: Ways, *, also_from_brokers: bool) -> None:
        """Nothing passes between this node and the others, either way."""
        rest = {ways.address for ways in self.ways if ways is not one}
        for ways in self.ways:
            severed = rest | ({OTHERS} if also_from_brokers else set()) if ways is one else {one.address}
            for proxy in (ways.front, ways.bus):
                await self._do(proxy.sever, severed)

    async def join(self) -> None:
        """All is as before; what was held up arrives."""
        for proxy in self._proxies():
            await self._do(proxy.join)

    def _proxies(self) -> list[Proxy]:
        return [proxy for ways in self.ways for proxy in (ways.front, ways.bus)]

    async def _do(self, what: Callable, *arguments) -> None:
        async def there() -> None:
            what(*arguments)

        await self._run(there())

    async def _run(self, coroutine) -> None:
        await asyncio.wrap_future(asyncio.run_coroutine_threadsafe(coroutine, self._loop))
