"""Where a scene plays: a Redis or a cluster of them, brokers, the proxies before them, and what is written down of it."""

import asyncio
import signal
import time
from pathlib import Path
from random import Random

from bench import processes

from .cluster.servers import RedisCluster
from .history import FOREVER, Fault, History
from .machinery.preload import System
from .machinery.servers import Broker, RedisServer, wait_until
from .sentinel.servers import RedisSentinels

SECRET = "faults-faults-faults-faults-faults-faults"
THRESHOLD = 16
# Beyond this the machine itself stood still, which no broker can help.
OWN_LAG_SECONDS = 0.7


def random_of(seed: int, actor: str) -> Random:
    """Each actor draws for itself: drawing from one source, they would draw in the order in which the machine serves them."""
    return Random(f"{seed} {actor}")


class Stage:
    def __init__(
        self,
        folder: Path,
        belfry: Path,
        library: Path,
        settings: list[Path],
        seed: int,
        *,
        brokers: int = 3,
        masters: int | None = None,
        has_sentinels: bool = False,
        is_replicated: bool = False,
        entries_per_space: int | None = None,
    ):
        """On a cluster of so many masters, on a master that Sentinels watch, or on one Redis. Replicated is what is acknowledged when a replica has it."""
        folder.mkdir(parents=True, exist_ok=True)
        self.folder = folder
        self.is_replicated = is_replicated
        self.seed = seed
        self.history = History(threshold=THRESHOLD, entries_per_space=entries_per_space)
        if masters:
            self.redis = RedisCluster(folder, library, settings, masters, needs_replicas=is_replicated)
            ways = [{"redis_url": f"redis://127.0.0.1:{self.redis.port_for(number)}"} for number in range(brokers)]
        elif has_sentinels:
            self.redis = RedisSentinels(folder, library, settings, needs_replicas=is_replicated)
            ways = [{"redis_url": self.redis.url}] * brokers
        else:
            self.redis = RedisServer(folder, System(library, folder / "redis.told"), *settings)
            ways = [{"redis_port": self.redis.port}] * brokers
        environment = {
            "BELFRY_SECRET": SECRET,
            "BELFRY_LIMITS_SUBSCRIPTION_THRESHOLD": str(THRESHOLD),
            "BELFRY_LIMITS_SENDS_PER_SECOND_PER_ACCOUNT": "100000",
            "BELFRY_LIMITS_READS_PER_SECOND_PER_ACCOUNT": "100000",
        }
        if is_replicated:
            environment["BELFRY_DURABILITY"] = "replicated"
        if entries_per_space:
            environment["BELFRY_LIMITS_ENTRIES_PER_SPACE"] = str(entries_per_space)
        self.environment = environment
        self.brokers = [
            Broker(number, belfry, folder, System(library, folder / f"belfry-{number}.told"), environment, **way)
            for number, way in enumerate(ways, 1)
        ]
        self.is_over = False
        self._lag_task: asyncio.Task | None = None

    @property
    def now(self) -> float:
        return time.monotonic()

    def random_of(self, actor: str) -> Random:
        """A source of its own for the actor, which the scene's seed and the actor's name decide."""
        return random_of(self.seed, actor)

    async def start(self) -> None:
        await self.redis.start()
        for broker in self.brokers:
            for proxy in broker.proxies:
                await proxy.start()
        await asyncio.gather(*(broker.start() for broker in self.brokers))
        for broker in self.brokers:
            await wait_until(broker.is_ready, 30, f"{broker.name} is ready")
        self._lag_task = asyncio.create_task(self._watch_own_lag())

    async def stop(self) -> None:
        self.is_over = True
        if self._lag_task:
            self._lag_task.cancel()
        for server in [*self.brokers, *self.redis.servers]:
            if server.process:
                server.signal(signal.SIGCONT)
                server.kill()
        for broker in self.brokers:
            for proxy in broker.proxies:
                await proxy.stop()
        await self.redis.stop()
        processes.stop_all()

    def begin_fault(self, kind: str, detail: str = "", **more) -> Fault:
        fault = Fault(kind, self.now, FOREVER, detail, **more)
        self.history.faults.append(fault)
        return fault

    def end_fault(self, fault: Fault) -> None:
        fault.ended = self.now

    async def _watch_own_lag(self) -> None:
        """Where this program was not served by the machine, the servers were not either."""
        while True:
            before = self.now
            await asyncio.sleep(0.1)
            lag = self.now - before - 0.1
            if lag > OWN_LAG_SECONDS:
                fault = Fault("the machine stood still", before, self.now, f"{lag:.1f} s")
                self.history.faults.append(fault)
