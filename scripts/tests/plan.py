"""Divides the tests into shards that take about the same time. Pure functions, tested by scripts/tests/test_plan.py."""
import re

# A suite that Tests/seconds.txt does not know yet.
UNKNOWN_SECONDS = 1.0


def unit_of(test):
    """The smallest part of the tests that is never divided: a suite. `EndToEnd` only groups suites, so its suites count."""
    path = test.split("(")[0].split("/")
    depth = 2 if path[0] == "EndToEndTests.EndToEnd" and len(path) > 2 else 1
    return "/".join(path[:depth])


def read_seconds(text):
    """The lines of Tests/seconds.txt: seconds and suite. Raises ValueError with the number of a line that is neither."""
    seconds = {}
    for number, line in enumerate(text.splitlines(), 1):
        line = line.split("#")[0].strip()
        if not line:
            continue
        words = line.split()
        try:
            took, name = words
            seconds[name] = float(took)
        except ValueError:
            raise ValueError(f"line {number} is not `SECONDS SUITE`: {line}") from None
    return seconds


# The part of the time that is left for the shards which begin when others have ended.
LATER = 0.25


def divide_tests(tests, seconds, at_once):
    """Gives the shards in the order in which they begin, each as its suites. As many as run at once have the long suites. As
    many smaller ones follow, so that the processors have work until the end although no suite takes as long as it did before.
    The same tests and the same seconds give the same shards on every machine."""
    def took(unit):
        return seconds.get(unit, UNKNOWN_SECONDS)

    units = sorted({unit_of(test) for test in tests}, key=lambda unit: (-took(unit), unit))
    later, rest = [], LATER * sum(map(took, units))
    while len(units) > at_once and took(units[-1]) <= rest:
        rest -= took(units[-1])
        later.insert(0, units.pop())
    return share_suites(units, took, at_once) + share_suites(later, took, at_once)


def share_suites(units, took, count):
    """Gives each shard its suites: the longest first, always to the shard that has least so far."""
    shards = [[] for _ in range(count)]
    loads = [0.0] * count
    for unit in units:
        index = loads.index(min(loads))
        shards[index].append(unit)
        loads[index] += took(unit)
    return [shard for shard in shards if shard]


def filter_of_suites(units):
    """A regular expression of all tests of these suites and of no others."""
    return "^(" + "|".join(re.escape(unit).replace("/", r"\/") for unit in sorted(units)) + r")\/"
