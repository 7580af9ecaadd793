"""The machine: its two cores, its limits, and what to say about it."""

import os
import platform
import resource
import shutil
import subprocess
from pathlib import Path

from .failure import Failure


def cores() -> tuple[int, int]:
    """The core of the servers and the one of the generator. On one core they would measure each other."""
    available = sorted(os.sched_getaffinity(0))
    if len(available) < 2:
        raise Failure("two cores are needed, one for the servers and one for the generator")
    return available[0], available[1]


def raise_descriptor_limit() -> int:
    """As many descriptors as the system lets us have; the servers inherit it."""
    _, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
    return hard


def program(name: str) -> str:
    """Daemons lie in /usr/sbin, which is not in everybody's PATH."""
    found = shutil.which(name, path=os.environ.get("PATH", "") + ":/usr/sbin:/usr/local/sbin")
    if not found:
        raise Failure(f"there is no {name}")
    return found


def resident_bytes(process: int) -> int:
    for line in Path(f"/proc/{process}/status").read_text().splitlines():
        if line.startswith("VmRSS:"):
            return int(line.split()[1]) * 1024
    raise Failure(f"process {process} is gone")


def children(process: int) -> list[int]:
    return [
        int(child)
        for thread in Path(f"/proc/{process}/task").iterdir()
        for child in (thread / "children").read_text().split()
    ]


def spent_seconds(processes: list[int]) -> float:
    """Processor time of all their threads, by the scheduler's own account."""
    nanoseconds = 0
    for process in processes:
        for thread in Path(f"/proc/{process}/task").iterdir():
            nanoseconds += int((thread / "schedstat").read_text().split()[0])
    return nanoseconds / 1e9


def description(repository: Path) -> list[str]:
    model = "unknown processor"
    for line in Path("/proc/cpuinfo").read_text().splitlines():
        if line.startswith("model name"):
            model = line.split(":", 1)[1].strip()
            break
    memory = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE") / 2**30
    return [
        f"{model}, {os.cpu_count()} cores, {memory:.0f} GiB, Linux {platform.release()}; load average at the start"
        f" {os.getloadavg()[0]:.2f}",
        "; ".join(_versions(repository)),
    ]


def _versions(repository: Path) -> list[str]:
    redis = _first_line([program("redis-server"), "--version"]).split()[2].removeprefix("v=")
    nats = _first_line([program("nats-server"), "--version"]).split()[-1].removeprefix("v")
    http = _package("libmicrohttpd-dev")
    nginx, nchan = _package("nginx"), _package("libnginx-mod-nchan")
    commit = _first_line(["git", "-C", str(repository), "describe", "--always", "--dirty"])
    mosquitto = _first_line([program("mosquitto"), "-h"]).split()[-1]
    return [
        f"Belfry {commit}",
        f"redis-server {redis}",
        f"nats-server {nats}",
        f"mosquitto {mosquitto}",
        f"nginx {nginx} with nchan {nchan}",
        f"libmicrohttpd {http}",
    ]


def _package(name: str) -> str:
    return _first_line(["dpkg-query", "--show", "--showformat=${Version}", name])


def _first_line(command: list[str]) -> str:
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    return next(iter((done.stdout or done.stderr).splitlines()), "of unknown version").strip()
