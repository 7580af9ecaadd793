"""What is said to each peer, byte by byte. The generator only carries it, and fills in the numbers."""

import json
import struct
from pathlib import Path

PAYLOAD_BYTES = 200
NEXT = "@" * 10
"""The next number; see Benchmarks/generator/template.h."""
SAME = "%" * 10
"""The last one again."""


def payload(number: str = NEXT, size: int = PAYLOAD_BYTES) -> str:
    mark = f"~{number}~"
    return mark + "x" * (size - len(mark))


def write_list(path: Path, items: list[bytes]) -> Path:
    path.write_bytes(b"".join(struct.pack("<I", len(item)) + item for item in items))
    return path


def write(path: Path, text: str | bytes) -> Path:
    path.write_bytes(text if isinstance(text, bytes) else text.encode("latin-1"))
    return path


# --- HTTP -------------------------------------------------------------------------------------------------


def http(method: str, target: str, token: str, body: str = "", *headers: str, kind: str = "json") -> str:
    lines = [f"{method} {target} HTTP/1.1", "Host: localhost", f"Authorization: Bearer {token}", *headers]
    if body:
        lines += [f"Content-Type: application/{kind}", f"Content-Length: {len(body)}"]
    return "\r\n".join(lines) + "\r\n\r\n" + body


def notification(server: str, client: str, **fields: object) -> str:
    """`client` keeps the ids of two generators apart, whose numbers may be the same."""
    values = {"serverId": server, "messageClientId": f"{client}-{NEXT}", "body": payload(SAME), **fields}
    return json.dumps(values, separators=(",", ":"))


def send(server: str, token: str, client: str, **fields: object) -> str:
    return http("POST", "/v1/notifications", token, notification(server, client, **fields))


def nchan_publish(size: int = PAYLOAD_BYTES) -> str:
    lines = ["POST /publish HTTP/1.1", "Host: localhost", "Content-Type: text/plain", f"Content-Length: {size}"]
    return "\r\n".join(lines) + "\r\n\r\n" + payload(size=size)


def nchan_stream() -> bytes:
    return b"GET /stream HTTP/1.1\r\nHost: localhost\r\nAccept: text/event-stream\r\n\r\n"


def batch(server: str, token: str, client: str, count: int) -> str:
    body = (notification(server, client) + "\n") * count
    return http("POST", "/v1/notifications/batch", token, body, kind="x-ndjson")


def stream(token: str, last_event_id: str | None = None) -> bytes:
    headers = ["Accept: text/event-stream"] + ([f"Last-Event-ID: {last_event_id}"] if last_event_id else [])
    return http("GET", "/v1/notifications/stream", token, "", *headers).encode()


# --- NATS -------------------------------------------------------------------------------------------------

NATS_CONNECT = 'CONNECT {"verbose":false,"pedantic":false,"headers":true,"no_responders":true}\r\n'


def nats_subscribe(subject: str) -> str:
    return NATS_CONNECT + f"SUB {subject} 1\r\nPING\r\n"


def nats_publish(subject: str, size: int = PAYLOAD_BYTES) -> str:
    return f"PUB {subject} {size}\r\n{payload(size=size)}\r\n"


def jetstream_publish(subject: str, inbox: str) -> str:
    head = f"NATS/1.0\r\nNats-Msg-Id: {NEXT}\r\n\r\n"
    return f"HPUB {subject} {inbox} {len(head)} {len(head) + PAYLOAD_BYTES}\r\n{head}{payload(SAME)}\r\n"


# --- MQTT 3.1.1 -------------------------------------------------------------------------------------------


def _packet(kind: int, body: bytes) -> bytes:
    length, rest = b"", len(body)
    while True:
        rest, digit = rest >> 7, rest & 0x7F
        length += bytes([digit | (0x80 if rest else 0)])
        if not rest:
            return bytes([kind]) + length + body


def _mqtt_text(text: str) -> bytes:
    return struct.pack(">H", len(text)) + text.encode()


def mqtt_connect(client: str, *, is_persistent: bool = False) -> bytes:
    flags = 0 if is_persistent else 2  # clean session
    # No keep-alive: the generator sends no PINGREQ.
    return _packet(0x10, _mqtt_text("MQTT") + bytes([4, flags, 0, 0]) + _mqtt_text(client))


def mqtt_subscribe(topic: str, quality: int) -> bytes:
    return _packet(0x82, b"\x00\x01" + _mqtt_text(topic) + bytes([quality]))


MQTT_SUBSCRIBED = b"\x90\x03"


def mqtt_publish(topic: str, quality: int) -> bytes:
    identifier = b"\x00\x01" if quality else b""
    return _packet(0x30 | quality << 1, _mqtt_text(topic) + identifier + payload().encode())
