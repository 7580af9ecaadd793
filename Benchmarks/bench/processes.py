"""Servers as child processes: pinned, logged, and ended when the run ends, however it ends."""

import ctypes
import os
import signal
import socket
import subprocess
import time
from pathlib import Path
from typing import Callable

from .failure import Failure

_started: list["Process"] = []
_libc = ctypes.CDLL(None)
PR_SET_PDEATHSIG = 1


class Process:
    """A running program. Its output goes to a log, which is shown when it fails."""

    def __init__(
        self,
        name: str,
        command: list[str],
        *,
        log: Path,
        cores: set[int],
        environment: dict[str, str] | None = None,
        pipes: bool = False,
    ):
        self.name = name
        self.log = log

        def prepare() -> None:
            os.sched_setaffinity(0, cores)
            # Not to be left behind, should this script be killed.
            _libc.prctl(PR_SET_PDEATHSIG, signal.SIGTERM)

        with log.open("ab") as output:
            self.popen = subprocess.Popen(
                command,
                stdin=subprocess.PIPE if pipes else subprocess.DEVNULL,
                stdout=subprocess.PIPE if pipes else output,
                stderr=output,
                env={**os.environ, **(environment or {})},
                preexec_fn=prepare,
                # A Ctrl-C at the terminal reaches this script alone, which then ends them in order.
                start_new_session=True,
            )
        _started.append(self)

    @property
    def id(self) -> int:
        return self.popen.pid

    def require(self) -> None:
        if self.popen.poll() is not None:
            raise Failure(
                f"{self.name} ended with status {self.popen.returncode}:\n"
                + "\n".join(self.log.read_text(errors="replace").splitlines()[-20:])
            )

    def wait_until(self, holds: Callable[[], bool], seconds: float = 30) -> None:
        end = time.monotonic() + seconds
        while not holds():
            self.require()
            if time.monotonic() > end:
                raise Failure(f"{self.name} is not ready after {seconds} s; its log is {self.log}")
            time.sleep(0.02)

    def wait_for_port(self, port: int) -> None:
        self.wait_until(lambda: _answers(port))

    def stop(self) -> None:
        if self in _started:
            _started.remove(self)
        if self.popen.poll() is None:
            self.popen.terminate()
            try:
                self.popen.wait(30)
            except subprocess.TimeoutExpired:
                self.popen.kill()
                self.popen.wait()
        for pipe in (self.popen.stdin, self.popen.stdout):
            if pipe:
                pipe.close()


def stop_all() -> None:
    for process in reversed(_started.copy()):
        process.stop()


def free_port() -> int:
    """Free at this moment, and below the range that outgoing connections take theirs from."""
    for port in range(_next_port(), 32_000):
        with socket.socket() as one:
            one.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            try:
                one.bind(("127.0.0.1", port))
            except OSError:
                continue
        _ports.append(port)
        return port
    raise Failure("no free port")


# Runs that begin together have process ids side by side, and are to take ports far from each other's.
_ports: list[int] = [21_000 + os.getpid() * 1_013 % 10_000]


def _next_port() -> int:
    return _ports[-1] + 1


def _answers(port: int) -> bool:
    with socket.socket() as one:
        return one.connect_ex(("127.0.0.1", port)) == 0
