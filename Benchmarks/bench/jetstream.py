"""A JetStream stream that keeps what Belfry keeps: on disk, deduplicated for an hour, 100,000 entries and 7 days."""

import json
import socket

from . import words
from .failure import Failure
from .peers import Peer, nats
from .setting import Run

SUBJECT, INBOX = "n", "inbox"
NANOSECONDS = 1_000_000_000


def start(run: Run) -> Peer:
    server = nats(run, jetstream=True)
    settings = {
        "name": "bench",
        "subjects": [SUBJECT],
        "retention": "limits",
        "discard": "old",
        "storage": "file",
        "num_replicas": 1,
        "max_consumers": -1,
        "max_bytes": -1,
        "max_msgs": 100_000,
        "max_age": 7 * 86_400 * NANOSECONDS,
        "duplicate_window": 3_600 * NANOSECONDS,
    }
    answer = _request(server.port, "$JS.API.STREAM.CREATE.bench", json.dumps(settings))
    if "error" in answer:
        raise Failure(f"JetStream refuses: {answer['error']}")
    return server


def _request(port: int, subject: str, body: str) -> dict:
    with socket.create_connection(("127.0.0.1", port)) as connection:
        connection.sendall(
            f"{words.NATS_CONNECT}SUB answer 1\r\nPUB {subject} answer {len(body)}\r\n{body}\r\n".encode()
        )
        text = connection.makefile("rb")
        for line in text:
            if line.startswith(b"MSG "):
                return json.loads(text.read(int(line.split()[-1])))
    raise Failure("JetStream does not answer")
