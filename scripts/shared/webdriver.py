"""A headless Chromium, driven by chromedriver over the W3C's WebDriver protocol (https://www.w3.org/TR/webdriver2/)."""
import base64
import json
import os
import re
import subprocess
import tempfile
import time
import urllib.error
import urllib.request

ELEMENT = "element-6066-11e4-a52e-4f735466cecf"     # how an element is named in the protocol
PATIENCE = 120      # seconds for what takes a few, the start of a browser included: not for ever


class BrowserError(Exception):
    pass


class Chromium:
    def __init__(self, width=640, height=360):
        self.folder = tempfile.TemporaryDirectory(prefix="chromium-", ignore_cleanup_errors=True)
        self.log_path = os.path.join(self.folder.name, "chromedriver.log")
        self.driver = None
        try:
            self.url = f"http://127.0.0.1:{self._start_driver()}"
            session = self._new_session(width, height)
        except BaseException:
            if self.driver:
                self.driver.kill()
                self.driver.wait()
            raise
        self.url += f"/session/{session['sessionId']}"
        self._empty_tab = self._ask("GET", "/window")

    def _new_session(self, width, height, tries=3):
        for number in range(tries):
            arguments = [
                # Root, as CI is, may run it without its sandbox only; a container has a small /dev/shm.
                "--headless=new", "--no-sandbox", "--disable-dev-shm-usage", "--disable-gpu", "--hide-scrollbars",
                f"--user-data-dir={self.folder.name}/{number}", f"--window-size={width},{height}"]
            try:
                return self._ask("POST", "/session", {"capabilities": {"alwaysMatch": {
                    "browserName": "chrome", "goog:chromeOptions": {"args": arguments},
                    "goog:loggingPrefs": {"browser": "ALL"}}}})
            except BrowserError:
                # chromedriver waits a minute for a browser, which a busy machine may not start in that time.
                if number + 1 == tries:
                    raise

    def _start_driver(self, tries=5):
        """Gives the port, which chromedriver chooses itself. It takes one that is free for IPv6, and ends if another program has
        the same one for IPv4, as happens on a machine with many sockets."""
        for number in range(tries):
            with open(self.log_path, "wb") as log:
                self.driver = subprocess.Popen(
                    ["chromedriver", "--port=0"], stdin=subprocess.DEVNULL, stdout=log, stderr=subprocess.STDOUT)
            try:
                return self._wait_for_port()
            except BrowserError as error:
                if number + 1 == tries or "Address already in use" not in str(error):
                    raise

    def _wait_for_port(self):
        end = time.monotonic() + PATIENCE
        while True:
            with open(self.log_path, encoding="utf-8", errors="replace") as log:
                text = log.read()
            if found := re.search(r"started successfully on port (\d+)", text):
                return int(found.group(1))
            if time.monotonic() > end or self.driver.poll() is not None:
                raise BrowserError(f"chromedriver does not start:\n{text}")
            time.sleep(0.05)

    def _ask(self, method, path, body=None):
        request = urllib.request.Request(
            self.url + path, method=method, data=None if body is None else json.dumps(body).encode(),
            headers={"Content-Type": "application/json"})
        try:
            with urllib.request.urlopen(request, timeout=PATIENCE) as answer:
                return json.load(answer)["value"]
        except urllib.error.HTTPError as error:
            raise BrowserError(json.load(error)["value"]["message"].splitlines()[0]) from None

    def open_tab(self, url):
        """A tab of its own, which the calls after this are about; its name."""
        tab = self._ask("POST", "/window/new", {"type": "tab"})["handle"]
        self.turn_to(tab)
        self._ask("POST", "/url", {"url": url})
        return tab

    def turn_to(self, tab):
        self._ask("POST", "/window", {"handle": tab})

    def close_tab(self, tab):
        self.turn_to(tab)
        self._ask("DELETE", "/window")
        # Without a tab that is there nothing can be asked, not even for a new one.
        self.turn_to(self._empty_tab)

    def _element(self, selector):
        return self._ask("POST", "/element", {"using": "css selector", "value": selector})[ELEMENT]

    def type(self, selector, text):
        self._ask("POST", f"/element/{self._element(selector)}/value", {"text": text})

    def click(self, selector):
        self._ask("POST", f"/element/{self._element(selector)}/click", {})

    def run(self, script):
        """What the script returns."""
        return self._ask("POST", "/execute/sync", {"script": script, "args": []})

    def picture(self):
        """PNG."""
        return base64.b64decode(self._ask("GET", "/screenshot"))

    def console(self):
        """What the pages have complained of."""
        return [entry["message"] for entry in self._ask("POST", "/se/log", {"type": "browser"})]

    def close(self):
        try:
            self._ask("DELETE", "")
        except (BrowserError, OSError):
            pass
        self.driver.terminate()
        self.driver.wait(PATIENCE)
        self.folder.cleanup()
