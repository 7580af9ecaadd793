#!/usr/bin/env python3
"""Runs the tests in several processes and says what failed. scripts/test calls it.

    run.py BINARY                       all tests, in shards
    run.py BINARY OPTION...             one process, with these options of the testing library, such as --filter
    run.py BINARY --write-seconds       all tests; then writes down what each suite took, by which shards are divided

Each shard has a log of its own, which is shown where something in it failed. A test that failed is run once more, alone, when
all shards have ended: on a busy machine one stall must not reject a change. If it passes then, the run passes and names it as
unstable. Tests that a seed decides have no such excuse, and neither has a crash or a shard that did not end.
"""
import os
import re
import signal
import subprocess
import sys
import tempfile
import time

sys.dont_write_bytecode = True
from events import Outcome, filter_of_test, switches  # noqa: E402
import plan  # noqa: E402

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
SECONDS = os.path.join(ROOT, "Tests", "seconds.txt")
# Most tests wait for brokers, clocks and clusters. So eight processes take hardly more from two processors than one.
SHARDS_AT_ONCE = 8
# A shard takes some three minutes, and three times as long next to busy loops.
SHARD_LIMIT_SECONDS = 900
ALONE_LIMIT_SECONDS = 300
# More failures than this are no accident, and to repeat them all would only delay the answer.
SECOND_TRIES = 5
SEEDED = re.compile(r"^(StorePropertyTests|SimulatedRedisTests|SimulationTests|FuzzTests)\.|\.(ResumeSimulationTests|OutwardWalkTests)/")
UNIMPORTANT_SECONDS = 1.0


class Shard:
    """One process of tests."""

    def __init__(self, binary, folder, name, options, shows=False):
        self.name = name
        self.log = os.path.join(folder, f"{name}.log")
        self.events = os.path.join(folder, f"{name}.events")
        skipped = os.environ.get("BELFRY_SKIPPED_TESTS")
        command = [
            binary, "--testing-library", "swift-testing", "--no-parallel", "--event-stream-output-path", self.events,
            "--event-stream-version", "0", *options, *(["--skip", skipped] if skipped else [])]
        output = None if shows else open(self.log, "wb")
        self.begun = time.monotonic()
        self.process = subprocess.Popen(
            command, stdin=subprocess.DEVNULL, stdout=output, stderr=subprocess.STDOUT if output else None,
            start_new_session=True)
        if output:
            output.close()
        self.is_past_limit = False
        self.took = 0.0

    def wait(self, limit):
        """Ends the shard with all that it has started, also if it failed."""
        try:
            self.process.wait(max(0.0, self.begun + limit - time.monotonic()))
        except subprocess.TimeoutExpired:
            self.is_past_limit = True
        self.took = time.monotonic() - self.begun
        self.end()

    def end(self):
        try:
            os.killpg(self.process.pid, signal.SIGKILL)
        except ProcessLookupError:
            pass
        self.process.wait()

    @property
    def fault(self):
        """Why the process did not end as it should; nil if it did."""
        if self.is_past_limit:
            return f"it did not end within {self.took:.0f} s"
        status = self.process.returncode
        if status < 0:
            return f"it crashed: {signal.Signals(-status).name}"
        return None if Outcome(self.events).has_ended else f"it ended early, with status {status}"


class Failure:
    def __init__(self, test, messages):
        self.test, self.messages = test, messages

    @property
    def command(self):
        environment = "".join(f"{name}={value} " for name, value in switches(" ".join(self.messages)).items())
        return f"{environment}scripts/test --filter '{filter_of_test(self.test)}'"

    @property
    def may_be_an_accident(self):
        return not SEEDED.search(self.test) and not switches(" ".join(self.messages))


def list_tests(binary):
    told = subprocess.run(
        [binary, "--testing-library", "swift-testing", "--list-tests"], capture_output=True, text=True, check=True)
    return [line for line in told.stdout.splitlines() if "(" in line]


def run_shards(binary, folder):
    with open(SECONDS, encoding="utf-8") as file:
        seconds = plan.read_seconds(file.read())
    tests = list_tests(binary)
    parts = plan.divide_tests(tests, seconds, SHARDS_AT_ONCE)
    print(f"{len(tests)} tests in {len(parts)} shards; the logs are in {folder}", flush=True)
    shards, under_way = [], []
    try:
        while len(shards) < len(parts) or under_way:
            while len(shards) < len(parts) and len(under_way) < SHARDS_AT_ONCE:
                options = ["--filter", plan.filter_of_suites(parts[len(shards)])]
                shards.append(Shard(binary, folder, f"shard-{len(shards) + 1}", options))
                under_way.append(shards[-1])
            for shard in under_way[:]:
                if shard.process.poll() is None and time.monotonic() < shard.begun + SHARD_LIMIT_SECONDS:
                    continue
                shard.wait(SHARD_LIMIT_SECONDS)
                under_way.remove(shard)
                outcome = Outcome(shard.events)
                failed = len(outcome.issues) + len(outcome.unended)
                print(f"{shard.name}: {len(outcome.passed)} passed, {failed} failed, in {shard.took:.0f} s"
                      + (f"; {shard.fault}" if shard.fault else ""), flush=True)
            time.sleep(0.1)
    finally:
        for shard in shards:
            shard.end()
    return tests, shards


