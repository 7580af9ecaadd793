"""scripts/bench calls this: the comparisons, one after the other, and the report."""

import argparse
import shutil
import signal
import sys
import time
from pathlib import Path
from typing import Callable

from . import machine, processes, report
from .comparisons import ALL, ASKED_FOR, BEFORE, SOAK
from .failure import Failure
from .section import Section
from .setting import Run

HERE = Path(__file__).resolve().parent.parent
REPOSITORY = HERE.parent


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="scripts/bench", description="Measures Belfry and its peers.")
    parser.add_argument("--quick", action="store_true", help="about two minutes: short rounds, smaller sets")
    names = [*ALL, *ASKED_FOR]
    parser.add_argument("--only", metavar="NAME", choices=names, help="one comparison: " + ", ".join(names))
    parser.add_argument(
        "--soak", action="store_true", help="ten minutes of coming and going, and nothing else"
    )
    parser.add_argument("--rounds", type=int, default=5, help="rounds of each figure, 5 otherwise")
    parser.add_argument("--seconds", type=float, help="of a round")
    parser.add_argument(
        "--before", metavar="EXECUTABLE", type=Path, help="an earlier build of belfry: what sends cost by both, and nothing else"
    )
    parser.add_argument("--belfry", type=Path, required=True, help=argparse.SUPPRESS)
    parser.add_argument("--write", action="store_true", help="put the results into docs/performance.md and Benchmarks/notebook.md, even of a part")
    return parser.parse_args()


def make_run(given: argparse.Namespace) -> Run:
    server_core, generator_core = machine.cores()
    folder = REPOSITORY / ".build" / "bench"
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    return Run(
        belfry=given.belfry.resolve(),
        before=given.before and given.before.resolve(),
        tools=HERE / ".build",
        folder=folder,
        server_core=server_core,
        generator_core=generator_core,
        rounds=given.rounds,
        seconds=given.seconds or (0.3 if given.quick else 1.5),
        is_quick=given.quick,
        descriptors=machine.raise_descriptor_limit(),
    )


def measure_all(
    run: Run, comparisons: dict[str, Callable[[Run], list[Section]]]
) -> tuple[list[Section], int]:
    """What was found, and how many comparisons failed."""
    sections: list[Section] = []
    failed, start = 0, time.monotonic()
    for name, measure in comparisons.items():
        print(f"{time.monotonic() - start:5.0f} s  {name}", file=sys.stderr, flush=True)
        try:
            sections += measure(run)
        except Failure as failure:
            failed += 1
            print(f"bench: {name}: {failure}", file=sys.stderr, flush=True)
        finally:
            processes.stop_all()
    return sections, failed


def chosen(given: argparse.Namespace) -> dict[str, Callable[[Run], list[Section]]]:
    if given.soak:
        return {"soak": SOAK}
    if given.before:
        return {"before": BEFORE}
    return {given.only: {**ALL, **ASKED_FOR}[given.only]} if given.only else ALL


def main() -> int:
    given = arguments()
    run = make_run(given)
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    about = machine.description(REPOSITORY)
    comparisons = chosen(given)
    start = time.monotonic()
    sections, failed = measure_all(run, comparisons)
    text = report.Report(sections, about, run, time.monotonic() - start)
    print(text.summary() + "\n" + text.details())
    if failed:
        print(
            f"bench: {failed} failed; nothing is written. The servers' logs are in {run.folder}",
            file=sys.stderr,
        )
        return 1
    is_whole = not (given.only or given.quick or given.before)
    if is_whole or given.write:
        text.write(REPOSITORY, part="soak" if given.soak else "before" if given.before else "tables")
    shutil.rmtree(run.folder, ignore_errors=True)
    return 0


sys.exit(main())
