"""slowhttptest in its four modes against a broker, while an honest client posts and follows: slow.py BELFRY

Posts and stream go on, all of them served, and their median within so many times what it is without an attack in the same run.
"""
import json
import os
import statistics
import subprocess
import sys
import threading
import time
import urllib.request

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "shared"))
from broker import Broker  # noqa: E402

MODES = {
    "slow headers": ["-H", "-u", "/readyz", "-i", "1", "-x", "16"],
    "slow body": ["-B", "-u", "/v1/notifications", "-i", "1", "-x", "16", "-s", "4096"],
    "range": ["-R", "-u", "/openapi.json", "-a", "5", "-b", "2000"],
    "slow read": ["-X", "-u", "/openapi.json", "-w", "64", "-y", "256", "-n", "1", "-z", "16", "-k", "3"],
}
SECONDS, CONNECTIONS, RATE = 8, 1000, 300
RATIO_MAX, LONGEST_SECONDS = 4, 1


class Honest:
    def __init__(self, broker):
        self._broker, self._app = broker, broker.token("office", "--role", "app")
        self.heard, self.is_broken = {}, False
        request = urllib.request.Request(
            broker.url + "/v1/notifications/stream", headers={"Authorization": f"Bearer {broker.token('bob')}"})
        self._stream = urllib.request.urlopen(request, timeout=60)
        threading.Thread(target=self._follow, daemon=True).start()

    def _follow(self):
        try:
            for line in self._stream:
                if line.startswith(b"data: ") and b'"body"' in line:
                    self.heard[json.loads(line[6:])["body"]] = time.monotonic()
        finally:
            self.is_broken = True

    def posts(self, seconds, mark):
        """How long each post took to be answered, and to be heard."""
        answered, sent, end = [], {}, time.monotonic() + seconds
        while time.monotonic() < end:
            body = f"{mark}-{len(sent)}"
            sent[body] = time.monotonic()
            status, _, text = self._broker.ask(
                "POST", "/v1/notifications", {"Authorization": f"Bearer {self._app}", "Content-Type": "application/json"},
                json.dumps({"toAccids": ["bob"], "body": body}))
            if status != 201:
                raise RuntimeError(f"{status}: {text}")
            answered.append(time.monotonic() - sent[body])
            time.sleep(0.02)
        time.sleep(0.5)
        missing = [body for body in sent if body not in self.heard]
        if missing or self.is_broken:
            raise RuntimeError(f"{len(missing)} of {len(sent)} posts were not heard{', the stream broke' * self.is_broken}")
        return answered, [self.heard[body] - at for body, at in sent.items()]


def connections_to(broker):
    """That its port has."""
    with open("/proc/net/tcp", encoding="ascii") as file:
        rows = [line.split() for line in file]
    return sum(row[1].endswith(f":{broker.port:04X}") and row[3] == "01" for row in rows[1:])


def figures(times):
    return f"median {statistics.median(times) * 1000:.1f} ms, longest {max(times) * 1000:.0f} ms"


def main(program):
    wrong = []
    with Broker(program) as broker:
        honest = Honest(broker)
        honest.posts(1, "warm")
        before = [statistics.median(times) for times in honest.posts(4, "before")]
        print(f"without an attack: answered in {before[0] * 1000:.1f} ms, heard in {before[1] * 1000:.1f} ms")
        for name, options in MODES.items():
            place = options.index("-u") + 1
            options = [*options[:place], broker.url + options[place], *options[place + 1:]]
            if name == "slow body":
                # Without a token the broker would not wait for a body. There is no option for headers, but one for this value.
                options += ["-f", f"application/json\r\nAuthorization: Bearer {broker.token('mallory')}"]
            attack = subprocess.Popen(
                ["slowhttptest", *options, "-c", str(CONNECTIONS), "-r", str(RATE), "-l", str(SECONDS), "-v", "0"],
                stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
            try:
                time.sleep(1)
                if attack.poll() not in (None, 0):
                    sys.exit(f"slowhttptest ended with {attack.returncode}")
                held = connections_to(broker)
                times = honest.posts(SECONDS - 2, name)
            except (RuntimeError, OSError) as error:
                wrong.append(f"{name}: {error}")
                continue
            finally:
                attack.terminate()
                attack.wait()
            ratios = [statistics.median(one) / base for one, base in zip(times, before)]
            print(f"{name}: {held} connections held; {len(times[0])} posts; answered: {figures(times[0])} ({ratios[0]:.1f} times); "
                  f"heard: {figures(times[1])} ({ratios[1]:.1f} times)")
            if max(ratios) > RATIO_MAX or max(map(max, times)) > LONGEST_SECONDS:
                wrong.append(f"{name}: others wait too long")
    sys.exit("\n".join(wrong) or 0)


if __name__ == "__main__":
    main(*sys.argv[1:])
