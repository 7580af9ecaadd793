"""Programs that run against a broker while something is measured. Each is a process of its own. It goes on until it is told to
end, and then prints how often it did each thing.
"""

import asyncio
import json
import signal
import sys
import time
from typing import Awaitable, Callable, Coroutine

from ..processes import Process
from ..setting import Run

SECONDS_BEFORE = 1
"""After so long, all that the program does is under way."""


def measure_next_to(run: Run, program: str, work: dict, measure: Callable[[], dict]) -> dict:
    """The figures that are measured while the program runs, and those that it prints itself."""
    process = Process(
        program,
        [sys.executable, "-m", f"bench.programs.{program}"],
        log=run.new_folder(program) / "log",
        cores={run.server_core, run.generator_core},
        pipes=True,
    )
    process.popen.stdin.write(json.dumps(work).encode())
    process.popen.stdin.close()
    if not process.popen.stdout.readline():
        process.popen.wait()
        process.require()
    time.sleep(SECONDS_BEFORE)
    try:
        process.require()
        found = measure()
    finally:
        process.popen.terminate()
        said = process.popen.stdout.read()
        process.popen.wait()
    if process.popen.returncode:
        process.require()
    process.stop()
    return {**found, **json.loads(said)}


def read_work() -> dict:
    return json.load(sys.stdin)


async def run_until_told(
    counts: dict[str, int], *work: Coroutine, finish: Callable[[], Awaitable[None]] | None = None
) -> None:
    """Does all of it side by side, and prints the counts at the end. A part that fails ends the program.

    `finish`: what is done when the program is told to end, before the work ends."""
    told = asyncio.Event()
    asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, told.set)
    print("ready", flush=True)
    doing = asyncio.gather(*work)
    waiting = asyncio.create_task(told.wait())
    await asyncio.wait({doing, waiting}, return_when=asyncio.FIRST_COMPLETED)
    if doing.done():
        doing.result()
        await waiting
    if finish:
        await finish()
    doing.cancel()
    print(json.dumps(counts))


async def read_answer(reader: asyncio.StreamReader) -> tuple[int, bytes]:
    """Its status, and its body."""
    head = (await reader.readuntil(b"\r\n\r\n")).decode().lower()
    length = int(head.partition("content-length:")[2].split("\r\n")[0] or 0)
    return int(head.split()[1]), await reader.readexactly(length)
