"""One broker with a Redis of its own in a temporary folder, for scripts that play something against it.

    broker.py PROGRAM COMMAND...    runs a command beside a broker of that executable, and ends as the command does; it
                                    finds the broker by BELFRY_URL and BELFRY_DATA, and the executable by BELFRY
"""
import http.client
import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time

from ports import HeldPort


class Broker:
    def __init__(self, program, arguments=(), settings={}):
        self.program = os.path.abspath(program)
        self.folder = tempfile.mkdtemp(prefix="belfry-")
        self.data = os.path.join(self.folder, "data")
        self.held_port = HeldPort()
        self.port = self.held_port.number
        self.url = f"http://127.0.0.1:{self.port}"
        self.log = open(os.path.join(self.folder, "log"), "w+b")
        self.process = subprocess.Popen(
            [self.program, "serve", "--listen", f"127.0.0.1:{self.port}", "--data", self.data, *arguments],
            env={**os.environ, **settings}, stdin=subprocess.DEVNULL, stdout=self.log, stderr=self.log,
            start_new_session=True)
        self._wait_until_ready()

    def _wait_until_ready(self, seconds=60):
        end = time.monotonic() + seconds
        while time.monotonic() < end and self.process.poll() is None:
            try:
                if self.ask("GET", "/readyz")[0] == 200:
                    return
            except OSError:
                pass
            time.sleep(0.05)
        raise RuntimeError(f"the broker did not start:\n{self.last_lines()}")

    def last_lines(self, count=20):
        """Of its log."""
        with open(self.log.name, errors="replace") as log:
            return "".join(log.readlines()[-count:])

    def token(self, subject, *options):
        arguments = [self.program, "token", "--data", self.data, "--sub", subject, *options]
        return subprocess.run(arguments, check=True, capture_output=True, text=True).stdout.strip()

    def ask(self, method, target, headers={}, body=None):
        """Status, headers and body of one answer."""
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=60)
        try:
            connection.request(method, target, body=body, headers=headers)
            answer = connection.getresponse()
            return answer.status, answer.headers, answer.read().decode()
        finally:
            connection.close()

    def stop(self):
        """Its exit status: 0 if it has ended in order."""
        self.process.send_signal(signal.SIGTERM)
        try:
            return self.process.wait(30)
        finally:
            self.held_port.release()
            self.log.close()
            shutil.rmtree(self.folder, ignore_errors=True)

    def __enter__(self):
        return self

    def __exit__(self, kind, *_):
        status = self.stop()
        if status != 0 and kind is None:
            raise RuntimeError(f"the broker ended with {status}")


def main(program, *command):
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    with Broker(program) as broker:
        surroundings = {"BELFRY": broker.program, "BELFRY_URL": broker.url, "BELFRY_DATA": broker.data}
        status = subprocess.run(command, env=os.environ | surroundings).returncode
        if status != 0:
            print(f"The broker's log:\n{broker.last_lines()}", file=sys.stderr)
    sys.exit(status)


if __name__ == "__main__":
    main(*sys.argv[1:])
