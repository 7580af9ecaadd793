"""What the tables of docs/availability.md say of each fault of a cluster."""

from ..page import ALL, NOTHING, REPEAT

# At `local`, after a fault that takes a master's place without its agreement.
MAY_LOSE = "everything but what the replica had not received"
WAIT = "wait for the replica"
TRY_AGAIN = "repeat what was refused"
START = "start the node again"

# Fault, whether a master loses its place without its agreement, what a producer or a consumer sees, what is to be done.
FAULTS = [
    ("master killed", True, "503 in its slots until its replica is master; streams stay open", START),
    ("master killed and started at once", False, "503 in its slots until it has read its file", NOTHING),
    ("master frozen, past the node timeout", True, "503 in its slots until its replica is master; when it runs again, it is a replica", WAIT),
    ("master frozen, within the node timeout", False, "answers take longer", NOTHING),
    ("master parted from the nodes", True, "503 in its slots once it sees that it is alone, until its replica is master", WAIT),
    ("master parted from nodes and brokers", True, "503 in its slots until its replica is master", WAIT),
    ("master killed with a slot half moved", True, "503 in its slots until its replica is master, and in the slot until it is moved", "end the move: [how](cluster.md#growing-and-moving-slots)"),
    ("replica killed", False, "with `min-replicas-to-write 1`: 503 in its master's slots, because the master refuses writes until the replica is back", START),
    ("failover, graceful", False, "answers take longer", NOTHING),
    ("failover and failover back", False, "answers take longer", NOTHING),
    ("failover, forced", True, "answers take longer, perhaps a 503", TRY_AGAIN),
    ("failover, taken over", True, "answers take longer, perhaps a 503", TRY_AGAIN),
    ("slot moved and moved back", False, "answers take longer, perhaps a 503", TRY_AGAIN),
    ("functions flushed at a master", False, "nothing: the broker loads them again", NOTHING),
    ("broker killed", False, "requests in flight have no answer; streams resume at another broker", f"{REPEAT}; start the broker again"),
    ("broker frozen", False, "as if the broker were gone", "let it run again (SIGCONT), or end it"),
    ("connections cut", False, "streams resume", REPEAT),
    ("replies cut in the middle", False, "an event that did not arrive whole is sent again", NOTHING),
    ("connections half-open", False, "silence: a client library gives up after three missed heartbeats (45 s)", REPEAT),
]


def rows(durability: str) -> list[tuple[str, str, str, str]]:
    return [
        (kind, seen, MAY_LOSE if may_lose and durability == "local" else ALL, remedy)
        for kind, may_lose, seen, remedy in FAULTS
    ]
