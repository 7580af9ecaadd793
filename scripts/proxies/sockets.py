"""Opens a WebSocket and a stream through nginx and HAProxy as the files in examples/ configure them: sockets.py BELFRY"""
import contextlib
import os
import re
import socket
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "shared"))
from broker import Broker  # noqa: E402
from smuggling import Relay, proxy  # noqa: E402

EXAMPLES = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "examples")
HEAD = """
worker_processes 1; daemon off; pid {folder}/pid; error_log {folder}/error.log;
events {{ worker_connections 512; }}
http {{
  access_log off; client_body_temp_path {folder}/body; proxy_temp_path {folder}/proxy; fastcgi_temp_path {folder}/fastcgi;
  uwsgi_temp_path {folder}/uwsgi; scgi_temp_path {folder}/scgi;
"""


def example(name):
    with open(os.path.join(EXAMPLES, name), encoding="utf-8") as file:
        return re.sub(r"[{}]", lambda brace: brace.group() * 2, file.read())


def nginx():
    """The example in a server of its own, without TLS, and with this relay for its broker."""
    text = re.sub(r" *ssl_certificate.*\n", "", example("nginx.conf"))
    text = text.replace("listen 443 ssl;", "listen 127.0.0.1:{port};").replace("127.0.0.1:8080", "127.0.0.1:{relay}")
    return HEAD + text + "}}\n"


def haproxy():
    text = example("haproxy.cfg").replace("127.0.0.1:8090", "127.0.0.1:{port}")
    return re.sub(r"127\.0\.0\.1:808[12]", "127.0.0.1:{relay}", text)


def begun(port, request, wanted):
    """What is answered, as far as the text that is wanted."""
    got = b""
    with socket.create_connection(("127.0.0.1", port), 10) as connection, contextlib.suppress(TimeoutError):
        connection.sendall(request)
        while wanted not in got and (piece := connection.recv(65536)):
            got += piece
    return got


def check(name, port, token):
    upgrade = begun(port, (
        "GET /v1/socket HTTP/1.1\r\nHost: t\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Version: 13\r\n"
        "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nSec-WebSocket-Protocol: belfry.v1.json\r\n"
        f"Authorization: Bearer {token}\r\n\r\n").encode(), b"pingSeconds")
    stream = begun(port, (
        "GET /v1/notifications/stream HTTP/1.1\r\nHost: t\r\nAccept: text/event-stream\r\n"
        f"Authorization: Bearer {token}\r\n\r\n").encode(), b"retry:")
    wrong = []
    if not upgrade.startswith(b"HTTP/1.1 101 ") or b"pingSeconds" not in upgrade:
        wrong.append(f"{name}: a WebSocket is answered with {upgrade[:200]}")
    if b"retry:" not in stream:
        wrong.append(f"{name}: a stream is answered with {stream[:200]}")
    print(f"{name}: as in examples/, {len(wrong)} wrong of a WebSocket and a stream")
    return wrong


def main(program):
    wrong = []
    with Broker(program) as broker:
        relay = Relay(broker.port)
        for name, configuration, arguments in (
                ("nginx", nginx(), ["nginx", "-c"]), ("HAProxy", haproxy(), ["haproxy", "-f"])):
            with proxy(name, configuration, arguments, relay) as port:
                wrong += check(name, port, broker.token("bob"))
    sys.exit("\n".join(wrong) or 0)


if __name__ == "__main__":
    main(*sys.argv[1:])
