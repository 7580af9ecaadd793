"""One bash for all shell blocks of a page, as a reader pastes them into one terminal."""
import os
import re
import select
import subprocess
import time


# How long what goes on in the background may take to print what is shown, in seconds: not for ever.
PATIENCE = 30


class ShellError(Exception):
    pass


class Shell:
    def __init__(self, folder, environment):
        self.folder, self.count = folder, 0
        # All that is printed, so that what goes on in the background is seen when it prints.
        self.output = os.path.join(folder, "output")
        read_end, write_end = os.pipe()
        self.marks = os.fdopen(read_end, "rb", 0)
        os.makedirs(folder, exist_ok=True)
        open(self.output, "w", encoding="utf-8").close()
        self.process = subprocess.Popen(
            ["bash", "--noprofile", "--norc"], stdin=subprocess.PIPE, cwd=environment["PWD"], env=environment,
            stdout=open(os.path.join(folder, "stray"), "wb"), stderr=subprocess.STDOUT, pass_fds=[write_end])
        os.close(write_end)
        self.mark = write_end
        self._write("set -eo pipefail\n")

    def _write(self, text):
        self.process.stdin.write(text.encode())
        self.process.stdin.flush()

    def _script(self, text):
        self.count += 1
        name = os.path.join(self.folder, f"{self.count}.sh")
        with open(name, "w", encoding="utf-8") as file:
            file.write(text + "\n")
        return name

    def _printed(self, since):
        with open(self.output, encoding="utf-8", errors="replace") as file:
            return re.sub(r"\x1b\[[0-9;]*m", "", file.read()[since:])

    def run(self, text, seconds=240, expects=lambda printed: True):
        """What is printed from now on, as soon as the commands have ended and it is as expected."""
        since = len(self._printed(0))
        self._write(f". {self._script(text)} >>{self.output} 2>&1 {self.mark}>&-; printf x >&{self.mark}\n")
        ready, _, _ = select.select([self.marks], [], [], seconds)
        if not ready:
            raise ShellError(f"does not end within {seconds} s; so far:\n{tail(self._printed(since))}")
        if not self.marks.read(1):
            raise ShellError(f"fails:\n{tail(self._printed(since))}")
        end = time.monotonic() + PATIENCE
        while not expects(self._printed(since)) and time.monotonic() < end:
            time.sleep(0.05)
        return self._printed(since)

    def serve(self, text, is_ready, seconds=120):
        """Starts what goes on until the page ends, and waits until it is ready. Its log is not the page's output."""
        log = os.path.join(self.folder, f"served-{self.count}")
        self._write(f"( . {self._script(text)} ) >{log} 2>&1 {self.mark}>&- </dev/null &\n")
        end = time.monotonic() + seconds
        while not is_ready():
            if time.monotonic() > end:
                with open(log, encoding="utf-8", errors="replace") as file:
                    raise ShellError(f"does not serve within {seconds} s:\n{tail(file.read())}")
            time.sleep(0.05)

    def close(self):
        self.process.stdin.close()
        try:
            self.process.wait(2)
        except subprocess.TimeoutExpired:
            self.process.kill()


def tail(text, lines=25):
    return "\n".join("    " + line for line in text.splitlines()[-lines:])
