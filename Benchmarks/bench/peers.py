"""What Belfry's users would pick instead, configured as their own documentation suggests, and the floors."""

import os
from pathlib import Path

from . import machine
from .processes import Process, free_port
from .setting import Run


class Peer:
    """A server that is one process and one port."""

    def __init__(self, run: Run, name: str, command: list[str], port: int, folder: Path):
        self.port = port
        self.process = Process(name, command, log=folder / "log", cores={run.server_core})
        self.process.wait_for_port(port)

    @property
    def processes(self) -> list[int]:
        return [self.process.id]

    def stop(self) -> None:
        self.process.stop()


def nats(run: Run, *, jetstream: bool = False) -> Peer:
    port, folder = free_port(), run.new_folder("nats")
    # The generator answers no PING, so there must be none within a run.
    text = f'host: 127.0.0.1\nport: {port}\nping_interval: "1h"\n'
    if jetstream:
        text += f'jetstream {{ store_dir: "{folder}/store" }}\n'
    (folder / "nats.conf").write_text(text)
    return Peer(
        run, "nats-server", [machine.program("nats-server"), "-c", f"{folder}/nats.conf"], port, folder
    )


def mosquitto(run: Run, *, persistence: bool = False) -> Peer:
    port, folder = free_port(), run.new_folder("mosquitto")
    text = f"listener {port} 127.0.0.1\nallow_anonymous true\nset_tcp_nodelay true\n"
    if persistence:
        text += f"persistence true\npersistence_location {folder}/\n"
    if os.geteuid() == 0:
        # Otherwise it becomes the user `mosquitto`, who may not write here.
        text += "user root\n"
    (folder / "mosquitto.conf").write_text(text)
    command = [machine.program("mosquitto"), "-c", f"{folder}/mosquitto.conf"]
    return Peer(run, "mosquitto", command, port, folder)


def floor(run: Run, name: str) -> Peer:
    port = free_port()
    return Peer(run, name, [str(run.tools / name), str(port)], port, run.new_folder(name))
