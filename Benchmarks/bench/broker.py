"""Belfry as it is delivered: `belfry serve`, its own embedded Redis, and the HTTP interface for setting up."""

import base64
import hashlib
import hmac
import http.client
import json
import subprocess
import time
import urllib.request
from pathlib import Path

from . import machine
from .failure import Failure
from .processes import Process, free_port
from .redis import Client
from .setting import Run

MEMBERS_PER_CALL = 1_000


class Broker:
    def __init__(
        self,
        run: Run,
        *,
        loops: int = 1,
        cores: set[int] | None = None,
        limits: dict[str, int] | None = None,
        beside: "Broker | None" = None,
    ):
        """`beside`: a second broker on the Redis of the first."""
        self.run = run
        self.port = free_port()
        self.data = run.new_folder("belfry")
        environment = {
            "BELFRY_LOOPS": str(loops),
            "BELFRY_LIMITS_SENDS_PER_SECOND_PER_ACCOUNT": "1000000",
            **{f"BELFRY_LIMITS_{name}": str(value) for name, value in (limits or {}).items()},
        }
        if beside:
            environment["BELFRY_REDIS"] = f"unix://{beside.redis_path}"
            environment["BELFRY_SECRET_FILE"] = str(beside.data / "secret")
        self.process = Process(
            "belfry",
            [str(run.belfry), "serve", "--listen", f"127.0.0.1:{self.port}", "--data", str(self.data)],
            log=self.data / "log",
            cores=cores or {run.server_core},
            environment=environment,
        )
        self.process.wait_until(self._is_ready)
        self.secret = ((beside or self).data / "secret").read_bytes().strip()
        self.redis_processes = [] if beside else machine.children(self.process.id)
        self.redis_path = beside.redis_path if beside else self._find_socket()
        self.redis = Client(path=self.redis_path)
        self.app = beside.app if beside else self._token_of("bench", role="app")

    @property
    def processes(self) -> list[int]:
        """All that serve: the broker and its Redis."""
        return [self.process.id, *self.redis_processes]

    def stop(self) -> None:
        self.process.stop()

    def _is_ready(self) -> bool:
        try:
            with urllib.request.urlopen(f"http://127.0.0.1:{self.port}/readyz", timeout=5) as answer:
                return answer.status == 200
        except OSError:
            return False

    def _find_socket(self) -> Path:
        inside = self.data / "redis" / "redis.sock"
        if inside.exists():
            return inside
        # Where the path is too long for a socket's address, Redis was told another.
        words = Path(f"/proc/{self.redis_processes[0]}/cmdline").read_bytes().split(b"\0")
        return Path(words[words.index(b"--unixsocket") + 1].decode())

    # --- Tokens -------------------------------------------------------------------------------------------

    def _token_of(self, subject: str, *, role: str) -> str:
        return subprocess.run(
            [self.run.belfry, "token", "--data", self.data, "--sub", subject, "--role", role]
            + ["--ttl", "86400"],
            check=True,
            capture_output=True,
            text=True,
        ).stdout.strip()

    def token(self, account: str) -> str:
        """What `belfry token` prints; made here because thousands are needed."""
        parts = [{"alg": "HS256", "typ": "JWT"}, {"sub": account, "exp": int(time.time()) + 86_400}]
        text = ".".join(_base64url(json.dumps(part, separators=(",", ":")).encode()) for part in parts)
        signature = hmac.digest(self.secret, text.encode(), hashlib.sha256)
        return f"{text}.{_base64url(signature)}"

    # --- Requests -----------------------------------------------------------------------------------------

    def call(self, method: str, path: str, body: object = None, account: str | None = None):
        headers = {"Authorization": f"Bearer {self.app}", "Content-Type": "application/json"}
        if account:
            headers["Belfry-Account"] = account
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=60)
        payload = None if body is None else body if isinstance(body, bytes) else json.dumps(body).encode()
        if isinstance(body, bytes):
            headers["Content-Type"] = "application/x-ndjson"
        connection.request(method, path, payload, headers)
        answer = connection.getresponse()
        text = answer.read()
        connection.close()
        if answer.status >= 300:
            raise Failure(f"{method} {path}: {answer.status} {text.decode(errors='replace')}")
        return json.loads(text) if text and answer.getheader("Content-Type") == "application/json" else text

    def new_server(self, members: list[str], name: str = "bench") -> str:
        """Its owner is its first member."""
        server = self.call("POST", "/v1/servers", {"name": name}, account=members[0])["serverId"]
        for start in range(1, len(members), MEMBERS_PER_CALL):
            accids = members[start : start + MEMBERS_PER_CALL]
            self.call("POST", f"/v1/servers/{server}/members", {"accids": accids})
        return server


def _base64url(raw: bytes) -> str:
    return base64.urlsafe_b64encode(raw).rstrip(b"=").decode()
