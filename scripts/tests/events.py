"""Reads the events that the testing library writes as they happen, so that a run which crashed has them, too."""
import json
import re


class Outcome:
    """How one process of tests went."""

    def __init__(self, path):
        self.passed, self.skipped, self.issues, self.suite_seconds = set(), set(), {}, {}
        # Tests that began and did not end: the process crashed or was ended in them.
        self.unended = {}
        self.has_ended = False
        last = 0.0
        begun = {}
        for event in _events(path):
            kind, test, now = event["kind"], event.get("testID"), event["instant"]["absolute"]
            last = max(last, now)
            if kind == "runEnded":
                self.has_ended = True
            elif kind == "testStarted":
                begun[test] = now
            elif kind == "testSkipped" and "(" in test:
                self.skipped.add(name_of(test))
            elif kind == "testEnded" and test in begun:
                self._end(test, now - begun.pop(test))
            elif kind == "issueRecorded" and not event.get("issue", {}).get("isKnown"):
                text = " ".join(message["text"] for message in event.get("messages", []))
                self.issues.setdefault(name_of(test) if test else "(no test)", []).append(text)
        self.passed -= set(self.issues)
        for test, start in begun.items():
            if "(" in test:
                self.unended[name_of(test)] = last - start

    def _end(self, test, seconds):
        if "(" in test:
            self.passed.add(name_of(test))
        else:
            self.suite_seconds[test] = seconds


def _events(path):
    try:
        file = open(path, encoding="utf-8", errors="replace")
    except FileNotFoundError:
        return
    with file:
        for line in file:
            try:
                record = json.loads(line)
            except ValueError:
                continue  # the last line of a process that crashed
            if record.get("kind") == "event":
                yield record["payload"]


def name_of(test):
    """A test's id ends with the place of its source: `Module.Suite/test()/File.swift:1:2`."""
    return re.sub(r"/[^/]+\.swift:\d+:\d+$", "", test)


def filter_of_test(test):
    """A regular expression that finds this test with any arguments."""
    return "^" + re.escape(test.split("(")[0]).replace("/", r"\/") + r"\("


def switches(text):
    """The environment that repeats what a seed decided: tests print `BELFRY_SEED=7`."""
    return dict(re.findall(r"\b(BELFRY_[A-Z_]+)=(\d+)", text))
