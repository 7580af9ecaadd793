"""Counts the instructions of the broker, or of its Redis, for one operation, by valgrind's callgrind; or, without valgrind,
the commands that Redis is asked for one request.

Seconds wander with the machine, instructions hardly do, so this is what to look at before and after a change, and what
a check compares with what is written down. What the counted one does by itself meanwhile is counted too: on a busy
machine, where everything takes longer, that is more. System calls count as one instruction, and the other one runs
beside, as it is.
"""

import argparse
import contextlib
import json
import os
import shutil
import socket
import subprocess
import tempfile
import time
from pathlib import Path
from typing import Callable, Iterator

from .broker import is_ready
from .interface import Interface
from .processes import Process, free_port
from .redis import Client

CONSUMERS = 200
SERVERS = 100
PARTITIONS = 64
SPREAD = 51
PER_SERVER = 10
PAGE = 500
MARKS = 100
PAYLOAD = "x" * 200


# What a broker asks by itself now and then, and what operations ask besides: how often says more of the time that passes.
UPKEEP = {
    *("auth", "client", "time", "ping", "info", "exists", "xlen", "hgetall", "zrange", "config|resetstat", "multi", "exec"),
    *("slowlog|reset", "slowlog|get", "xtrim", "xrevrange", "zmscore", "pexpire"),
}
# The same by the ends of keys: whether webhooks and keys have changed, who has a pusher, and what waits in outboxes.
UPKEEP_KEYS = (b":outbox", b":webhooks", b":keys", b":push")


