"""What a run was asked to be: where things are, and how long everything may take."""

from dataclasses import dataclass
from pathlib import Path

from .failure import Failure


@dataclass(frozen=True)
class Run:
    belfry: Path
    before: Path | None
    """An earlier executable, to be measured beside."""
    tools: Path
    folder: Path
    """Data of the servers, on the disk that the repository is on: an append-only file in memory costs nothing."""
    server_core: int
    generator_core: int
    rounds: int
    seconds: float
    """Of a round."""
    is_quick: bool
    descriptors: int

    def new_folder(self, name: str) -> Path:
        for number in range(1, 1_000):
            folder = self.folder / f"{name}-{number}"
            if not folder.exists():
                folder.mkdir(parents=True)
                return folder
        raise Failure(f"too many folders {name}")
