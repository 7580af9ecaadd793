"""An account that sends at a pace, to one place after the other."""

import asyncio
import itertools

from .. import words
from . import read_answer, read_work, run_until_told

counts = {"posted": 0, "refused": 0}


async def send(port: int, token: str, bodies: list[str], per_second: float, counts: dict[str, int]) -> None:
    """Each body in turn. Answers that come late are made up for: the pace is that of the clock."""
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    clock = asyncio.get_running_loop().time
    begin = clock()
    for number, body in enumerate(itertools.cycle(bodies)):
        await asyncio.sleep(begin + number / per_second - clock())
        writer.write(words.http("POST", "/v1/notifications", token, body).encode())
        status, _ = await read_answer(reader)
        counts["posted" if status == 201 else "refused"] += 1


async def main() -> None:
    work = read_work()
    await run_until_told(counts, send(work["port"], work["token"], work["bodies"], work["perSecond"], counts))


if __name__ == "__main__":
    asyncio.run(main())
