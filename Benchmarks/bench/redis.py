"""A redis-server, and as much of a client as setting up and looking takes."""

import socket
from pathlib import Path

from . import machine
from .failure import Failure
from .processes import Process, free_port
from .setting import Run

Argument = str | bytes | int


def command(*words: Argument) -> bytes:
    parts = [b"*%d\r\n" % len(words)]
    for word in words:
        raw = word if isinstance(word, bytes) else str(word).encode()
        parts.append(b"$%d\r\n%s\r\n" % (len(raw), raw))
    return b"".join(parts)


class Client:
    def __init__(self, *, port: int | None = None, path: Path | None = None):
        self.socket = socket.socket(socket.AF_UNIX if path else socket.AF_INET)
        self.socket.connect(str(path) if path else ("127.0.0.1", port))
        self.input = self.socket.makefile("rb")

    def call(self, *words: Argument):
        self.socket.sendall(command(*words))
        return self.reply()

    def reply(self):
        line = self.input.readline()
        if not line:
            raise Failure("Redis closed the connection")
        kind, rest = line[:1], line[1:-2]
        if kind == b"-":
            raise Failure(f"Redis refuses: {rest.decode()}")
        if kind == b":":
            return int(rest)
        if kind == b"$":
            length = int(rest)
            return None if length < 0 else self.input.read(length + 2)[:-2]
        if kind == b"*":
            return [self.reply() for _ in range(int(rest))]
        return rest

    def many(self, commands: list[bytes], at_once: int = 1_000) -> None:
        """Pipelined, for setting up. The replies are checked for errors only."""
        for start in range(0, len(commands), at_once):
            part = commands[start : start + at_once]
            self.socket.sendall(b"".join(part))
            for _ in part:
                self.reply()

    def info(self, name: str) -> int:
        for line in self.call("INFO", "all").decode().splitlines():
            if line.startswith(name + ":"):
                return int(line.split(":")[1])
        raise Failure(f"INFO has no {name}")


class Redis:
    """A plain redis-server beside Belfry's own."""

    DURABLE = ["--appendonly", "yes", "--appendfsync", "everysec"]

    def __init__(self, run: Run, *options: str):
        self.port = free_port()
        folder = run.new_folder("redis")
        self.process = Process(
            "redis-server",
            [machine.program("redis-server"), "--port", str(self.port), "--bind", "127.0.0.1"]
            + ["--dir", str(folder), "--save", "", *options],
            log=folder / "log",
            cores={run.server_core},
        )
        self.process.wait_for_port(self.port)
        self.client = Client(port=self.port)

    @property
    def processes(self) -> list[int]:
        return [self.process.id]

    def stop(self) -> None:
        self.process.stop()
