"""Starts a broker and a receiver, sends, and reads what arrives with libraries of others: check.py BELFRY."""
import base64
import http.server
import json
import os
import pathlib
import secrets
import socket
import subprocess
import sys
import tempfile
import threading
import time
import urllib.error
import urllib.request

from cloudevents.http import from_http
from standardwebhooks.webhooks import Webhook, WebhookVerificationError

CALLBACK_SECRET = "whsec_" + base64.b64encode(secrets.token_bytes(32)).decode()


class Receiver(http.server.ThreadingHTTPServer):
    """Keeps what is posted to it, by path; answers callbacks with `allow`."""

    daemon_threads = True

    def __init__(self):
        super().__init__(("127.0.0.1", 0), Handler)
        self.received = []
        self.changed = threading.Condition()

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
        with self.server.changed:
            self.server.received.append((self.path, dict(self.headers.items()), body))
            self.server.changed.notify_all()
        answer = b'{"decision": "allow", "callbackExt": "seen"}' if self.path == "/before" else b""
        self.send_response(200)
        self.send_header("Content-Length", str(len(answer)))
        self.end_headers()
        self.wfile.write(answer)

    def log_message(self, *arguments):
        pass


def verified(secret, received):
    _, headers, body = received
    return Webhook(secret).verify(body, {name.lower(): value for name, value in headers.items()})


def refuses(secret, received):
    try:
        verified(secret, received)
    except WebhookVerificationError:
        return
    sys.exit("a signature by another secret was accepted")


def check(belfry, folder):
    receiver = Receiver()
    threading.Thread(target=receiver.serve_forever, daemon=True).start()
    to = f"http://127.0.0.1:{receiver.server_port}"
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    callbacks = [
        {"url": to + "/before", "secret": CALLBACK_SECRET, "events": ["notification.send"], "onFailure": "deny"}
    ]
    environment = os.environ | {
        "BELFRY_LISTEN": f"127.0.0.1:{port}", "BELFRY_DATA": str(folder / "data"),
        "BELFRY_CALLBACKS": json.dumps(callbacks), "BELFRY_WEBHOOKS_ALLOWED_NETWORKS": '["127.0.0.0/8"]',
    }
    with open(folder / "log", "wb") as log:
        broker = subprocess.Popen([belfry, "serve"], env=environment, stderr=log)
    try:
        url = f"http://127.0.0.1:{port}"
        wait_until_ready(url, broker, folder)

        def token(*words):
            return subprocess.run(
                [belfry, "token", "--data", folder / "data", *words], check=True, capture_output=True, text=True
            ).stdout.strip()

        app, alice = token("--sub", "backend", "--role", "app"), token("--sub", "alice")

        def ask(method, path, who, body=None):
            request = urllib.request.Request(
                url + path, method=method, data=None if body is None else json.dumps(body).encode(),
                headers={"Authorization": "Bearer " + who, "Content-Type": "application/json"})
            with urllib.request.urlopen(request) as answer:
                return json.loads(answer.read() or b"null")

        own = ask("POST", "/v1/webhooks", app, {"url": to + "/own"})
        events = ask("POST", "/v1/webhooks", app, {"url": to + "/events", "format": "cloudevents"})
        sent = ask("POST", "/v1/notifications", alice, {"toAccids": ["bob"], "body": "Grüße"})

        asked = receiver.wait("/before", 1)[0]
        assert verified(CALLBACK_SECRET, asked)["notification"]["body"] == "Grüße"
        refuses(own["secret"], asked)

        copy = receiver.wait("/own", 1)[0]
        data = verified(own["secret"], copy)["data"]
        assert data["notification"]["messageServerId"] == sent["messageServerId"]
        assert data["notification"]["callbackExt"] == "seen"
        refuses(events["secret"], copy)

        post = receiver.wait("/events", 1)[0]
        verified(events["secret"], post)
        event = from_http(post[1], post[2])
        assert event["id"] == sent["messageServerId"] and event["source"] == "account:bob", event
        assert event["type"] == "notification.sent" and event.data["body"] == "Grüße", event

        rotated = ask("POST", f"/v1/webhooks/{own['webhookId']}/rotate", app)
        ask("POST", "/v1/notifications", alice, {"toAccids": ["bob"], "body": "again"})
        both = receiver.wait("/own", 2)[1]
        verified(own["secret"], both)
        verified(rotated["secret"], both)
        refuses(CALLBACK_SECRET, both)
    finally:
        broker.terminate()
        broker.wait()
    print("callbacks and webhooks: read and verified by standardwebhooks and cloudevents")


def wait_until_ready(url, broker, folder):
    for _ in range(600):
        if broker.poll() is not None:
            sys.exit((folder / "log").read_text())
        try:
            with urllib.request.urlopen(url + "/readyz"):
                return
        except OSError:
            time.sleep(0.05)
    sys.exit("the broker does not become ready")


if __name__ == "__main__":
    with tempfile.TemporaryDirectory(prefix="belfry-webhooks-") as name:
        check(os.path.abspath(sys.argv[1]), pathlib.Path(name))
