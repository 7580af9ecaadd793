"""Ports for servers on this machine."""
import socket


class HeldPort:
    """A port that the system gives to nobody else while this is held, also while its server is away. A server that sets
    SO_REUSEADDR, as all do here, may listen on it: this is bound to it, and does not listen."""

    def __init__(self):
        self._socket = socket.socket()
        self._socket.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        self._socket.bind(("127.0.0.1", 0))
        self.number = self._socket.getsockname()[1]

    def release(self):
        self._socket.close()
