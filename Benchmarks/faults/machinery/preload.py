"""The library between a server and its system (preload.c): compiled when first needed, told by a mapped file."""

import mmap
import struct
import subprocess
from pathlib import Path

from bench.failure import Failure

LAYOUT = struct.Struct("=qii")


def compile_library(folder: Path) -> Path:
    source = Path(__file__).with_name("preload.c")
    library = folder / "preload.so"
    made = subprocess.run(
        ["gcc", "-shared", "-fPIC", "-O1", "-Wall", "-o", str(library), str(source), "-ldl"],
        capture_output=True,
        text=True,
    )
    if made.returncode != 0:
        raise Failure(f"the preloaded library cannot be compiled:\n{made.stderr}")
    return library


class System:
    """What one server takes for its clock and its disk."""

    def __init__(self, library: Path, file: Path):
        file.write_bytes(bytes(LAYOUT.size))
        with file.open("r+b") as opened:
            self._memory = mmap.mmap(opened.fileno(), LAYOUT.size)
        self.environment = {"LD_PRELOAD": str(library), "FAULTS_TOLD": str(file)}
        self.step_seconds = 0.0
        self.disk_is_full = False
        self.flush_seconds = 0.0

    def tell(
        self,
        *,
        step_seconds: float | None = None,
        disk_is_full: bool | None = None,
        flush_seconds: float | None = None,
    ) -> None:
        if step_seconds is not None:
            self.step_seconds = step_seconds
        if disk_is_full is not None:
            self.disk_is_full = disk_is_full
        if flush_seconds is not None:
            self.flush_seconds = flush_seconds
        LAYOUT.pack_into(
            self._memory,
            0,
            int(self.step_seconds * 1e9),
            int(self.disk_is_full),
            int(self.flush_seconds * 1e3),
        )
