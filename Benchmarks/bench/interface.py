"""Belfry's HTTP interface, for setting up what is measured, and for what is counted and not timed."""

import base64
import hashlib
import hmac
import http.client
import json
import ssl
import time
from pathlib import Path

from .failure import Failure

MEMBERS_PER_CALL = 1_000
TOKEN_SECONDS = 86_400


class Interface:
    def __init__(self, port: int, secret_file: Path, tls: ssl.SSLContext | None = None):
        self.port = port
        self.secret = secret_file.read_bytes().strip()
        self.app = self.token("bench", role="app")
        if tls:
            self._connection = http.client.HTTPSConnection("127.0.0.1", port, timeout=300, context=tls)
        else:
            self._connection = http.client.HTTPConnection("127.0.0.1", port, timeout=300)

    def token(self, subject: str, **claims: str) -> str:
        """What `belfry token` prints; made here because thousands are needed."""
        parts = [
            {"alg": "HS256", "typ": "JWT"},
            {"sub": subject, "exp": int(time.time()) + TOKEN_SECONDS, **claims},
        ]
        text = ".".join(_base64url(json.dumps(part, separators=(",", ":")).encode()) for part in parts)
        return f"{text}.{_base64url(hmac.digest(self.secret, text.encode(), hashlib.sha256))}"

    def call(self, method: str, path: str, body: object = None, *, account: str = "", token: str = ""):
        """As an application, unless there is a token; in the name of an account, if there is one. Bytes are lines of
        JSON, all else is made into JSON."""
        headers = {"Authorization": f"Bearer {token or self.app}"}
        if account:
            headers["Belfry-Account"] = account
        if body is not None:
            headers["Content-Type"] = "application/x-ndjson" if isinstance(body, bytes) else "application/json"
        payload = body if body is None or isinstance(body, bytes) else json.dumps(body).encode()
        answer = self._ask(method, path, payload, headers)
        text = answer.read()
        if answer.status >= 300:
            raise Failure(f"{method} {path}: {answer.status} {text.decode(errors='replace')[:1000]}")
        return json.loads(text) if text and answer.getheader("Content-Type") == "application/json" else text

    def _ask(self, method: str, path: str, payload: bytes | None, headers: dict[str, str]):
        for is_last_try in (False, True):
            try:
                self._connection.request(method, path, payload, headers)
                return self._connection.getresponse()
            except (ConnectionError, http.client.RemoteDisconnected):
                # The broker closes what has been idle for a while, such as during a round.
                self._connection.close()
                if is_last_try:
                    raise

    def new_server(self, members: list[str], name: str = "bench") -> str:
        """Its owner is its first member."""
        server = self.call("POST", "/v1/servers", {"name": name}, account=members[0])["serverId"]
        for start in range(1, len(members), MEMBERS_PER_CALL):
            accids = members[start : start + MEMBERS_PER_CALL]
            self.call("POST", f"/v1/servers/{server}/members", {"accids": accids})
        return server


def _base64url(raw: bytes) -> str:
    return base64.urlsafe_b64encode(raw).rstrip(b"=").decode()
