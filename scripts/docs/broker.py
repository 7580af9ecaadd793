"""One broker with a Redis of its own in a temporary folder, for scripts that play something against it."""
import http.client
import json
import os
import shutil
import signal
import socket
import subprocess
import tempfile
import time


class Broker:
    def __init__(self, program, arguments=()):
        self.program = os.path.abspath(program)
        self.folder = tempfile.mkdtemp(prefix="belfry-docs-")
        self.data = os.path.join(self.folder, "data")
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            self.port = free.getsockname()[1]
        self.log = open(os.path.join(self.folder, "log"), "w+b")
        self.process = subprocess.Popen(
            [self.program, "serve", "--listen", f"127.0.0.1:{self.port}", "--data", self.data, *arguments],
            stdin=subprocess.DEVNULL, stdout=self.log, stderr=self.log, start_new_session=True)
        self._wait_until_ready()

    def _wait_until_ready(self, seconds=20):
        end = time.monotonic() + seconds
        while time.monotonic() < end and self.process.poll() is None:
            try:
                if self.ask("GET", "/readyz")[0] == 200:
                    return
            except OSError:
                pass
            time.sleep(0.05)
        with open(self.log.name, errors="replace") as log:
            raise RuntimeError(f"the broker did not start:\n{log.read()}")

    def token(self, subject, *options):
        arguments = [self.program, "token", "--data", self.data, "--sub", subject, *options]
        return subprocess.run(arguments, check=True, capture_output=True, text=True).stdout.strip()

    def ask(self, method, target, headers={}, body=None):
        """Status, headers and body of one answer."""
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=20)
        try:
            connection.request(method, target, body=body, headers=headers)
            answer = connection.getresponse()
            return answer.status, answer.headers, answer.read().decode()
        finally:
            connection.close()

    def stop(self):
        self.process.send_signal(signal.SIGTERM)
        try:
            self.process.wait(30)
        finally:
            self.log.close()
            shutil.rmtree(self.folder, ignore_errors=True)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.stop()
