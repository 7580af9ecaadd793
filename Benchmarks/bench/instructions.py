"""Counts the instructions of the broker, or of its Redis, for one operation, by valgrind's callgrind.

Seconds wander with the machine, instructions hardly do, so this is what to look at before and after a change, and what
a check compares with what is written down. What the counted one does by itself meanwhile is counted too: on a busy
machine, where everything takes longer, that is more. System calls count as one instruction, and the other one runs
beside, as it is.
"""

import argparse
import json
import os
import shutil
import socket
import subprocess
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Callable

from .broker import is_ready
from .interface import Interface
from .processes import Process, free_port
from .redis import Client

CONSUMERS = 200
SERVERS = 100
PER_SERVER = 10
PAGE = 500
MARKS = 100
PAYLOAD = "x" * 200


# What a broker asks by itself now and then, and what operations ask besides: how often says more of the time that passes.
UPKEEP = {"time", "ping", "info", "exists", "xlen", "hgetall", "zrange", "config|resetstat"}


class CountedBroker(Interface):
    """A broker and its Redis, one of them under callgrind, which counts only while it is told to."""

    def __init__(self, belfry: Path, folder: Path, output: Path, of_redis: bool = False):
        self.output = output
        port, redis_socket = free_port(), folder / "redis.sock"
        everywhere = os.sched_getaffinity(0)
        callgrind = ["valgrind", "--tool=callgrind", "--instr-atstart=no", f"--callgrind-out-file={output}"]
        # A Redis of its own: callgrind knows no pidfd_open, which the broker watches an embedded one with.
        self.redis = Process(
            "redis-server",
            [*(callgrind if of_redis else []), "redis-server", "--port", "0", "--unixsocket", str(redis_socket)]
            + ["--save", "", "--appendonly", "yes", "--appendfsync", "no", "--hz", "1", "--dir", str(folder)],
            log=folder / "redis-log",
            cores=everywhere,
        )
        self.redis.wait_until(redis_socket.exists)
        self.process = Process(
            "belfry",
            [*([] if of_redis else callgrind), str(belfry), "serve", "--listen", f"127.0.0.1:{port}", "--data", str(folder / "data")],
            log=folder / "log",
            cores=everywhere,
            environment={
                "BELFRY_LOOPS": "1",
                "BELFRY_REDIS": f"unix://{redis_socket}",
                "BELFRY_LIMITS_SENDS_PER_SECOND_PER_ACCOUNT": "1000000",
                "BELFRY_LIMITS_READS_PER_SECOND_PER_ACCOUNT": "1000000",
                # A send looks into the window before as well, which there is or not by the hour.
                "BELFRY_LIMITS_DEDUPE_WINDOW_MILLISECONDS": "604800000",
            },
        )
        self.process.wait_until(lambda: is_ready(port), seconds=120)
        super().__init__(port, folder / "data" / "secret")
        self.counted_process = self.redis if of_redis else self.process
        self.client = Client(path=redis_socket)
        self.commands: dict[str, int] = {}
        self.sends = 0

    def stop(self) -> None:
        self.process.stop()
        self.redis.stop()

    def notification(self, server: str) -> dict:
        self.sends += 1
        return {"serverId": server, "messageClientId": f"id{self.sends}", "body": PAYLOAD}

    def send(self, server: str, count: int) -> None:
        for _ in range(count):
            self.call("POST", "/v1/notifications", self.notification(server))

    def send_batches(self, server: str, count: int, size: int = 100) -> None:
        for _ in range(0, count, size):
            lines = "\n".join(json.dumps(self.notification(server)) for _ in range(size))
            self.call("POST", "/v1/notifications/batch", lines.encode())

    def open_stream(self, token: str) -> socket.socket:
        stream = socket.create_connection(("127.0.0.1", self.port))
        head = f"GET /v1/notifications/stream HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer {token}\r\n\r\n"
        stream.sendall(head.encode())
        stream.recv(100)
        return stream

    def counting(self, work: Callable[[], None]) -> None:
        before = self._calls()
        self._control("--instr=on")
        work()
        time.sleep(0.5)
        self._control("--instr=off")
        self._control("--dump")
        after = self._calls()
        self.commands = {name: after[name] - before.get(name, 0) for name in after if name not in UPKEEP}

    def _control(self, word: str) -> None:
        command = ["callgrind_control", word, str(self.counted_process.id)]
        subprocess.run(command, check=True, capture_output=True)

    def _calls(self) -> dict[str, int]:
        """How often Redis was asked what, by functions and by itself."""
        calls = {}
        for line in self.client.call("INFO", "commandstats").decode().splitlines():
            if line.startswith("cmdstat_"):
                name, numbers = line.removeprefix("cmdstat_").split(":")
                calls[name] = int(numbers.split(",")[0].removeprefix("calls="))
        return calls

    def counted(self) -> int:
        """Of the dump that was asked for; the one at the end has less."""
        totals = [0]
        for dump in self.output.parent.glob(self.output.name + "*"):
            for line in dump.read_text(errors="replace").splitlines():
                if line.startswith(("summary:", "totals:")):
                    totals.append(int(line.split()[1]))
        return max(totals)


