"""What the checks share: a broker, a receiver, requests."""
import contextlib
import http.server
import json
import os
import pathlib
import subprocess
import sys
import threading
import time
import urllib.error
import urllib.request

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "shared"))
from ports import HeldPort  # noqa: E402


class Receiver(http.server.ThreadingHTTPServer):
    """Keeps what is posted to it, by path, and answers with `answer(path, headers, body)`: a status and bytes."""

    daemon_threads = True

    def __init__(self, answer):
        super().__init__(("127.0.0.1", 0), Handler)
        self.answer = answer
        self.received = []
        self.changed = threading.Condition()
        threading.Thread(target=self.serve_forever, daemon=True).start()

    @property
    def url(self):
        return f"http://127.0.0.1:{self.server_port}"

    def at(self, path):
        with self.changed:
            return [each for each in self.received if each[0] == path]

    def handle_error(self, request, client_address):
        """A broker that ends closes its connections: no fault of anybody's."""

    def wait(self, path, count, seconds=30):
        deadline = time.monotonic() + seconds
        with self.changed:
            while True:
                found = [each for each in self.received if each[0] == path]
                if len(found) >= count:
                    return found
                if not self.changed.wait(max(deadline - time.monotonic(), 0)):
                    sys.exit(f"{len(found)} of {count} arrived at {path}")


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_POST(self):
        body = self.rfile.read(int(self.headers["Content-Length"]))
        received = (self.path, dict(self.headers.items()), body)
        with self.server.changed:
            self.server.received.append(received)
            self.server.changed.notify_all()
        status, answer = self.server.answer(*received)
        self.send_response(status)
        self.send_header("Content-Length", str(len(answer)))
        self.end_headers()
        self.wfile.write(answer)

    def log_message(self, *arguments):
        pass


class Broker:
    def __init__(self, belfry, folder, url, pid):
        self.belfry, self.folder, self.url, self.pid = belfry, folder, url, pid

    def token(self, *words):
        return subprocess.run(
            [self.belfry, "token", "--data", self.folder / "data", *words], check=True, capture_output=True, text=True
        ).stdout.strip()

    def ask(self, method, path, who, body=None):
        request = urllib.request.Request(
            self.url + path, method=method, data=None if body is None else json.dumps(body).encode(),
            headers={"Authorization": "Bearer " + who, "Content-Type": "application/json"})
        with urllib.request.urlopen(request) as answer:
            return json.loads(answer.read() or b"null")


@contextlib.contextmanager
def broker(belfry, folder, settings):
    """A broker that may reach the loopback, until the block ends."""
    belfry, folder = os.path.abspath(belfry), pathlib.Path(folder)
    held_port = HeldPort()
    environment = os.environ | {
        "BELFRY_LISTEN": f"127.0.0.1:{held_port.number}", "BELFRY_DATA": str(folder / "data"),
        "BELFRY_WEBHOOKS_ALLOWED_NETWORKS": '["127.0.0.0/8"]', "BELFRY_PUSH_ALLOWED_NETWORKS": '["127.0.0.0/8"]',
    } | settings
    with open(folder / "log", "wb") as log:
        process = subprocess.Popen([belfry, "serve"], env=environment, stderr=log)
    try:
        url = f"http://127.0.0.1:{held_port.number}"
        wait_until_ready(url, process, folder)
        yield Broker(belfry, folder, url, process.pid)
    finally:
        process.terminate()
        process.wait()
        held_port.release()


def wait_until_ready(url, process, folder):
    for _ in range(1200):
        if process.poll() is not None:
            sys.exit((folder / "log").read_text())
        try:
            with urllib.request.urlopen(url + "/readyz"):
                return
        except OSError:
            time.sleep(0.05)
    sys.exit("the broker does not become ready")
