"""A master and its replica that three Sentinels watch: what is done to them, and when all is well with them."""

import asyncio
import contextlib
from pathlib import Path

from bench.failure import Failure

from ..machinery.preload import System
from ..machinery.servers import RedisServer, ReplicatedServer, converge, wait_until

NAME = "belfry"
SENTINELS = 3
QUORUM = 2
DOWN_AFTER_SECONDS = 2.0
FAILOVER_SECONDS = 6.0
# The Sentinels refuse a failover for a while after the last one.
REPEATED_AFTER_SECONDS = 1.0


class Node(ReplicatedServer):
    def __init__(self, number: int, folder: Path, library: Path, settings: list[Path], *, needs_replica: bool):
        super().__init__(folder, library, settings, needs_replica=needs_replica)
        self.name = f"redis-{number}"


class Sentinel(RedisServer):
    def __init__(self, number: int, folder: Path, library: Path):
        folder.mkdir()
        super().__init__(folder, System(library, folder / "redis.told"))
        self.name = f"sentinel-{number}"

    def watch(self, master: Node) -> None:
        lines = [
            f"sentinel monitor {NAME} 127.0.0.1 {master.port} {QUORUM}",
            f"sentinel down-after-milliseconds {NAME} {int(DOWN_AFTER_SECONDS * 1_000)}",
            f"sentinel failover-timeout {NAME} {int(FAILOVER_SECONDS * 1_000)}",
        ]
        (self.folder / "redis.conf").write_text("\n".join(lines) + "\n")

    def command(self) -> list[str]:
        return ["redis-server", str(self.folder / "redis.conf"), "--sentinel", "--port", str(self.port)] + [
            *("--bind", "127.0.0.1", "--dir", str(self.folder)),
        ]

    def master_port(self) -> int:
        return int(self.call("SENTINEL", "GET-MASTER-ADDR-BY-NAME", NAME)[1])

    def facts(self) -> dict[bytes, bytes]:
        words = self.call("SENTINEL", "MASTER", NAME)
        return dict(zip(words[::2], words[1::2]))


class RedisSentinels:
    def __init__(self, folder: Path, library: Path, settings: list[Path], *, needs_replicas: bool):
        self.nodes = [
            Node(number, folder / f"redis-{number}", library, settings, needs_replica=needs_replicas)
            for number in (1, 2)
        ]
        self.sentinels = [
            Sentinel(number, folder / f"sentinel-{number}", library) for number in range(1, SENTINELS + 1)
        ]

    @property
    def servers(self) -> list[RedisServer]:
        return [*self.nodes, *self.sentinels]

    @property
    def url(self) -> str:
        hosts = ",".join(f"127.0.0.1:{sentinel.port}" for sentinel in self.sentinels)
        return f"redis+sentinel://{hosts}/{NAME}"

    async def start(self) -> None:
        master, replica = self.nodes
        await asyncio.gather(master.start(), replica.start())
        # Not in its command: after a failover, its file says what it is.
        await asyncio.to_thread(replica.call, "REPLICAOF", "127.0.0.1", master.port)
        for sentinel in self.sentinels:
            sentinel.watch(master)
        await asyncio.gather(*(sentinel.start() for sentinel in self.sentinels))
        await self.converge()

    async def stop(self) -> None:
        """After the servers have ended."""

    def master(self) -> Node:
        """Called while all is well."""
        return next(node for node in self.nodes if node.is_answering and node.is_master())

    def replica(self) -> Node:
        """Called while all is well."""
        master = self.master()
        return next(node for node in self.nodes if node is not master)

    # --- Agreeing -----------------------------------------------------------------------------------------

    async def converge(self) -> None:
        """Until all nodes and Sentinels answer and agree, and the replica is in step."""
        await converge(self.obstacle, "the Sentinels agree")

    def obstacle(self) -> str:
        masters = [node for node in self.nodes if node.is_master()]
        if len(masters) != 1:
            return f"{len(masters)} nodes are masters"
        for sentinel in self.sentinels:
            facts = sentinel.facts()
            if sentinel.master_port() != masters[0].port or facts[b"flags"] != b"master":
                return f"{sentinel.name} does not see {masters[0].name} as the master"
            if facts[b"num-slaves"] != b"1" or facts[b"num-other-sentinels"] != str(SENTINELS - 1).encode():
                return f"{sentinel.name} does not know all others"
        if b"state=online" not in masters[0].call("INFO", "replication"):
            return f"{masters[0].name} has no replica in step"
        return ""

    # --- Changing roles -----------------------------------------------------------------------------------

    async def fail_over(self, replica: Node) -> None:
        """Until the replica is master."""
        loop, asked = asyncio.get_running_loop(), 0.0

        def is_done() -> bool:
            nonlocal asked
            if replica.is_master():
                return True
            if loop.time() > asked + REPEATED_AFTER_SECONDS:
                with contextlib.suppress(Failure):
                    self.sentinels[0].call("SENTINEL", "FAILOVER", NAME)
                asked = loop.time()
            return False

        await wait_until(is_done, 40, f"{replica.name} is master")

    async def taken_over(self, replica: Node) -> None:
        await wait_until(replica.is_master, 40, f"{replica.name} is master by itself")

    # --- Looking ------------------------------------------------------------------------------------------

    ids_include_read = False

    def ids(self) -> set[str]:
        """The notifications that are in a log."""
        return self.master().ids_in_logs()
