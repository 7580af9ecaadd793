"""The Redis and the brokers under test, each with its system, each behind a proxy."""

import asyncio
import contextlib
import os
import signal
import socket
import urllib.request
from pathlib import Path
from typing import Callable

from bench.failure import Failure
from bench.processes import Process
from bench.redis import Client

from .appendonly import AppendOnlyFile, message_id
from .ports import held_port
from .preload import System
from .proxy import Proxy

CORES = os.sched_getaffinity(0)


class Server:
    """A process that is killed, stopped and started again."""

    def __init__(self, name: str, system: System, log: Path):
        self.name, self.system, self.log = name, system, log
        self.process: Process | None = None
        self.is_stopped = False

    def command(self) -> list[str]:
        raise NotImplementedError

    @property
    def environment(self) -> dict[str, str]:
        return {}

    def launch(self) -> None:
        self.process = Process(
            self.name,
            self.command(),
            log=self.log,
            cores=CORES,
            environment={**self.system.environment, **self.environment},
        )

    @property
    def is_up(self) -> bool:
        return self.process is not None and self.process.popen.poll() is None

    def signal(self, number: int) -> None:
        if self.is_up:
            self.process.popen.send_signal(number)

    def kill(self) -> None:
        self.signal(signal.SIGKILL)
        self.process.popen.wait()
        self.process.stop()
        self.is_stopped = False

    def pause(self) -> None:
        self.signal(signal.SIGSTOP)
        self.is_stopped = True

    def go_on(self) -> None:
        self.signal(signal.SIGCONT)
        self.is_stopped = False


async def wait_until(holds, seconds: float, what: str) -> None:
    loop = asyncio.get_running_loop()
    end = loop.time() + seconds
    while not await asyncio.to_thread(holds):
        if loop.time() > end:
            raise Failure(f"{what}: not within {seconds:.0f} s")
        await asyncio.sleep(0.05)


CONVERGING_SECONDS = 60


async def converge(find_obstacle: Callable[[], str], what: str) -> None:
    """Until there is no obstacle. A server that does not answer is one."""
    obstacle = ""

    def is_converged() -> bool:
        nonlocal obstacle
        try:
            obstacle = find_obstacle()
        except (OSError, Failure) as problem:
            obstacle = repr(problem)
        return not obstacle

    try:
        await wait_until(is_converged, CONVERGING_SECONDS, what)
    except Failure as failure:
        raise Failure(f"{failure}: {obstacle}") from failure


class RedisServer(Server):
    def __init__(self, folder: Path, system: System, *settings: Path):
        super().__init__("redis-server", system, folder / "redis.log")
        self.folder = folder
        self.port = held_port()
        (folder / "redis.conf").write_text("\n".join(file.read_text() for file in settings))
        self.file = AppendOnlyFile(folder)

    @property
    def servers(self) -> list[Server]:
        return [self]

    async def stop(self) -> None:
        """After it has ended."""

    # The file keeps each append, also of a notification that is removed when its one reader has read it.
    ids_include_read = True

    def ids(self) -> set[str]:
        """Of all notifications whose append it still has."""
        return self.file.ids()

    def ids_in_logs(self) -> set[str]:
        """The notifications that are in a log."""
        found, at = set(), b"0"
        while True:
            at, keys = self.call("SCAN", at, "MATCH", "belfry:{*}:log:*", "COUNT", 1_000)
            for key in keys:
                for id, _ in self.call("XRANGE", key, "-", "+", seconds=15):
                    found.add(message_id(*map(int, id.split(b"-"))))
            if at == b"0":
                return found

    def command(self) -> list[str]:
        return ["redis-server", str(self.folder / "redis.conf"), "--port", str(self.port)] + [
            *("--bind", "127.0.0.1", "--dir", str(self.folder), "--appendfsync", "everysec"),
        ]

    async def start(self) -> None:
        self.launch()
        await wait_until(self.answers, 30, "redis-server answers")

    def answers(self) -> bool:
        try:
            return self.call("PING") == b"PONG"
        except (OSError, Failure):
            return False

    def call(self, *words: str | bytes | int, seconds: float = 3):
        client = Client(port=self.port)
        client.socket.settimeout(seconds)
        try:
            return client.call(*words)
        finally:
            client.input.close()
            client.socket.close()

    def info(self, name: str) -> int:
        for line in self.call("INFO", "all").decode().splitlines():
            if line.startswith(name + ":"):
                return int(line.split(":")[1])
        raise Failure(f"INFO has no {name}")


class ReplicatedServer(RedisServer):
    """A node that may be a master or a replica."""

    def __init__(self, folder: Path, library: Path, settings: list[Path], *, needs_replica: bool):
        """Without a replica in step it refuses writes, if it needs one."""
        folder.mkdir()
        self.needs_replica = needs_replica
        super().__init__(folder, System(library, folder / "redis.told"), *settings)

    def command(self) -> list[str]:
        return super().command() + ["--min-replicas-to-write", str(int(self.needs_replica))]

    @property
    def is_answering(self) -> bool:
        return self.is_up and not self.is_stopped

    def is_master(self) -> bool:
        try:
            return self.call("ROLE")[0] == b"master"
        except ConnectionResetError:
            # A Sentinel closes the connections of a node whose role it changes.
            return False


class Broker(Server):
    """Clients reach it at `front.port`. It reaches one Redis through `back`. The nodes of a cluster, and Sentinels, say themselves
    where Redis is, so no proxy is between."""

    def __init__(
        self,
        number: int,
        belfry: Path,
        folder: Path,
        system: System,
        settings: dict[str, str],
        *,
        redis_port: int | None = None,
        redis_url: str = "",
    ):
        """The port is that of one Redis; otherwise the URL is given."""
        super().__init__(f"belfry-{number}", system, folder / f"belfry-{number}.log")
        self.number, self.belfry = number, belfry
        self.data = folder / f"data-{number}"
        self.port = held_port()
        self.front = Proxy(held_port(), self.port)
        self.back = Proxy(held_port(), redis_port) if redis_port else None
        self.redis_url = f"redis://127.0.0.1:{self.back.port}" if self.back else redis_url
        self.settings = settings

    def command(self) -> list[str]:
        return [str(self.belfry), "serve", "--listen", f"127.0.0.1:{self.port}", "--data", str(self.data)] + [
            *("--loops", "1", "--redis", self.redis_url),
        ]

    @property
    def proxies(self) -> list[Proxy]:
        return [self.front, self.back] if self.back else [self.front]

    @property
    def environment(self) -> dict[str, str]:
        return self.settings

    async def start(self) -> None:
        self.launch()
        await wait_until(self.listens, 30, f"{self.name} listens")

    def listens(self) -> bool:
        if not self.is_up:
            raise Failure(f"{self.name} ended; its log is {self.log}")
        with socket.socket() as one:
            return one.connect_ex(("127.0.0.1", self.port)) == 0

    def is_ready(self) -> bool:
        with contextlib.suppress(OSError):
            with urllib.request.urlopen(f"http://127.0.0.1:{self.port}/readyz", timeout=1) as answer:
                return answer.status == 200
        return False