def collect_failures(shards):
    """Gives the failures that may be repeated, and those of shards that did not end."""
    failures, faults = [], []
    for shard in shards:
        outcome = Outcome(shard.events)
        failures += [Failure(test, messages) for test, messages in outcome.issues.items() if test not in outcome.unended]
        if not shard.fault:
            continue
        if not outcome.unended:
            faults.append(Failure(f"{shard.name}(", [shard.fault, log_end(shard)]))
        for test, seconds in outcome.unended.items():
            faults.append(Failure(test, [f"{shard.fault}, {seconds:.0f} s after this test began", log_end(shard)]))
    return failures, faults


def log_end(shard, lines=15):
    if not os.path.exists(shard.log):
        return ""
    with open(shard.log, encoding="utf-8", errors="replace") as file:
        return "".join(file.readlines()[-lines:])


def try_again(binary, folder, failures):
    """Gives those that fail again, and those that pass when they are alone."""
    if len(failures) > SECOND_TRIES:
        return failures, []
    failed, unstable = [], []
    for number, failure in enumerate(failures, 1):
        if not failure.may_be_an_accident:
            failed.append(failure)
            continue
        print(f"once more, alone: {failure.test}", flush=True)
        shard = Shard(binary, folder, f"alone-{number}", ["--filter", filter_of_test(failure.test)])
        shard.wait(ALONE_LIMIT_SECONDS)
        outcome = Outcome(shard.events)
        if not shard.fault and not outcome.issues and outcome.passed:
            unstable.append(failure)
        else:
            failure.messages += [f"and alone: {text}" for text in outcome.issues.get(failure.test, [shard.fault or ""])]
            failed.append(failure)
    return failed, unstable


def say_times(shards):
    print("\n== Suites of a second and more")
    seconds = {}
    for shard in shards:
        seconds |= Outcome(shard.events).suite_seconds
    for suite, took in sorted(seconds.items(), key=lambda item: -item[1]):
        if took >= UNIMPORTANT_SECONDS and suite != "EndToEndTests.EndToEnd":
            print(f"{took:7.1f}  {suite}")
    return seconds


def write_seconds(seconds):
    with open(SECONDS, "w", encoding="utf-8") as file:
        file.write("# Seconds and suite, by which the shards of scripts/test are divided. `scripts/test --write-seconds` writes it.\n")
        for suite, took in sorted(seconds.items()):
            if took >= UNIMPORTANT_SECONDS and suite != "EndToEndTests.EndToEnd":
                file.write(f"{took:.0f} {suite}\n")


def say_failures(failures, title):
    if failures:
        print(f"\n== {title}")
    for failure in failures:
        print(f"\n{failure.test}")
        for line in [line for text in failure.messages for line in text.splitlines()][:20]:
            print(f"    {line[:300]}")
        print(f"  again: {failure.command}")


def main(binary, options):
    folder = tempfile.mkdtemp(prefix="belfry-tests-")
    writes = options == ["--write-seconds"]
    if options and not writes:
        shard = Shard(binary, folder, "chosen", options, shows=True)
        try:
            shard.wait(24 * 3600)
        finally:
            shard.end()
        shards, tests = [shard], None
    else:
        tests, shards = run_shards(binary, folder)
    failures, faults = collect_failures(shards)
    unstable = []
    if tests is not None:
        failures, unstable = try_again(binary, folder, failures)
        seconds = say_times(shards)
        if writes:
            write_seconds(seconds)
    passed = set().union(*(Outcome(shard.events).passed for shard in shards)) | {one.test for one in unstable}
    skipped = set().union(*(Outcome(shard.events).skipped for shard in shards))
    say_failures(unstable, "Unstable: failed next to others, passed alone. Each is a fault to be understood.")
    failed = failures + faults
    missing = len(set(tests) - passed - skipped - {one.test for one in failed}) if tests is not None else 0
    say_failures(failed, "What failed, and how to see it again")
    if missing and not os.environ.get("BELFRY_SKIPPED_TESTS"):
        print(f"\n{missing} tests did not run")
    print(f"\n{len(passed)} passed, {len(failed)} failed, {len(skipped)} skipped")
    is_good = not failed and passed and (not missing or os.environ.get("BELFRY_SKIPPED_TESTS"))
    return 0 if is_good else 1


if len(sys.argv) < 2:
    sys.exit(__doc__)
sys.exit(main(os.path.abspath(sys.argv[1]), sys.argv[2:]))
