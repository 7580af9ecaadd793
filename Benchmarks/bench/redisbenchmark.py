"""redis-benchmark, and what Belfry says to Redis, overheard."""

import re
import subprocess
import time

from . import machine
from .broker import Broker
from .failure import Failure
from .redis import Client
from .setting import Run

PIPELINE, CLIENTS = 16, 4


def measure(
    run: Run, where: list[str], processes: list[int], words: list[str | bytes], requests: int
) -> dict:
    """`__rand_int__` in the words becomes another number each time."""
    start, spent = time.monotonic(), machine.spent_seconds(processes)
    done = subprocess.run(
        ["taskset", "-c", str(run.generator_core), machine.program("redis-benchmark"), *where]
        + ["-P", str(PIPELINE), "-c", str(CLIENTS), "-n", str(requests), "-r", "1000000000000", "-q", *words],
        capture_output=True,
        check=True,
    )
    elapsed, spent = time.monotonic() - start, machine.spent_seconds(processes) - spent
    if b"ERR" in done.stderr + done.stdout:
        raise Failure(f"redis-benchmark: {done.stderr.decode()}{done.stdout.decode()}")
    return {"answers": requests, "seconds": elapsed, "server_seconds": spent, "generator_seconds": 0}


def overhear_send(broker: Broker, server: str) -> list[bytes]:
    """The words of the FCALL by which the broker's Redis appends one notification, with an id that changes."""
    monitor = Client(path=broker.redis_path)
    monitor.call("MONITOR")
    body = {"serverId": server, "messageClientId": "overheard", "body": "x" * 200}
    broker.call("POST", "/v1/notifications", body)
    while True:
        line = monitor.input.readline()
        if re.search(rb'\] "(?i:fcall)" "belfry_send', line):
            return [_repeatable(word) for word in _unquote(line)]


def notification(fcall: list[bytes]) -> bytes:
    """What is appended, among the words."""
    return next(word for word in fcall if b'"body"' in word)


def _repeatable(word: bytes) -> bytes:
    """The id is in the notification; what the send is recognised by is a hash of it, which any other name does for."""
    if re.fullmatch(rb"[0-9a-f]{20}", word):
        return b"__rand_int__"
    return word.replace(b"overheard", b"__rand_int__")


def _unquote(line: bytes) -> list[bytes]:
    """MONITOR writes words as Redis's `sdscatrepr` does: quotes, backslashes and \\xHH."""
    escapes = {b"n": b"\n", b"r": b"\r", b"t": b"\t", b"a": b"\a", b"b": b"\b"}

    def plain(match: re.Match[bytes]) -> bytes:
        code = match[1]
        return bytes([int(code[1:], 16)]) if len(code) == 3 else escapes.get(code, code)

    quoted = re.findall(rb'"((?:[^"\\]|\\.)*)"', line.split(b"] ", 1)[1])
    return [re.sub(rb"\\(x[0-9a-f]{2}|.)", plain, word, flags=re.DOTALL) for word in quoted]
