"""Requests over the standard library's HTTP: identity, tries, refusals."""
import http.client
import select
import socket
import ssl
import threading
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from random import random
from typing import TypeVar
from urllib.parse import urlencode, urlsplit

from .errors import BelfryError, refusal
from .policy import Backoff
from .tokens import TokenStore

Answer = TypeVar("Answer")

#: An answer to a request. The largest honest one is a page of 500 notifications at all their limits, some 30 MB.
ANSWER_BYTES_MAX = 64 * 1024 * 1024
#: What a request waits between its own tries; longer waits are the caller's to decide on.
REQUEST_RETRY_AFTER_SECONDS_MAX = 5
#: How long a connection may take to be made.
CONNECT_SECONDS = 10
#: Connections that are kept open for the next request.
IDLE_CONNECTIONS_MAX = 8


@dataclass(frozen=True)
class Timing:
    """How long the client waits."""

    #: A request without an answer. Long polls add what they asked the broker to wait.
    answer_seconds: float = 30
    #: A stream without a byte: three of the broker's heartbeats, which come every 15 s.
    stream_silence_seconds: float = 45
    backoff: Backoff = Backoff()


@dataclass
class Request:
    method: str
    path: str
    query: Mapping[str, str | int | None] = field(default_factory=dict)
    headers: dict[str, str] = field(default_factory=dict)
    body: bytes | None = None
    #: Done twice it is done once, so a lost answer may be asked for again.
    is_repeatable: bool = False
    #: How long the broker may hold the request on purpose.
    hold_seconds: float = 0

    @property
    def target(self) -> str:
        query = {name: value for name, value in self.query.items() if value is not None}
        return self.path + ("?" + urlencode(query) if query else "")


class Transport:
    """Connections to one broker. Any thread may use it at any time."""

    def __init__(
        self, url: str, tokens: TokenStore, headers: Mapping[str, str], timing: Timing, ssl_context: ssl.SSLContext | None
    ):
        parts = urlsplit(url)
        if parts.scheme not in ("http", "https") or not parts.hostname or parts.username is not None:
            raise ValueError(f"{url!r} is not an http or https URL")
        self.url, self.tokens, self.timing = url, tokens, timing
        self._scheme, self._host, self._port = parts.scheme, parts.hostname, parts.port
        self._prefix = parts.path.rstrip("/")
        self._headers = dict(headers)
        self._ssl = ssl_context or ssl.create_default_context() if parts.scheme == "https" else None
        self._idle: list[http.client.HTTPConnection] = []
        self._lock = threading.Lock()
        self._is_closed = False

    def close(self) -> None:
        with self._lock:
            self._is_closed = True
            idle, self._idle = self._idle, []
        for connection in idle:
            connection.close()

    def connection(self) -> http.client.HTTPConnection:
        if self._ssl is not None:
            return http.client.HTTPSConnection(self._host, self._port, timeout=CONNECT_SECONDS, context=self._ssl)
        return http.client.HTTPConnection(self._host, self._port, timeout=CONNECT_SECONDS)

    def ask(self, request: Request, attempts_limit: int) -> bytes:
        """The body of a 2xx answer. Tries again what can safely be repeated."""
        failures = 0
        open_try: BelfryError | None = None
        while True:
            try:
                return self._with_token(lambda token: self._attempt(request, token))
            except BelfryError as last:
                failures += 1
                error = last.after(open_try)
                if request.method != "GET" and last.leaves_outcome_open:
                    open_try = last
                floor = error.retry_after or 0
                if not (request.is_repeatable and error.may_pass and failures < attempts_limit
                        and floor <= REQUEST_RETRY_AFTER_SECONDS_MAX):
                    if error is last:
                        raise
                    raise error from last
                time.sleep(self.timing.backoff.pause(failures, floor, random()))

    def open_stream(
        self, request: Request, silence_seconds: float, on_wire: Callable[[socket.socket], None]
    ) -> "Stream":
        """`on_wire` gets the socket before the answer comes, which may take long."""
        def attempt(token: str) -> Stream:
            connection = self.connection()
            try:
                with Lost(self.url, nothing_was_sent=True):
                    connection.connect()
                on_wire(connection.sock)
                answer, wire = self._exchange(request, connection, token, silence_seconds)
                if answer.status != 200:
                    raise refusal(answer.status, answer.headers.get("Retry-After"), _problem(answer, self._body(answer)))
                kind = answer.headers.get_content_type()
                if kind != "text/event-stream":
                    raise BelfryError("protocol", f"{self.url} answered with {kind}, not a stream", status=200)
                return Stream(connection, answer, wire, token, self.url)
            except BaseException:
                connection.close()
                raise

        return self._with_token(attempt)

    def _with_token(self, attempt: Callable[[str], Answer]) -> Answer:
        token = self.tokens.current()
        try:
            return attempt(token)
        except BelfryError as error:
            if error.status != 401 or not self.tokens.renewed(token):
                raise
        return attempt(self.tokens.current())

    def _attempt(self, request: Request, token: str) -> bytes:
        connection = self._reusable() or self.connection()
        is_reusable = False
        try:
            answer, _ = self._exchange(request, connection, token, self.timing.answer_seconds + request.hold_seconds)
            body = self._body(answer)
            is_reusable = not answer.will_close
        finally:
            if is_reusable:
                self._keep(connection)
            else:
                connection.close()
        if not 200 <= answer.status <= 299:
            raise refusal(answer.status, answer.headers.get("Retry-After"), _problem(answer, body))
        return body

    def _exchange(
        self, request: Request, connection: http.client.HTTPConnection, token: str, silence_seconds: float
    ) -> tuple[http.client.HTTPResponse, socket.socket]:
        """The head of the answer, and the socket: the connection lets go of it where the answer says that it closes."""
        headers = {"Authorization": f"Bearer {token}", **self._headers, **request.headers}
        if request.body is not None:
            headers.setdefault("Content-Type", "application/json")
        if connection.sock is None:
            with Lost(self.url, nothing_was_sent=True):
                connection.connect()
        with Lost(self.url):
            wire = connection.sock
            wire.settimeout(silence_seconds)
            connection.request(request.method, self._prefix + request.target, request.body, headers)
            return connection.getresponse(), wire

    def _body(self, answer: http.client.HTTPResponse) -> bytes:
        with Lost(self.url):
            body = answer.read(ANSWER_BYTES_MAX + 1)
            # A body that was cut off is short without a word when it is read up to a limit.
            if answer.length:
                raise http.client.IncompleteRead(body, answer.length)
        if len(body) > ANSWER_BYTES_MAX:
            raise BelfryError("protocol", f"the answer is longer than {ANSWER_BYTES_MAX} bytes")
        return body

    def _reusable(self) -> http.client.HTTPConnection | None:
        while True:
            with self._lock:
                if not self._idle:
                    return None
                connection = self._idle.pop()
            # Readable while nothing was asked: the broker has closed it.
            poll = select.poll()
            if connection.sock is not None:
                poll.register(connection.sock, select.POLLIN)
                if not poll.poll(0):
                    return connection
            connection.close()

    def _keep(self, connection: http.client.HTTPConnection) -> None:
        with self._lock:
            if not self._is_closed and len(self._idle) < IDLE_CONNECTIONS_MAX:
                self._idle.append(connection)
                return
        connection.close()


