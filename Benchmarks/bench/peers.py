"""What Belfry's users would pick instead, configured as their own documentation suggests, and the floors."""

import os
from pathlib import Path

from . import machine
from .processes import Process, free_port
from .redis import Redis
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


NCHAN = """load_module /usr/lib/nginx/modules/ngx_nchan_module.so;
daemon off;
worker_processes 1;
error_log {folder}/error.log;
pid {folder}/pid;
{user}
events {{ worker_connections 4096; }}
http {{
  access_log off;
  tcp_nodelay on;
  keepalive_requests 1000000000;
  keepalive_timeout 1h;
  nchan_message_buffer_length {buffered};
  nchan_message_timeout 7d;
  {paths}
  {upstream}
  server {{
    listen 127.0.0.1:{port};
    {on_redis}
    location = /publish {{ nchan_publisher; nchan_channel_id n; }}
    location = /stream {{ nchan_subscriber eventsource; nchan_channel_id n; }}
  }}
}}
"""


class Nchan:
    """nginx with nchan: Server-Sent Events from a buffer of messages, in its memory or in a Redis of its own."""

    BUFFERED = 1_000
    """How many messages it keeps for who comes back; 10 otherwise."""

    def __init__(self, run: Run, *, on_redis: bool = False):
        self.redis = Redis(run, *Redis.DURABLE) if on_redis else None
        self.port, folder = free_port(), run.new_folder("nchan")
        paths = "".join(f"{kind}_temp_path {folder}/{kind}; " for kind in ("client_body", "proxy", "fastcgi", "uwsgi", "scgi"))
        upstream = f"upstream redis {{ nchan_redis_server redis://127.0.0.1:{self.redis.port}; }}" if self.redis else ""
        text = NCHAN.format(
            folder=folder,
            # Otherwise its worker becomes the user `www-data`, who may not write here.
            user="user root;" if os.geteuid() == 0 else "",
            buffered=self.BUFFERED,
            paths=paths,
            upstream=upstream,
            port=self.port,
            on_redis="nchan_redis_pass redis;" if self.redis else "",
        )
        (folder / "nginx.conf").write_text(text)
        command = [machine.program("nginx"), "-c", f"{folder}/nginx.conf"]
        self.process = Process("nginx", command, log=folder / "log", cores={run.server_core})
        self.process.wait_until(lambda: bool(self._workers()))
        self.process.wait_for_port(self.port)

    def _workers(self) -> list[int]:
        return machine.children(self.process.id)

    @property
    def processes(self) -> list[int]:
        """Its own, its worker's, and Redis's."""
        return [self.process.id, *self._workers(), *(self.redis.processes if self.redis else [])]

    def stop(self) -> None:
        self.process.stop()
        if self.redis:
            self.redis.stop()


def floor(run: Run, name: str) -> Peer:
    port = free_port()
    return Peer(run, name, [str(run.tools / name), str(port)], port, run.new_folder(name))
