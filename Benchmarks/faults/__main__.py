"""scripts/faults calls this: scenes, one after the other, and what they found."""

import argparse
import asyncio
import json
import os
import random
import shutil
import signal
import sys
import time
from pathlib import Path

from bench.failure import Failure
from bench.machine import raise_descriptor_limit

from . import page, report
from .cluster import page as cluster_page
from .cluster.scenes import SCENES as SCENES_OF_CLUSTER
from .machinery.preload import compile_library
from .run import BOUND_SECONDS, Outcome, Setting, play
from .scenes import SCENES, Scene
from .sentinel.scenes import SCENES as SCENES_OF_SENTINELS

REPOSITORY = Path(__file__).resolve().parents[2]


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="scripts/faults", description="Plays faults against brokers, and checks what every device was shown."
    )
    parser.add_argument("--minutes", type=float, help="of everything mixed, in rounds of about two minutes")
    parser.add_argument("--scene", action="append", metavar="NAME", choices=[*{**SCENES, **SCENES_OF_CLUSTER, **SCENES_OF_SENTINELS}], help="only this; --list")
    parser.add_argument("--all", action="store_true", help="each scene once")
    parser.add_argument("--seed", type=int, help="which faults, in which order; printed, so that it can be given again")
    parser.add_argument("--seconds", type=float, help="of load in a scene")
    parser.add_argument("--bound", type=float, default=BOUND_SECONDS, help="when what is told is told late, in s")
    parser.add_argument("--prove", action="store_true", help="plant faults, and see that each is found")
    parser.add_argument("--cluster", action="store_true", help="on a Redis Cluster, each master with a replica")
    parser.add_argument("--sentinels", action="store_true", help="on a master with a replica that three Sentinels watch")
    parser.add_argument("--masters", type=int, default=3, help="of the cluster; 3 at least")
    parser.add_argument("--durability", choices=["local", "replicated"], default="local", help="of the brokers")
    parser.add_argument("--list", action="store_true", help="the scenes")
    parser.add_argument("--json", action="store_true", help="the outcome as JSON, a line a scene")
    parser.add_argument("--write", action="store_true", help="put the figures into docs/availability.md")
    parser.add_argument("--binary", type=Path, help="a belfry that is built already")
    given = parser.parse_args()
    if given.masters < 3:
        parser.error("a cluster of fewer than 3 masters could not agree that one has failed")
    if given.cluster and given.sentinels:
        parser.error("Sentinels watch a single master: --cluster or --sentinels")
    if (given.cluster or given.sentinels) and given.prove:
        parser.error("--prove plants its faults between brokers and one Redis")
    if given.sentinels and given.write:
        parser.error("--write has no table for --sentinels")
    if given.durability == "replicated" and not (given.cluster or given.sentinels):
        parser.error("--durability replicated needs replicas: --cluster or --sentinels")
    if unknown := [name for name in given.scene or [] if name not in scenes(given)]:
        parser.error(f"there is no scene {unknown[0]} {place(given) or 'on one Redis'}; --list")
    return given


def scenes(given: argparse.Namespace) -> dict[str, Scene]:
    return SCENES_OF_CLUSTER if given.cluster else SCENES_OF_SENTINELS if given.sentinels else SCENES


def place(given: argparse.Namespace) -> str:
    """The option that says what the brokers are on. Empty for one Redis."""
    return "--cluster" if given.cluster else "--sentinels" if given.sentinels else ""


def make_setting(given: argparse.Namespace) -> Setting:
    folder = REPOSITORY / ".build" / "faults" / f"run-{os.getpid()}"
    folder.mkdir(parents=True, exist_ok=True)
    raise_descriptor_limit()
    names = ["redis.conf"]
    names += ["redis-cluster.conf"] if given.cluster else ["redis-sentinel-node.conf"] if given.sentinels else []
    return Setting(
        *(given.binary.resolve(), compile_library(folder), [REPOSITORY / "config" / name for name in names], folder),
        bound=given.bound,
        masters=given.masters if given.cluster else None,
        has_sentinels=given.sentinels,
        is_replicated=given.durability == "replicated",
    )


def tell(given: argparse.Namespace, outcome: Outcome) -> None:
    if given.json:
        summary = {
            "scene": outcome.scene,
            "seed": outcome.seed,
            "events": outcome.history.events,
            "faults": [[fault.kind, fault.detail, fault.recovered] for fault in outcome.history.faults],
            "violations": [vars(violation) for violation in outcome.violations],
        }
        print(json.dumps(summary), flush=True)
        return
    counts = {}
    for violation in outcome.violations:
        counts[violation.kind] = counts.get(violation.kind, 0) + 1
    found = ", ".join(f"{kind} {count}" for kind, count in counts.items()) or "nothing to complain of"
    history = outcome.history
    print(
        f"{outcome.scene:<20} seed {outcome.seed:<8} {outcome.seconds:4.0f} s  {len(history.sends):>5} sends "
        f"{len(history.shown):>7} deliveries {len(history.faults):>3} faults  {found}",
        flush=True,
    )


async def run(given: argparse.Namespace, setting: Setting) -> list[Outcome]:
    seed = given.seed if given.seed is not None else random.SystemRandom().randrange(10**6)
    choice = scenes(given)
    names = [*choice] if given.all else given.scene or ["mixed"]
    end = time.monotonic() + 60 * given.minutes if given.minutes else None
    outcomes: list[Outcome] = []
    while True:
        for name in names:
            if not given.json:
                options = f" {place(given)} --durability {given.durability}" if place(given) else ""
                print(f"{name}: --scene {name} --seed {seed}{options}", file=sys.stderr, flush=True)
            outcome = await play(setting, name, choice[name], seed, seconds=given.seconds)
            tell(given, outcome)
            if outcome.violations and not given.json:
                print(report.evidence(outcome) + "\n", flush=True)
            outcomes.append(outcome)
        seed += 1
        if not end or time.monotonic() > end - 60:
            return outcomes


def main() -> int:
    given = arguments()
    if given.list:
        for name, scene in scenes(given).items():
            print(f"{name:<22} {scene.about}")
        return 0
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    setting = make_setting(given)
    try:
        if given.prove:
            from .planted.prove import prove

            return asyncio.run(prove(setting))
        outcomes = asyncio.run(run(given, setting))
    except Failure as failure:
        print(f"faults: {failure}\nLogs are in {setting.folder}", file=sys.stderr)
        return 2
    if not given.json:
        print("\n" + report.table(outcomes))
    if given.write:
        place = REPOSITORY / "docs" / "availability.md"
        if given.cluster:
            command = f"scripts/faults --cluster --durability {given.durability} --write"
            page.write(place, command, cluster_page.rows(given.durability), outcomes)
        else:
            page.write(place, "scripts/faults --write", page.ROWS, outcomes)
    if any(outcome.violations for outcome in outcomes):
        return 1
    shutil.rmtree(setting.folder, ignore_errors=True)
    return 0


sys.exit(main())
