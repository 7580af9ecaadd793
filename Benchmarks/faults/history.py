"""What happened: every call with when it was made and what came of it, and everything each device was shown, in order.

Times are seconds of this program's own monotonic clock, which no fault touches. Nothing here judges; checker/ does, and
needs nothing but this.
"""

import itertools
from dataclasses import asdict, dataclass, field

OK, REFUSED, UNKNOWN = "ok", "refused", "unknown"
FOREVER = float("inf")


@dataclass(slots=True)
class Call:
    """Tried until settled. `began` is when it was first sent, `ended` when it was settled; one that never was is unknown,
    and may have been carried out at any time since it began."""

    began: float
    ended: float = FOREVER
    outcome: str = UNKNOWN
    status: int = 0
    tries: int = 0
    unanswered: list[float] = field(default_factory=list)
    """When a try was given up, or answered with what leaves open whether it was carried out. What was asked may lie
    before somebody who stands still, and be carried out when he goes on: after the call was settled by another try."""

    @property
    def is_ok(self) -> bool:
        return self.outcome == OK


@dataclass(slots=True)
class Send(Call):
    client_id: str = ""
    sender: str = ""
    space: str = ""
    """`server:7`, `channel:7/9`, `group:3`, or `accounts`."""
    to: tuple[str, ...] = ()
    body: str = ""
    id: str = ""
    other_ids: list[str] = field(default_factory=list)
    """Ids that later tries were answered with, where they differ from the first."""
    code: str = ""
    refused_again: list[tuple[float, int, str]] = field(default_factory=list)
    """Repeated once more after it was acknowledged, and refused: when, and with what."""

    @property
    def log(self) -> str:
        """What its order is kept within."""
        if self.space == "accounts":
            return f"account:{self.to[0]}" if len(self.to) == 1 else f"direct:{self.client_id}"
        return self.space.split("/")[0].replace("channel:", "server:")


@dataclass(slots=True)
class Change(Call):
    """What accounts are: `member server:7`, `subscribed server:7`, `subscribed channel:7/9`, `blocked channel:7/9`,
    `member group:3`, `stopped group:3`. One call may have several effects."""

    effects: list[tuple[str, str, bool]] = field(default_factory=list)
    """Account, what, and whether it is so afterwards."""


@dataclass(slots=True)
class Mark(Call):
    account: str = ""
    device: str = ""
    items: tuple[str, ...] = ()
    up_to: str = ""
    count: int = 0


@dataclass(slots=True)
class Update(Call):
    id: str = ""
    version: int = 0


@dataclass(slots=True)
class Recall(Call):
    id: str = ""

    @property
    def may_be_done(self) -> bool:
        """A try before a refusal may have been carried out."""
        return self.outcome != REFUSED or self.tries > 1


@dataclass(slots=True)
class Shown:
    device: str
    at: float
    asked: float
    """When the page was asked for, or the stream was opened, that it came with."""
    id: str
    type: int
    client_id: str
    body: str
    version: int
    space: str


@dataclass(slots=True)
class Told:
    """What is no entry: `read`, `updated`, `retracted`, `gap`, `kicked`."""

    device: str
    at: float
    what: str
    ids: tuple[str, ...] = ()
    up_to: str = ""
    version: int = 0
    first: str = ""
    last: str = ""


@dataclass(slots=True)
class Spell:
    """A device was connected, and read what came."""

    device: str
    began: float
    ended: float = FOREVER


@dataclass(slots=True)
class Device:
    name: str
    account: str
    kind: str
    """`stream` or `pages`."""
    began: float = 0.0


@dataclass(slots=True)
class Fault:
    kind: str
    began: float
    ended: float = FOREVER
    detail: str = ""
    is_step: bool = False
    """Time is in doubt: repeating is allowed. If `lost_since` is set as well, only in a gap that the device was told."""
    holds_requests: bool = True
    """What is asked may lie somewhere for as long as it lasts."""
    lost_since: float = FOREVER
    lost_ids: list[str] = field(default_factory=list)
    """What a lost tail took: ids certainly, and whatever else was acknowledged since."""
    killed: float = 0.0
    """When Redis died of it, if that was later than its beginning."""
    undone: frozenset[int] = frozenset()
    """Partitions whose master lost its place: what was not acknowledged may have been shown, and be gone."""
    excused_ids: list[str] = field(default_factory=list)
    """What may be missing with them, though its log has it: an account's index has not."""
    recovered: float | None = None


@dataclass(slots=True)
class FinalFeed:
    """What an account had to read at the end, page by page from the beginning; `count` as the broker counts."""

    account: str
    asked: float
    ids: tuple[str, ...]
    count: int | None = None
    fresh: tuple[str, ...] | None = None
    """What a new device's stream showed at the same time."""


@dataclass(slots=True)
class History:
    threshold: int
    entries_per_space: int | None = None
    """How many entries a log keeps at least; None where no log of the scene comes near it."""
    accounts: list[str] = field(default_factory=list)
    sends: list[Send] = field(default_factory=list)
    changes: list[Change] = field(default_factory=list)
    marks: list[Mark] = field(default_factory=list)
    updates: list[Update] = field(default_factory=list)
    recalls: list[Recall] = field(default_factory=list)
    devices: dict[str, Device] = field(default_factory=dict)
    shown: list[Shown] = field(default_factory=list)
    told: list[Told] = field(default_factory=list)
    spells: list[Spell] = field(default_factory=list)
    faults: list[Fault] = field(default_factory=list)
    finals: dict[str, FinalFeed] = field(default_factory=dict)
    ended: float = FOREVER

    def account_of(self, device: str) -> str:
        return self.devices[device].account

    @property
    def events(self) -> int:
        calls = itertools.chain(self.sends, self.changes, self.marks, self.updates, self.recalls)
        return sum(1 for _ in calls) + len(self.shown) + len(self.told)

    def as_json(self) -> dict:
        return asdict(self)
