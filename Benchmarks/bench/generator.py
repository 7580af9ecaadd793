"""Starts the load generator and reads what it found."""

import itertools
import json
from pathlib import Path

from .failure import Failure
from .processes import Process
from .setting import Run

_numbers = itertools.count(1)


def _start(run: Run, mode: str, settings: dict[str, object]) -> Process:
    words = [f"{name.replace('_', '-')}=".encode() + _word(value) for name, value in settings.items()]
    return Process(
        f"generator {mode}",
        [str(run.tools / "generator"), mode, *words],
        log=run.folder / f"generator-{mode}-{next(_numbers)}.log",
        cores={run.generator_core},
        pipes=True,
    )


def _word(value: object) -> bytes:
    if isinstance(value, bytes):
        return value
    if isinstance(value, list):
        return ",".join(map(str, value)).encode()
    return str(value).encode()


def _read(process: Process) -> dict:
    line = process.popen.stdout.readline()
    if not line:
        process.popen.wait()
        process.require()
        raise Failure(f"{process.name} said nothing; its log is {process.log}")
    return json.loads(line)


def exchange(run: Run, **settings) -> dict:
    """Requests and their answers for some time, or through a list; see generator/exchange.c."""
    return _once(run, "exchange", settings)


def pages(run: Run, **settings) -> dict:
    return _once(run, "pages", settings)


def _once(run: Run, mode: str, settings: dict) -> dict:
    process = _start(run, mode, settings)
    found = _read(process)
    process.stop()
    return found


class FanOut:
    """One publisher and its consumers, which stay connected between rounds."""

    def __init__(self, run: Run, **settings):
        self.process = _start(run, "fanout", settings)
        _read(self.process)

    def round(self, window: int, seconds: float) -> dict:
        self.process.popen.stdin.write(f"{window} {seconds}\n".encode())
        self.process.popen.stdin.flush()
        return _read(self.process)

    def stop(self) -> None:
        self.process.stop()


class Held:
    """Consumers that connect, are served, and stay until they are let go."""

    def __init__(self, run: Run, **settings):
        self.process = _start(run, "hold", settings)
        self.found = _read(self.process)

    def stop(self) -> None:
        self.process.stop()


class Soak:
    """A long run that reports every ten seconds."""

    def __init__(self, run: Run, **settings):
        self.process = _start(run, "soak", settings)

    def report(self) -> dict:
        return _read(self.process)

    def stop(self) -> None:
        self.process.stop()


def folder_of(run: Run) -> Path:
    folder = run.folder / "words"
    folder.mkdir(exist_ok=True)
    return folder