class CountedBroker(Interface):
    """A broker and its Redis, one of them under callgrind, which counts only while it is told to; or neither, where the
    commands are counted."""

    def __init__(self, belfry: Path, folder: Path, output: Path, counted: str):
        """Counted is "broker", "redis" or "commands"."""
        self.output = output
        port, redis_socket = free_port(), folder / "redis.sock"
        everywhere = os.sched_getaffinity(0)
        callgrind = ["valgrind", "--tool=callgrind", "--instr-atstart=no", f"--callgrind-out-file={output}"]
        # A Redis of its own: callgrind knows no pidfd_open, which the broker watches an embedded one with.
        self.redis = Process(
            "redis-server",
            [*(callgrind if counted == "redis" else []), "redis-server", "--port", "0", "--unixsocket", str(redis_socket)]
            + ["--save", "", "--appendonly", "yes", "--appendfsync", "no", "--hz", "1", "--dir", str(folder)],
            log=folder / "redis-log",
            cores=everywhere,
        )
        self.redis.wait_until(redis_socket.exists)
        self.process = Process(
            "belfry",
            [*(callgrind if counted == "broker" else []), str(belfry), "serve", "--listen", f"127.0.0.1:{port}", "--data", str(folder / "data")],
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
        self.counted_process = {"redis": self.redis, "broker": self.process}.get(counted)
        self.client = Client(path=redis_socket)
        self.commands: dict[str, int] = {}
        self.sends = 0
        self.requests = 0

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

    def call(self, *arguments, **more):
        self.requests += 1
        return super().call(*arguments, **more)

    def counting(self, work: Callable[[], None]) -> None:
        self.requests = 0
        if not self.counted_process:
            self._count_commands(work)
            return
        self._control("--instr=on")
        work()
        time.sleep(0.5)
        self._control("--instr=off")
        self._control("--dump")

    def _control(self, word: str) -> None:
        command = ["callgrind_control", word, str(self.counted_process.id)]
        subprocess.run(command, check=True, capture_output=True)

    def _count_commands(self, work: Callable[[], None]) -> None:
        """How often Redis is asked what, by functions and by itself. The slow log holds every command with its keys, so that
        what brokers ask by themselves can be taken out; each two are read in one transaction, so that neither has what the
        other has not."""
        self.client.call("CONFIG", "SET", "slowlog-log-slower-than", "0", "slowlog-max-len", "1000000")
        self._transaction(["SLOWLOG", "RESET"], ["CONFIG", "RESETSTAT"])
        work()
        statistics, slow = self._transaction(["INFO", "commandstats"], ["SLOWLOG", "GET", "-1"])
        calls = {}
        for line in statistics.decode().splitlines():
            if line.startswith("cmdstat_"):
                name, numbers = line.removeprefix("cmdstat_").split(":")
                calls[name] = int(numbers.split(",")[0].removeprefix("calls="))
        for _, _, _, words, *_ in slow:
            if len(words) > 1 and words[1].endswith(UPKEEP_KEYS):
                calls[words[0].decode().lower()] -= 1
        self.commands = {name: count for name, count in calls.items() if name not in UPKEEP}

    def _transaction(self, *commands: list[str]) -> list:
        self.client.call("MULTI")
        for command in commands:
            self.client.call(*command)
        return self.client.call("EXEC")

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


def spread_servers(broker: CountedBroker) -> list[str]:
    """In as many partitions as so many servers would be in on average, in most of them two. A page asks each partition, and
    ids are random: without this it would take other commands in each run."""
    left = {partition: SERVERS // SPREAD + (partition < SERVERS % SPREAD) for partition in range(SPREAD)}
    servers = []
    while any(left.values()):
        server = broker.new_server(["owner"])
        if left.get(partition(f"server:{server}"), 0):
            left[partition(f"server:{server}")] -= 1
            servers.append(server)
        else:
            broker.call("DELETE", f"/v1/servers/{server}", account="owner")
    return sorted(servers, key=lambda server: partition(f"server:{server}"))


def partition(space: str) -> int:
    """FNV-1a of the space's name: docs/redis-layout.md."""
    hash = 0xCBF29CE484222325
    for byte in space.encode():
        hash = (hash ^ byte) * 0x100000001B3 % 2**64
    return hash % PARTITIONS


def pages(broker: CountedBroker) -> int:
    servers = spread_servers(broker)
    for server in servers:
        broker.call("POST", f"/v1/servers/{server}/members", {"accids": crowd(1)[1:]})
    for server in servers:
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


def count(name: str, belfry: Path, output: Path, of_redis: bool = False) -> tuple[float, int]:
    """The instructions for one operation, and of how many that was taken."""
    output.mkdir(parents=True, exist_ok=True)
    for old in output.glob(name + "*"):
        old.unlink()
    with counted_broker(belfry, (output / name).resolve(), "redis" if of_redis else "broker") as broker:
        times = OPERATIONS[name](broker)
    return broker.counted() / times, times


def count_commands(name: str, belfry: Path) -> dict[str, int]:
    """What Redis is asked for one request, in whole numbers. What is less than half a command a request is not the
    request's own: it comes by the clock."""
    with counted_broker(belfry, Path(os.devnull), "commands") as broker:
        OPERATIONS[name](broker)
    whole = {word: round(calls / broker.requests) for word, calls in sorted(broker.commands.items())}
    return {word: calls for word, calls in whole.items() if calls}


@contextlib.contextmanager
def counted_broker(belfry: Path, output: Path, counted: str) -> Iterator[CountedBroker]:
    folder = Path(tempfile.mkdtemp(prefix="belfry-count-"))
    broker = CountedBroker(belfry, folder, output, counted)
    try:
        yield broker
    finally:
        broker.stop()
        shutil.rmtree(folder, ignore_errors=True)


def main() -> None:
    parser = argparse.ArgumentParser(prog="scripts/count-instructions", description=__doc__)
    parser.add_argument("--belfry", type=Path, required=True, help=argparse.SUPPRESS)
    parser.add_argument("--output", type=Path, default=Path(".build/instructions"), help="where the profiles go")
    parser.add_argument("--redis", action="store_true", help="count those of Redis")
    parser.add_argument("operations", nargs="*", choices=[[], *OPERATIONS], metavar="|".join(OPERATIONS))
    given = parser.parse_args()
    for name in given.operations or OPERATIONS:
        instructions, times = count(name, given.belfry, given.output, given.redis)
        print(f"{name:12} {instructions:12,.0f} instructions each, of {times:,}", flush=True)


if __name__ == "__main__":
    main()
