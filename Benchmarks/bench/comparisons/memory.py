"""Target 7: memory, of the broker for a consumer that waits, and of Redis for what it keeps."""

from .. import machine, words
from ..broker import Broker
from ..failure import Failure
from ..figures import Figure
from ..generator import Held, exchange, folder_of
from ..redis import Client, Redis
from ..section import Section, Target
from ..setting import Run
from .returning import ACCOUNTS_PER_SERVER, send_numbered

MEMBERS = 20_000
READ_MARKS = 1_000
SENDS = 20_000
SPARE_DESCRIPTORS = 500
HOLDS = 3


def measure(run: Run) -> list[Section]:
    return [_consumers(run), _stored(run)]


# --- Of the broker ----------------------------------------------------------------------------------------


def _counts(run: Run) -> tuple[int, ...]:
    return (1_000, 2_000) if run.is_quick else (10_000, 25_000)


def _consumers(run: Run) -> Section:
    section = Section(
        title="Memory of a consumer that waits",
        what="Resident memory of the broker, after less before, with so many idle streams of as many accounts;"
        f" 200 connect at a time. {HOLDS} brokers, one after the other.",
        columns=["consumers", "brokers", "KiB of broker each", "KiB of Redis each", "broker at rest, MiB"],
    )
    for count in _counts(run):
        found = [_hold(run, count) for _ in range(HOLDS)]
        each = Figure(tuple(one["broker"] / count / 1024 for one in found))
        section.row(
            f"{count:,}",
            str(found[0]["brokers"]),
            each,
            Figure(tuple(one["redis"] / count / 1024 for one in found)),
            Figure(tuple(one["rest"] / 2**20 for one in found)),
        )
        what = f"broker's memory per idle consumer, {count:,}"
        section.targets.append(Target(7, what, each, 10, unit="KiB"))
    if run.descriptors < 25_000 + SPARE_DESCRIPTORS:
        section.notes.append(
            f"This machine allows a process {run.descriptors:,} descriptors, and each consumer is one: more of them"
            " are on two brokers that share a Redis, and of two generators."
        )
    return section


