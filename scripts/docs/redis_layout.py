"""Makes what docs/redis-layout.md shows, on a broker on port 8080, and prints what each of the page's values stands for."""
import hashlib
import json
import os
import time
import urllib.request

import blocks

PAGE = "docs/redis-layout.md"


def ask(method, path, account, body=None):
    headers = {"Authorization": f"Bearer {os.environ['BELFRY_TOKEN']}", "Belfry-Account": account}
    if body is not None:
        headers["Content-Type"] = "application/json"
    request = urllib.request.Request(
        "http://127.0.0.1:8080" + path, method=method, headers=headers, data=body and json.dumps(body).encode())
    with urllib.request.urlopen(request, timeout=10) as answer:
        text = answer.read()
        return json.loads(text) if text else None


def page_functions():
    """The page's own functions: where a key is, is found by them."""
    functions = {}
    with open(PAGE, encoding="utf-8") as file:
        for block in blocks.blocks(PAGE, file.read()):
            if block.language == "python":
                exec(block.text, functions)
    return functions


def unread(account, wanted, seconds=10):
    """What the account has to read, as soon as the wanted text is among it."""
    end = time.monotonic() + seconds
    while True:
        found = ask("GET", "/v1/notifications?limit=500", account)["notifications"]
        if any(one.get("body") == wanted for one in found) or time.monotonic() > end:
            return found
        time.sleep(0.05)


functions = page_functions()
partition = functions["partition"]
tag = lambda space: functions["hash_tag"](partition(space))


def make(path, body, id_name, kind, taken):
    """A space of alice's in none of the partitions that are taken: what is there has a page's keys to itself."""
    while True:
        space = ask("POST", path, "alice", body)[id_name]
        if partition(f"{kind}:{space}") not in taken:
            return space
        taken.add(partition(f"{kind}:{space}"))


bobs = partition("account:bob")
groups = [make("/v1/groups", {"name": "Ringers", "style": "publicOpen"}, "groupId", "group", set()) for _ in range(2)]
room = make("/v1/rooms", {"subject": "Evening ringing"}, "roomId", "room", set())
inviting = make("/v1/groups", {"name": "Tower", "style": "privateOwnerInvites"}, "groupId", "group", {bobs})
ask("POST", f"/v1/groups/{inviting}/invitations", "alice", {"accids": ["bob"]})
ask("POST", "/v1/notifications", "alice", {"toAccids": ["bob"], "body": "A word", "messageClientId": "w1"})
to_two = int.from_bytes(hashlib.sha256(b"alice l1").digest()[:8], "big") >> 1  # named by its sender and her id for it
taken = {partition(f"account:{one}") for one in ("alice", "bob", "carol", "dave")}
taken.add(partition(f"direct:{to_two}"))
taken |= {partition(f"room:{room}"), *(partition(f"group:{one}") for one in [*groups, inviting])}
server = make("/v1/servers", {"name": "Bell ringers"}, "serverId", "server", taken)
members = f"/v1/servers/{server}/members"
ask("POST", members, "alice", {"accids": ["bob", "dave"]})
ask("DELETE", f"{members}/dave", "alice")
ask("PUT", f"/v1/servers/{server}/subscription", "bob")
channel = ask("POST", f"/v1/servers/{server}/channels", "alice", {
    "name": "tower", "type": "private", "membership": "roster", "members": ["bob"]})["channelId"]
newest = unread("bob", "A word")[-1]["messageServerId"]
ask("POST", "/v1/notifications/read", "bob", {"upTo": newest})
message = int(ask("POST", "/v1/notifications", "alice", {
    "serverId": server, "body": "Practice at seven", "messageClientId": "a1"})["messageServerId"])
ask("PATCH", f"/v1/notifications/{message}", "alice", {"body": "Practice at eight"})
ask("POST", "/v1/notifications", "alice", {"toAccids": ["bob", "carol"], "body": "For two", "messageClientId": "l1"})
unread("bob", "For two")
ask("POST", "/v1/notifications/read", "bob", {"items": [{"messageServerId": str(message)}]})
while len(ask("GET", "/v1/groups", "alice")["groups"]) < len(groups):
    time.sleep(0.05)

milliseconds = (message >> 22) + 1704067200000
for page, real in {
    "77": server, "server:77": f"server:{server}", "c9": f"c{channel}", "62.100": tag(f"server:{server}"), "1712073": milliseconds >> 20,
    "1795238998540-253952": f"{milliseconds}-{message & (1 << 22) - 1}", "382402239303770112": message,
    "46.343": tag("directory:groups"), "47.72": tag(f"room:{room}"), "room:5": f"room:{room}", 
    "group:7": f"group:{groups[0]}", "group:12": f"group:{groups[1]}", "1795239034000": milliseconds + 600_000,
}.items():
    print(f"{page}={real}")
