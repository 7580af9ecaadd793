"""Live messages that arrive once more, and late, as from a master that was parted and hears of the others again."""

import asyncio
import time
from random import Random

from bench.redis import Client

from .injections import healed, hold
from .stage import Stage

COLLECT_SECONDS = 1.5
# So many sends follow in the meantime that no broker takes the message for the next one.
LATE_SECONDS = 3

Message = tuple[bytes, bytes]
"""A channel, and what was published there."""


async def live_messages_late(stage: Stage, random: Random) -> None:
    """Brokers had these messages before. They must not take their place in a log for the end of it, and show what came
    since once more."""
    messages = await asyncio.to_thread(collect_messages, stage.redis.port, COLLECT_SECONDS)
    await hold(LATE_SECONDS)
    fault = stage.begin_fault("live messages late", f"{len(messages)} messages", holds_requests=False)
    chosen = random.sample(messages, min(len(messages), 20))
    await asyncio.to_thread(publish_again, stage.redis.port, chosen)
    await healed(stage, fault)


def collect_messages(port: int, seconds: float) -> list[Message]:
    """All that is published within the time on channels that a broker listens to."""
    client = Client(port=port)
    try:
        for channel in client.call("PUBSUB", "SHARDCHANNELS"):
            client.call("SSUBSCRIBE", channel)
        return _read_messages(client, time.monotonic() + seconds)
    finally:
        client.input.close()
        client.socket.close()


def _read_messages(client: Client, end: float) -> list[Message]:
    messages: list[Message] = []
    while (left := end - time.monotonic()) > 0:
        client.socket.settimeout(left)
        try:
            kind, channel, *rest = client.reply()
        except TimeoutError:
            return messages
        if kind == b"smessage":
            messages.append((channel, rest[0]))
    return messages


def publish_again(port: int, messages: list[Message]) -> None:
    client = Client(port=port)
    try:
        for channel, message in messages:
            client.call("SPUBLISH", channel, message)
    finally:
        client.input.close()
        client.socket.close()