class Lost:
    """Turns what can happen to a connection into one error."""

    def __init__(self, url: str, nothing_was_sent: bool = False):
        self._url, self._nothing_was_sent = url, nothing_was_sent

    def __enter__(self) -> None:
        pass

    def __exit__(self, kind: object, error: BaseException | None, _: object) -> None:
        if isinstance(error, (OSError, http.client.HTTPException)):
            raise BelfryError(
                "transport", f"{self._url}: {_reason(error)}", nothing_was_sent=self._nothing_was_sent) from error


def _reason(error: OSError | http.client.HTTPException) -> str:
    """OpenSSL's own words name its source files and not what a reader can do."""
    if isinstance(error, ssl.SSLCertVerificationError):
        verdict = _CERTIFICATE_VERDICTS.get(error.verify_code)
        return verdict or f"the broker's certificate is not trusted: {error.verify_message}"
    if isinstance(error, ssl.SSLError) and error.reason:
        port = ", perhaps because this port speaks plain HTTP" if error.reason == "WRONG_VERSION_NUMBER" else ""
        return f"the TLS handshake failed{port}: {error.reason}"
    return str(error) or type(error).__name__


_CERTIFICATE_VERDICTS = {
    # X509_V_ERR_CERT_NOT_YET_VALID and X509_V_ERR_CERT_HAS_EXPIRED of OpenSSL.
    9: "the broker's certificate is not valid yet, by the clock of this machine",
    10: "the broker's certificate has expired, by the clock of this machine",
}


class Stream:
    """An answer that goes on. `hang_up` may be called by another thread than the one that reads."""

    def __init__(
        self, connection: http.client.HTTPConnection, answer: http.client.HTTPResponse, wire: socket.socket, token: str,
        url: str
    ):
        self.token = token
        self._connection, self._answer, self._wire, self._url = connection, answer, wire, url

    def read(self) -> bytes:
        """What has come, as soon as something has. Empty at the end."""
        with Lost(self._url):
            return self._answer.read1(64 * 1024)

    def hang_up(self) -> None:
        """Wakes the thread that reads."""
        hang_up(self._wire)

    def close(self) -> None:
        self._answer.close()
        self._connection.close()


def hang_up(wire: socket.socket) -> None:
    """Wakes a thread that waits for the socket."""
    try:
        wire.shutdown(socket.SHUT_RDWR)
    except OSError:
        pass


def _problem(answer: http.client.HTTPResponse, body: bytes) -> bytes:
    """The body if it is a problem document, as each of Belfry's refusals has one; otherwise nothing."""
    return body if answer.headers.get_content_type() == "application/problem+json" else b""
