"""TLS beside plain HTTP: what a connection and a waiting consumer cost, and deliveries while thousands shake hands."""

import multiprocessing
import os
import selectors
import socket
import ssl
import statistics
import subprocess
import time
from pathlib import Path

from .. import machine, words
from ..broker import Broker
from ..failure import Failure
from ..figures import Figure
from ..section import Section
from ..setting import Run

HOST = "127.0.0.1"
REQUEST = b"GET /healthz HTTP/1.1\r\nHost: bench\r\nConnection: close\r\n\r\n"


class Certificate:
    """On P-256, for the loopback's address, signed by itself."""

    def __init__(self, folder: Path):
        self.file, self.key = folder / "certificate.pem", folder / "key.pem"
        subprocess.run(
            "openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -days 2 -subj /CN=bench"
            f" -addext subjectAltName=IP:{HOST} -keyout {self.key} -out {self.file}".split(),
            check=True,
            stderr=subprocess.DEVNULL,
        )
        self.environment = {
            "BELFRY_TLS_CERTIFICATE_FILE": str(self.file),
            "BELFRY_TLS_KEY_FILE": str(self.key),
        }

    def context(self) -> ssl.SSLContext:
        return ssl.create_default_context(cafile=str(self.file))


def measure(run: Run) -> list[Section]:
    certificate = Certificate(run.new_folder("tls"))
    return [_connections(run, certificate), _consumers(run, certificate), _storm(run, certificate)]


def _broker(run: Run, certificate: Certificate | None) -> Broker:
    if not certificate:
        return Broker(run)
    return Broker(run, environment=certificate.environment, tls=certificate.context())


def _connect(port: int, context: ssl.SSLContext | None, session: ssl.SSLSession | None = None) -> socket.socket:
    connection = socket.create_connection((HOST, port), timeout=60)
    return context.wrap_socket(connection, server_hostname=HOST, session=session) if context else connection


# --- A connection -----------------------------------------------------------------------------------------


def _connections(run: Run, certificate: Certificate) -> Section:
    count = 200 if run.is_quick else 1_000
    plain, encrypted = _broker(run, None), _broker(run, certificate)
    kinds = {
        "plain HTTP": (plain, None, False),
        "TLS 1.3, a full handshake": (encrypted, certificate.context(), False),
        "TLS 1.3, resumed": (encrypted, certificate.context(), True),
    }
    rounds: dict[str, list[float]] = {name: [] for name in kinds}
    for _ in range(run.rounds):
        for name, (broker, context, resumes) in kinds.items():
            rounds[name].append(_spent_each(broker, context, resumes, count))
    section = Section(
        title="A connection by TLS",
        what=f"Processor time of the broker for a connection with one request, {count:,} of them one after the other,"
        " on one loop; the certificate is on P-256.",
        columns=["", "µs of broker", "that many a second take one core", "× plain HTTP"],
    )
    figures = {name: Figure(tuple(values)) for name, values in rounds.items()}
    base = figures["plain HTTP"]
    for name, figure in figures.items():
        section.row(name, figure, Figure(tuple(1e6 / value for value in figure.values)), figure / base)
    plain.stop()
    encrypted.stop()
    return section


def _spent_each(broker: Broker, context: ssl.SSLContext | None, resumes: bool, count: int) -> float:
    session, before = None, machine.spent_seconds([broker.process.id])
    for _ in range(count):
        connection = _connect(broker.port, context, session)
        connection.sendall(REQUEST)
        while connection.recv(65_536):
            pass
        if resumes:
            session = connection.session
        connection.close()
    return (machine.spent_seconds([broker.process.id]) - before) / count * 1e6


# --- A consumer that waits --------------------------------------------------------------------------------


def _consumers(run: Run, certificate: Certificate) -> Section:
    count = 500 if run.is_quick else 4_000
    section = Section(
        title="Memory of a consumer by TLS that waits",
        what=f"Resident memory of the broker, after less before, with {count:,} idle streams of as many accounts.",
        columns=["", "KiB of broker each", "× plain HTTP"],
    )
    plain = Figure((_held(run, None, count),))
    encrypted = Figure((_held(run, certificate, count),))
    section.row("plain HTTP", plain, "1")
    section.row("TLS 1.3", encrypted, encrypted / plain)
    return section


def _held(run: Run, certificate: Certificate | None, count: int) -> float:
    broker = _broker(run, certificate)
    accounts = [f"i{number}" for number in range(count)]
    broker.new_server(accounts)
    context = certificate.context() if certificate else None
    before = machine.resident_bytes(broker.process.id)
    held = []
    for account in accounts:
        connection = _connect(broker.port, context)
        connection.sendall(words.stream(broker.token(account)))
        while b"retry: " not in connection.recv(65_536):
            pass
        held.append(connection)
    # What the handshakes needed is given back a little later.
    time.sleep(2)
    after = machine.resident_bytes(broker.process.id)
    for connection in held:
        connection.close()
    broker.stop()
    return (after - before) / count / 1024


