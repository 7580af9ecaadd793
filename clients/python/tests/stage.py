"""What the tests play on: a broker with a Redis of its own, and servers that behave badly."""
import contextlib
import http.client
import os
import pathlib
import socket
import subprocess
import sys
import threading
from collections.abc import Callable

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[3] / "scripts" / "shared"))
import broker as shared  # noqa: E402


class Broker(shared.Broker):
    """The executable that BELFRY_EXECUTABLE names. Can die, and be started again on the same port and data."""

    def __init__(self, *arguments: str):
        super().__init__(os.environ["BELFRY_EXECUTABLE"], arguments)
        self._arguments = arguments

    def kill(self) -> None:
        self.process.kill()
        self.process.wait()

    def start_again(self) -> None:
        self.process = subprocess.Popen(
            [self.program, "serve", "--listen", f"127.0.0.1:{self.port}", "--data", self.data, *self._arguments],
            stdin=subprocess.DEVNULL, stdout=self.log, stderr=self.log, start_new_session=True)
        self._wait_until_ready()


class Server:
    """Has each connection handled by a function of the connection and its number, in a thread of its own."""

    def __init__(self, handle: Callable[[socket.socket, int], None]):
        self._handle = handle
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.url = f"http://127.0.0.1:{self._listener.getsockname()[1]}"
        self.count = 0
        self._threads = [threading.Thread(target=self._accept)]
        self._threads[0].start()

    def _accept(self) -> None:
        with contextlib.suppress(OSError):
            while True:
                connection, _ = self._listener.accept()
                self.count += 1
                thread = threading.Thread(target=self._serve, args=(connection, self.count))
                self._threads.append(thread)
                thread.start()

    def _serve(self, connection: socket.socket, number: int) -> None:
        connection.settimeout(20)
        with connection, contextlib.suppress(OSError, http.client.HTTPException):
            self._handle(connection, number)

    def __enter__(self) -> "Server":
        return self

    def __exit__(self, *_: object) -> None:
        with contextlib.suppress(OSError):
            self._listener.shutdown(socket.SHUT_RDWR)
        self._listener.close()
        for thread in self._threads:
            thread.join(20)


def request_of(connection: socket.socket) -> bytes:
    """The head and the body of one request."""
    head = b""
    while b"\r\n\r\n" not in head:
        piece = connection.recv(65536)
        if not piece:
            raise ConnectionResetError
        head += piece
    head, _, body = head.partition(b"\r\n\r\n")
    length = 0
    for line in head.split(b"\r\n"):
        name, _, value = line.partition(b":")
        if name.lower() == b"content-length":
            length = int(value)
    while len(body) < length:
        body += connection.recv(65536)
    return head + b"\r\n\r\n" + body


def answer(status: int, body: bytes, *headers: str) -> bytes:
    lines = [f"HTTP/1.1 {status} X", f"Content-Length: {len(body)}", "Connection: close", *headers]
    return "\r\n".join(lines).encode() + b"\r\n\r\n" + body


STREAM_HEAD = b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nConnection: close\r\n\r\n"


def cutting(port: int, losses: int) -> Server:
    """A way to a broker on which the answers to the first requests are lost."""

    def handle(connection: socket.socket, number: int) -> None:
        request = request_of(connection).replace(b"\r\n\r\n", b"\r\nConnection: close\r\n\r\n", 1)
        with socket.create_connection(("127.0.0.1", port), 20) as broker:
            broker.sendall(request)
            whole = b""
            while piece := broker.recv(65536):
                whole += piece
        if number > losses:
            connection.sendall(whole)

    return Server(handle)
