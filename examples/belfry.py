#!/usr/bin/env python3
"""A producer and a consumer with Python's standard library.

    belfry.py send ACCOUNT TEXT    sends to an account
    belfry.py tail [COUNT]         prints what comes, COUNT notifications or for ever, and continues where it stopped
    belfry.py read                 marks all of it read, up to the last that tail has shown

BELFRY_URL (http://127.0.0.1:8080), BELFRY_TOKEN; CURSOR, the file that remembers where tail was (belfry.cursor).
"""
import json
import os
import random
import sys
import time
import urllib.error
import urllib.request
import uuid

URL = os.environ.get("BELFRY_URL", "http://127.0.0.1:8080")
CURSOR = os.environ.get("CURSOR", "belfry.cursor")
# Three heartbeats: a connection that is silent for longer is broken.
SILENCE_SECONDS = 45


def request(path, body=None, headers=None):
    headers = {"Authorization": f"Bearer {os.environ['BELFRY_TOKEN']}", **(headers or {})}
    if body is not None:
        headers["Content-Type"] = "application/json"
    data = None if body is None else json.dumps(body).encode()
    return urllib.request.urlopen(urllib.request.Request(URL + path, data, headers), timeout=SILENCE_SECONDS)


def is_final(error):
    """Whether asking again cannot help: what is wrong is in the request. 429 and 503 say when to come back."""
    return isinstance(error, urllib.error.HTTPError) and error.code < 500 and error.code != 429


def pause(error, tries):
    """As long as the broker asks, or longer with each try, spread so that not all come back at once."""
    asked = float(error.headers.get("Retry-After") or 0) if isinstance(error, urllib.error.HTTPError) else 0
    time.sleep(max(asked, random.uniform(0, min(30, 0.5 * 2**tries))))


def send(account, text, tries=5):
    # Made once: however often it is tried, it is one notification.
    notification = {"toAccids": [account], "body": text, "messageClientId": str(uuid.uuid4())}
    for attempt in range(tries):
        try:
            with request("/v1/notifications", notification) as answer:
                return json.load(answer)
        except OSError as error:
            if is_final(error) or attempt == tries - 1:
                raise
            pause(error, attempt)


def events(stream):
    event = {}
    for line in stream:
        name, _, value = line.decode().rstrip("\r\n").partition(":")
        if name in ("event", "data", "id"):
            event[name] = value.removeprefix(" ")
        elif name == "" and not value and event:     # an empty line ends an event; one with a colon is a heartbeat
            yield event.get("event"), json.loads(event.get("data", "null")), event.get("id")
            event = {}


def saved(name):
    try:
        with open(name, encoding="utf-8") as file:
            return file.read().strip()
    except FileNotFoundError:
        return ""


def save(name, text):
    with open(name + ".new", "w", encoding="utf-8") as file:
        file.write(text)
    os.replace(name + ".new", name)


def tail(count=None):
    shown = failures = 0
    while count is None or shown < count:
        try:
            with request("/v1/notifications/stream", headers={"Last-Event-ID": saved(CURSOR)}) as stream:
                failures = 0
                for event, data, cursor in events(stream):
                    if event == "notification":
                        text = data.get("body", f"type {data['type']}")
                        print(f"{data.get('fromAccount', '-')}: {text}", flush=True)
                        save(CURSOR + ".last", data["messageServerId"])
                        shown += 1
                    elif event == "gap":
                        print(f"what came between {data['from']} and {data['to']} is gone", file=sys.stderr)
                    elif event == "kicked" and not data["retry"]:
                        sys.exit(f"the broker hung up: {data['reason']}")
                    # Behind the effect: after a crash in between, one notification is shown twice, and none is left out.
                    if cursor:
                        save(CURSOR, cursor)
                    if shown == count:
                        return
        except OSError as error:
            if is_final(error):
                raise
            failures += 1
            pause(error, failures)


def main(arguments):
    match arguments:
        case ["send", account, text]:
            print(send(account, text)["messageServerId"])
        case ["tail", *count] if len(count) <= 1:
            tail(int(count[0]) if count else None)
        case ["read"]:
            with request("/v1/notifications/read", {"upTo": saved(CURSOR + ".last")}) as answer:
                print(json.load(answer)["read"])
        case _:
            sys.exit(__doc__)


try:
    main(sys.argv[1:])
except urllib.error.HTTPError as error:
    # application/problem+json: `code` is for programs, `detail` for people.
    sys.exit(f"{error.code}: {error.read().decode()}")
except OSError as error:
    sys.exit(f"{URL}: {error}")