# --- Deliveries while thousands come ----------------------------------------------------------------------


def _storm(run: Run, certificate: Certificate) -> Section:
    count = 500 if run.is_quick else 5_000
    section = Section(
        title="Deliveries while thousands shake hands",
        what="From a post to its delivery, one after the other, over connections that are open already: while"
        f" nobody else comes, and while {count:,} come at once, each with one request. One loop.",
        columns=["", "deliveries", "p50, ms", "p99, ms", "longest, ms", "all have come after, s"],
    )
    for name, one in (("plain HTTP", None), ("TLS 1.3", certificate)):
        broker = _broker(run, one)
        quiet = _deliveries(broker, one, seconds=1)
        make = multiprocessing.get_context("fork")
        ready, begin, took = make.Event(), make.Event(), make.Value("d", 0)
        crowd = make.Process(target=_come_at_once, args=(run.generator_core, broker.port, one, count, ready, begin, took))
        crowd.start()
        ready.wait()
        busy = _deliveries(broker, one, crowd=crowd, begin=begin)
        crowd.join()
        section.row(f"{name}, nobody else", *_percentiles(quiet), "")
        section.row(f"{name}, {count:,} come", *_percentiles(busy), Figure((took.value,)))
        broker.stop()
    return section


def _percentiles(times: list[float]) -> list[Figure]:
    if not times:
        raise Failure("there was no delivery while they came")
    ordered = sorted(times)
    found = (statistics.median(ordered), ordered[len(ordered) * 99 // 100], ordered[-1])
    return [Figure((len(ordered),)), *(Figure((value * 1e3,)) for value in found)]


def _deliveries(broker: Broker, certificate: Certificate | None, seconds: float = 0, crowd=None, begin=None) -> list[float]:
    """For so long, or until the crowd has what it came for."""
    stream = _connect(broker.port, certificate.context() if certificate else None)
    stream.sendall(words.stream(broker.token("reader")))
    while b"retry: " not in stream.recv(65_536):
        pass
    if begin:
        begin.set()
    times: list[float] = []
    end = time.monotonic() + seconds
    while (crowd and crowd.is_alive()) or time.monotonic() < end:
        mark, sent = f"n{len(times)}.", time.monotonic()
        broker.call("POST", "/v1/notifications", {"toAccids": ["reader"], "body": mark})
        while mark.encode() not in stream.recv(65_536):
            pass
        times.append(time.monotonic() - sent)
    stream.close()
    return times


class _Comer:
    """One of those that come at once. Its first words are ready before it may speak."""

    def __init__(self, port: int, context: ssl.SSLContext | None):
        self.socket = socket.create_connection((HOST, port), timeout=60)
        self.socket.setblocking(False)
        self.incoming, self.outgoing = ssl.MemoryBIO(), ssl.MemoryBIO()
        self.tls = context.wrap_bio(self.incoming, self.outgoing, server_hostname=HOST) if context else None
        self.has_asked = False
        if self.tls:
            self._advance()

    def _advance(self) -> None:
        try:
            self.tls.do_handshake()
            self.tls.write(REQUEST)
            self.has_asked = True
        except ssl.SSLWantReadError:
            pass

    def begin(self) -> None:
        self.socket.send(self.outgoing.read() if self.tls else REQUEST)

    def go_on(self) -> bool:
        """Whether it has its answer."""
        piece = self.socket.recv(65_536)
        if not piece:
            return True
        if self.tls and not self.has_asked:
            self.incoming.write(piece)
            self._advance()
            if self.outgoing.pending:
                self.socket.send(self.outgoing.read())
        return False


def _come_at_once(core: int, port: int, certificate: Certificate | None, count: int, ready, begin, took) -> None:
    # Whoever measures beside it goes first: what is asked is how the broker shares its time, not how this machine does.
    os.sched_setaffinity(0, {core})
    os.nice(15)
    context = certificate.context() if certificate else None
    comers = [_Comer(port, context) for _ in range(count)]
    ready.set()
    begin.wait()
    start = time.monotonic()
    waiting = selectors.DefaultSelector()
    for comer in comers:
        comer.begin()
        waiting.register(comer.socket, selectors.EVENT_READ, comer)
    left = count
    while left:
        for key, _ in waiting.select():
            if key.data.go_on():
                waiting.unregister(key.data.socket)
                key.data.socket.close()
                left -= 1
    took.value = time.monotonic() - start