def _hold(run: Run, count: int) -> dict:
    room = run.descriptors - SPARE_DESCRIPTORS
    brokers_needed = -(-count // room)
    # A loop has 19,000 streams.
    first = Broker(run, loops=-(-count // brokers_needed // 19_000))
    brokers = [first] + [Broker(run, beside=first) for _ in range(brokers_needed - 1)]
    accounts = [f"i{number}" for number in range(count)]
    for start in range(0, count, ACCOUNTS_PER_SERVER):
        first.new_server(accounts[start : start + ACCOUNTS_PER_SERVER])
    before = sum(machine.resident_bytes(broker.process.id) for broker in brokers)
    redis_before = first.redis.info("used_memory")
    held = [_hold_on(run, broker, accounts[at :: len(brokers)]) for at, broker in enumerate(brokers)]
    if any(one.found["lost"] for one in held):
        raise Failure(f"idle consumers were lost; the broker's log is {first.process.log}")
    after = sum(machine.resident_bytes(broker.process.id) for broker in brokers)
    redis_after = first.redis.info("used_memory")
    for one in held:
        one.stop()
    for broker in reversed(brokers):
        broker.stop()
    return {
        "broker": after - before,
        "redis": redis_after - redis_before,
        "rest": before / len(brokers),
        "brokers": len(brokers),
    }


def _hold_on(run: Run, broker: Broker, accounts: list[str]) -> Held:
    greetings = [words.stream(broker.token(account)) for account in accounts]
    return Held(
        run,
        port=broker.port,
        consumers=len(accounts),
        greetings=words.write_list(folder_of(run) / f"idle-{broker.port}", greetings),
        framing="http",
        ready="retry: ",
    )


# --- Of Redis ---------------------------------------------------------------------------------------------


def _usage(redis: Client, key: bytes | str) -> int:
    return redis.call("MEMORY", "USAGE", key, "SAMPLES", 0)


def _only(redis: Client, pattern: str) -> bytes:
    keys = redis.call("KEYS", pattern)
    if len(keys) != 1:
        raise Failure(f"{len(keys)} keys are like {pattern}")
    return keys[0]


def _stored(run: Run) -> Section:
    broker, plain = Broker(run), Redis(run)
    redis = broker.redis
    members = MEMBERS // 10 if run.is_quick else MEMBERS
    accounts = [f"m{number}" for number in range(members)]
    before = redis.info("used_memory")
    server = broker.new_server(accounts)
    whole = (redis.info("used_memory") - before) / members
    member = _usage(redis, _only(redis, f"belfry:*:roster:server:{server}")) / members

    read_mark = _read_marks(broker)
    sent = _fill_log(run, broker)
    log = _only(redis, f"belfry:*:log:server:{sent}")
    entry = _usage(redis, log) / redis.call("XLEN", log)
    dedupe = max(_usage(redis, key) / redis.call("HLEN", key) for key in _largest(redis, "belfry:*:dedupe:*"))
    body, rendered = _bare(plain.client, "x" * words.PAYLOAD_BYTES), _bare(
        plain.client, _stored_text(redis, log)
    )
    broker.stop()
    plain.stop()
    return _stored_section(
        {
            "a member, in the server's roster": member,
            "a member, its account's index and all": whole,
            "a read mark": read_mark,
            "a dedupe record": dedupe,
            f"a notification stored, body of {words.PAYLOAD_BYTES}": entry,
            "the same notification, a bare XADD": rendered,
            f"its body of {words.PAYLOAD_BYTES} alone, a bare XADD": body,
        },
        members,
    )


def _read_marks(broker: Broker) -> float:
    server = broker.new_server(["reader"])
    send_numbered(broker, server, READ_MARKS)
    cursor, ids = None, []
    while True:
        after = f"&after={cursor}" if cursor else ""
        page = broker.call("GET", f"/v1/notifications?limit=500{after}", account="reader")
        ids += [one["messageServerId"] for one in page["notifications"]]
        cursor = page["cursor"]
        if len(page["notifications"]) < 500:
            break
    for start in range(0, len(ids), 500):
        items = [{"messageServerId": one} for one in ids[start : start + 500]]
        broker.call("POST", "/v1/notifications/read", {"items": items}, account="reader")
    key = _only(broker.redis, "belfry:*:read:reader")
    return _usage(broker.redis, key) / broker.redis.call("SCARD", key)


def _fill_log(run: Run, broker: Broker) -> str:
    server = broker.new_server(["filler"])
    template = words.write(folder_of(run) / "fill", words.batch(server, broker.app, "fill", 100))
    next_number = 1
    while next_number <= (SENDS // 10 if run.is_quick else SENDS):
        found = exchange(
            run,
            port=broker.port,
            connections=4,
            template=template,
            answers="http",
            first=next_number,
            seconds=0.5,
        )
        next_number = found["next"]
    return server


def _largest(redis: Client, pattern: str) -> list[bytes]:
    """The one with the most records: a hash with few is encoded otherwise, and says nothing of many."""
    return sorted(redis.call("KEYS", pattern), key=lambda key: redis.call("HLEN", key))[-1:]


def _stored_text(redis: Client, log: bytes) -> bytes:
    ((_, fields),) = redis.call("XREVRANGE", log, "+", "-", "COUNT", 1)
    return fields[-1]


def _bare(redis: Client, text: str | bytes) -> float:
    key = f"bare-{len(text)}"
    for _ in range(SENDS // 10):
        redis.call("XADD", key, "*", "notification", text)
    return _usage(redis, key) / redis.call("XLEN", key)


LIMITS = {"a member, in the server's roster": 110, "a read mark": 16, "a dedupe record": 120}


def _stored_section(sizes: dict[str, float], members: int) -> Section:
    section = Section(
        title="Memory of what is stored",
        what=(
            f"`MEMORY USAGE` of Redis, by {members:,} members, {READ_MARKS:,} read marks and some ten thousand"
            " notifications. The second line is the growth of `used_memory`."
        ),
        columns=["", "bytes"],
    )
    for name, size in sizes.items():
        section.row(name, Figure((size,)))
        if name in LIMITS:
            section.targets.append(
                Target(7, f"Redis's memory: {name}", Figure((size,)), LIMITS[name], unit="bytes")
            )
    return section
