"""Sends what two readers can understand in two ways through nginx and HAProxy to a broker, over connections that they keep.

    smuggling.py BELFRY

Each request has another behind it, `GET /healthz`. Between proxy and broker stands a relay that counts the broker's answers.
None may come that the proxy did not pass on as an answer of its own to the same caller, and whoever asks next for `/readyz`
gets the answer to that.
"""
import contextlib
import os
import re
import shutil
import socket
import subprocess
import sys
import tempfile
import threading
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "shared"))
from broker import Broker  # noqa: E402
from cases import cases  # noqa: E402
from ports import HeldPort  # noqa: E402

BEHIND = b"GET /healthz HTTP/1.1\r\nHost: t\r\n\r\n"
NGINX = """
worker_processes 1; daemon off; pid {folder}/pid; error_log {folder}/error.log;
events {{ worker_connections 512; }}
http {{
  access_log off; client_body_temp_path {folder}/body; proxy_temp_path {folder}/proxy; fastcgi_temp_path {folder}/fastcgi;
  uwsgi_temp_path {folder}/uwsgi; scgi_temp_path {folder}/scgi;
  upstream belfry {{ server 127.0.0.1:{relay}; keepalive 1; }}
  server {{
    listen 127.0.0.1:{port};
    location / {{
      proxy_pass http://belfry; proxy_http_version 1.1; proxy_set_header Connection ""; proxy_set_header Host $host;
      proxy_request_buffering off; proxy_read_timeout 3s;
    }}
  }}
}}
"""
HAPROXY = """
defaults
  mode http
  timeout connect 2s
  timeout http-request 3s
  timeout client 5s
  timeout server 3s
frontend belfry
  bind 127.0.0.1:{port}
  default_backend brokers
backend brokers
  http-reuse always
  server one 127.0.0.1:{relay} pool-max-conn 1
"""


class Relay:
    """Passes bytes on, and keeps what the broker said."""

    def __init__(self, port):
        self._port, self._listener = port, socket.create_server(("127.0.0.1", 0))
        self.port = self._listener.getsockname()[1]
        self.connections, self.said, self._lock = 0, b"", threading.Lock()
        threading.Thread(target=self._accept, daemon=True).start()

    def taken(self):
        with self._lock:
            said, self.said = self.said, b""
        return said

    def _accept(self):
        while True:
            proxy, _ = self._listener.accept()
            self.connections += 1
            broker = socket.create_connection(("127.0.0.1", self._port))
            threading.Thread(target=self._pass_on, args=(proxy, broker, False), daemon=True).start()
            threading.Thread(target=self._pass_on, args=(broker, proxy, True), daemon=True).start()

    def _pass_on(self, source, target, is_said):
        with contextlib.suppress(OSError):
            while piece := source.recv(65536):
                if is_said:
                    with self._lock:
                        self.said += piece
                target.sendall(piece)
        with contextlib.suppress(OSError):
            target.shutdown(socket.SHUT_WR)


def asked(port, request, seconds):
    """All that is answered until the connection ends, or for so long after the last bytes."""
    whole = b""
    with socket.create_connection(("127.0.0.1", port), 5) as connection:
        connection.settimeout(seconds)
        with contextlib.suppress(OSError):
            connection.sendall(request)
            while piece := connection.recv(65536):
                whole += piece
    return whole


def is_ready(answer):
    return answer.startswith(b"HTTP/1.1 200") and b'"status":"ready"' in answer


def victim(port):
    return asked(port, b"GET /readyz HTTP/1.1\r\nHost: t\r\nConnection: close\r\n\r\n", 5)


def bodies(answers):
    """How often the answer to what stands behind is in it."""
    return len(re.findall(rb"\r\n\r\n[^\r\n]*\"status\":\"ok\"", answers))


@contextlib.contextmanager
def proxy(name, configuration, arguments, relay):
    folder, held_port = tempfile.mkdtemp(prefix="belfry-proxy-"), HeldPort()
    port = held_port.number
    os.chmod(folder, 0o777)
    path = os.path.join(folder, "configuration")
    with open(path, "w") as file:
        file.write(configuration.format(folder=folder, port=port, relay=relay.port))
    process = subprocess.Popen([*arguments, path], stdin=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        for _ in range(600):
            with contextlib.suppress(OSError):
                if is_ready(victim(port)):
                    break
            time.sleep(0.05)
        else:
            sys.exit(f"{name} does not answer")
        yield port
    finally:
        process.terminate()
        process.wait(30)
        held_port.release()
        shutil.rmtree(folder, ignore_errors=True)


def check(name, port, relay):
    before = relay.connections
    if not all(is_ready(victim(port)) for _ in range(20)):
        return [f"{name}: an honest request is not answered"]
    made = relay.connections - before
    if made > 5:
        return [f"{name}: 20 requests took {made} connections to the broker: it keeps none"]
    wrong, reached = [], 0
    for case, request in cases():
        relay.taken()
        got = asked(port, request + BEHIND, 0.3)
        nexts = [victim(port) for _ in range(2)]
        said = relay.taken()
        reached += said.count(b"HTTP/1.1 ") > 2
        if not all(is_ready(answer) for answer in nexts):
            wrong.append(f"{name}: {case}: the next caller got {[answer[:200] for answer in nexts]}")
        elif bodies(said) > bodies(got):
            wrong.append(f"{name}: {case}: what stands behind was answered by the broker, and not to who sent it")
        elif bodies(got) and got.count(b"HTTP/1.1 ") != 2:
            wrong.append(f"{name}: {case}: {got.count(b'HTTP/1.1 ')} answers to two requests")
        elif said.count(b"HTTP/1.1 ") > 2 + max(got.count(b"HTTP/1.1 "), 1):
            wrong.append(f"{name}: {case}: the broker gave more answers than were asked for")
    print(f"{name}: {len(cases())} requests, {reached} of them reached the broker, {len(wrong)} wrong; "
          f"{relay.connections - before} connections to the broker")
    return wrong


def main(program):
    wrong = []
    with Broker(program) as broker:
        for name, configuration, arguments in (
                ("nginx", NGINX, ["nginx", "-c"]), ("HAProxy", HAPROXY, ["haproxy", "-f"])):
            relay = Relay(broker.port)
            with proxy(name, configuration, arguments, relay) as port:
                wrong += check(name, port, relay)
    sys.exit("\n".join(wrong) or 0)


if __name__ == "__main__":
    main(*sys.argv[1:])
