"""What the tables in docs/cluster.md say of each fault."""

NONE = "none is broken"
# At `local`, of whatever takes a master's place from it.
MAY_LOSE = "what was acknowledged and the replica had not received is gone"

# Fault, whether a master loses its place without its agreement, what a producer or a consumer sees.
FAULTS = [
    ("master killed", True, "503 in its slots until its replica is master; streams stay open"),
    ("master killed and started at once", False, "503 in its slots until it has read its file"),
    ("master stopped, past the node timeout", True, "503 in its slots until its replica is master; when it goes on, it is a replica"),
    ("master stopped, within the node timeout", False, "what is asked takes longer"),
    ("master parted from the nodes", True, "503 in its slots once it sees that it is alone, until its replica is master"),
    ("master parted from nodes and brokers", True, "503 in its slots until its replica is master"),
    ("master killed with a slot half moved", True, "503 in its slots until its replica is master, and in the slot until it is moved"),
    ("replica killed", False, "503 in its master's slots, which refuses writes until the replica is back"),
    ("failover, graceful", False, "what is asked takes longer"),
    ("failover and failover back", False, "what is asked takes longer"),
    ("failover, forced", True, "what is asked takes longer, perhaps a 503"),
    ("failover, taken over", True, "what is asked takes longer, perhaps a 503"),
    ("slot moved and moved back", False, "what is asked takes longer, perhaps a 503"),
    ("functions flushed at a master", False, "nothing: the broker loads them again"),
    ("broker killed", False, "requests in flight are unknown: repeat them; streams resume at another broker"),
    ("broker stopped", False, "as a broker that is gone"),
    ("connections cut", False, "streams resume, requests are repeated"),
    ("replies cut in the middle", False, "an event that did not arrive whole is sent again"),
    ("connections half-open", False, "silence: a consumer gives up after two missed signs of life"),
]


def rows(durability: str) -> list[tuple[str, str, str]]:
    return [
        (kind, MAY_LOSE if may_lose and durability == "local" else NONE, seen) for kind, may_lose, seen in FAULTS
    ]