def crowd(size: int) -> list[str]:
    return ["owner", *(f"m{number}" for number in range(size))]


# --- Each does its work once uncounted, once counted, and gives how often ----------------------------------


def sends(broker: CountedBroker) -> int:
    server = broker.new_server(crowd(10))
    broker.send_batches(server, 600)
    broker.send(server, 50)
    broker.counting(lambda: broker.send(server, 500))
    return 500


def batches(broker: CountedBroker) -> int:
    server = broker.new_server(crowd(10))
    broker.send_batches(server, 600)
    broker.counting(lambda: broker.send_batches(server, 2_000))
    return 2_000


def deliveries(broker: CountedBroker) -> int:
    with_consumers(broker, lambda server: broker.send(server, 50))
    return 50 * CONSUMERS


def bursts(broker: CountedBroker) -> int:
    with_consumers(broker, lambda server: broker.send_batches(server, 160, size=16))
    return 160 * CONSUMERS


def with_consumers(broker: CountedBroker, work: Callable[[str], None]) -> None:
    server = broker.new_server(crowd(CONSUMERS))
    streams = [broker.open_stream(broker.token(f"m{number}")) for number in range(CONSUMERS)]
    time.sleep(3)
    broker.send(server, 1)
    time.sleep(1)
    broker.counting(lambda: work(server))
    for stream in streams:
        stream.close()


def pages(broker: CountedBroker) -> int:
    for server in [broker.new_server(crowd(1)) for _ in range(SERVERS)]:
        broker.send(server, PER_SERVER)
    token = broker.token("m0")

    def read() -> None:
        for _ in range(4):
            broker.call("GET", f"/v1/notifications?limit={PAGE}", token=token)

    read()
    broker.counting(read)
    return 4 * PAGE


def marks(broker: CountedBroker) -> int:
    server = broker.new_server(crowd(10))
    broker.send_batches(server, 4_200)
    token, ids, cursor = broker.token("m0"), [], ""
    while found := (page := broker.call("GET", f"/v1/notifications?limit={PAGE}{cursor}", token=token))["notifications"]:
        ids += [one["messageServerId"] for one in found]
        cursor = "&after=" + page["cursor"]

    def mark(count: int) -> None:
        for _ in range(count):
            items = [{"messageServerId": one, "type": 100} for one in ids[:MARKS]]
            del ids[:MARKS]
            broker.call("POST", "/v1/notifications/read", {"items": items}, token=token)

    mark(1)
    broker.counting(lambda: mark(40))
    return 40 * MARKS


def streams(broker: CountedBroker) -> int:
    broker.new_server(crowd(100))
    tokens = [broker.token(f"m{number}") for number in range(100)]
    broker.open_stream(tokens[0]).close()
    opened: list[socket.socket] = []
    broker.counting(lambda: opened.extend(broker.open_stream(token) for token in tokens))
    return len(opened)


OPERATIONS = {
    "sends": sends,
    "batches": batches,
    "deliveries": deliveries,
    "bursts": bursts,
    "pages": pages,
    "marks": marks,
    "streams": streams,
}


@dataclass
class Count:
    """Of one operation; the commands are those of Redis, by name."""

    instructions: float
    commands: dict[str, float]
    of: int


def count(name: str, belfry: Path, output: Path, of_redis: bool = False) -> Count:
    output.mkdir(parents=True, exist_ok=True)
    for old in output.glob(name + "*"):
        old.unlink()
    folder = Path(tempfile.mkdtemp(prefix="belfry-count-"))
    broker = CountedBroker(belfry, folder, (output / name).resolve(), of_redis)
    try:
        times = OPERATIONS[name](broker)
    finally:
        broker.stop()
        shutil.rmtree(folder, ignore_errors=True)
    commands = {word: calls / times for word, calls in sorted(broker.commands.items()) if calls}
    return Count(broker.counted() / times, commands, times)


def main() -> None:
    parser = argparse.ArgumentParser(prog="scripts/count-instructions", description=__doc__)
    parser.add_argument("--belfry", type=Path, required=True, help=argparse.SUPPRESS)
    parser.add_argument("--output", type=Path, default=Path(".build/instructions"), help="where the profiles go")
    parser.add_argument("--redis", action="store_true", help="count those of Redis")
    parser.add_argument("operations", nargs="*", choices=[[], *OPERATIONS], metavar="|".join(OPERATIONS))
    given = parser.parse_args()
    for name in given.operations or OPERATIONS:
        counted = count(name, given.belfry, given.output, given.redis)
        print(f"{name:12} {counted.instructions:12,.0f} instructions each, of {counted.of:,}", flush=True)


if __name__ == "__main__":
    main()
