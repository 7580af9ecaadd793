"""Ports of servers that are killed, and started again where they were."""

import socket

_held: list[socket.socket] = []


def held_port() -> int:
    """A port that the system gives to nobody else until this program ends, also while the server is away. A server that
    sets SO_REUSEADDR, as all do here, may listen on it: what holds the port is bound to it, and does not listen."""
    holder = socket.socket()
    holder.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    holder.bind(("127.0.0.1", 0))
    _held.append(holder)
    return holder.getsockname()[1]
