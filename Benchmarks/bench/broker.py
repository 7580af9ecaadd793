"""Belfry as it is delivered: `belfry serve`, its own embedded Redis, and the HTTP interface for setting up."""

import ssl
import urllib.request
from pathlib import Path

from . import machine
from .cluster import Nodes
from .interface import Interface
from .processes import Process, free_port
from .redis import Client
from .setting import Run


class Broker(Interface):
    def __init__(
        self,
        run: Run,
        *,
        loops: int = 1,
        cores: set[int] | None = None,
        limits: dict[str, int] | None = None,
        partitions: int | None = None,
        beside: "Broker | None" = None,
        nodes: Nodes | None = None,
        executable: Path | None = None,
        environment: dict[str, str] | None = None,
        tls: ssl.SSLContext | None = None,
    ):
        """`beside`: a second broker on the Redis of the first; `nodes`: on these. `tls`: by which it is spoken to."""
        self.run = run
        port = free_port()
        self.data = run.new_folder("belfry")
        environment = {
            **(environment or {}),
            "BELFRY_LOOPS": str(loops),
            "BELFRY_LIMITS_SENDS_PER_SECOND_PER_ACCOUNT": "1000000",
            "BELFRY_LIMITS_READS_PER_SECOND_PER_ACCOUNT": "1000000",
            **{f"BELFRY_LIMITS_{name}": str(value) for name, value in (limits or {}).items()},
        }
        if partitions:
            environment["BELFRY_PARTITIONS"] = str(partitions)
        if beside:
            environment["BELFRY_REDIS"] = f"unix://{beside.redis_path}"
            environment["BELFRY_SECRET_FILE"] = str(beside.data / "secret")
        if nodes:
            environment["BELFRY_REDIS"] = nodes.url
        self.process = Process(
            "belfry",
            [str(executable or run.belfry), "serve", "--listen", f"127.0.0.1:{port}", "--data", str(self.data)],
            log=self.data / "log",
            cores=cores or {run.server_core},
            environment=environment,
        )
        self.process.wait_until(lambda: is_ready(port, tls))
        super().__init__(port, (beside or self).data / "secret", tls)
        self.redis_processes = nodes.processes if nodes else [] if beside else machine.children(self.process.id)
        if not nodes:
            self.redis_path = beside.redis_path if beside else self._find_socket()
            self.redis = Client(path=self.redis_path)

    @property
    def processes(self) -> list[int]:
        """All that serve: the broker and its Redis."""
        return [self.process.id, *self.redis_processes]

    def stop(self) -> None:
        self.process.stop()

    def _find_socket(self) -> Path:
        inside = self.data / "redis" / "redis.sock"
        if inside.exists():
            return inside
        # Where the path is too long for a socket's address, Redis was told another.
        words = Path(f"/proc/{self.redis_processes[0]}/cmdline").read_bytes().split(b"\0")
        return Path(words[words.index(b"--unixsocket") + 1].decode())


def is_ready(port: int, tls: ssl.SSLContext | None = None) -> bool:
    url = f"{'https' if tls else 'http'}://127.0.0.1:{port}/readyz"
    try:
        with urllib.request.urlopen(url, timeout=5, context=tls) as answer:
            return answer.status == 200
    except OSError:
        return False
