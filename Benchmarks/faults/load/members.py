"""Members that come and go, subscribe, are blocked; a population that crosses the threshold."""

import asyncio

from ..history import OK
from ..stage import Stage
from .people import FILLERS, OWNER, Person, World


class Toggle:
    """One property of one account, switched on and off again and again, never two at a time."""

    def __init__(self, stage: Stage, account: str, what: str, on: tuple, off: tuple, *, is_on: bool, pause: float):
        self.stage, self.account, self.what, self.pause = stage, account, what, pause
        self.random = stage.random_of(f"{account} {what.partition(':')[0]}")
        self.ways = {True: on, False: off}
        self.is_on = is_on
        self.people: dict[str, Person] = {}

    async def run(self) -> None:
        while not self.stage.is_over:
            await asyncio.sleep(self.pause * 2 * self.random.random())
            await self.switch()

    async def switch(self) -> None:
        who, method, path, body = self.ways[not self.is_on]
        if who not in self.people:
            self.people[who] = Person(self.stage, who)
        effects = [(self.account, self.what, not self.is_on)]
        change = await self.people[who].change(effects, method, path, body)
        if change.outcome == OK:
            self.is_on = not self.is_on


def membership(stage: Stage, account: str, server: str, *, is_on: bool, pause: float) -> Toggle:
    path = f"/v1/servers/{server}/members"
    return Toggle(
        *(stage, account, f"member server:{server}"),
        ("", "POST", path, {"accids": [account]}),
        (account, "DELETE", f"{path}/{account}", None),
        is_on=is_on,
        pause=pause,
    )


def block(stage: Stage, account: str, world: World, *, pause: float) -> Toggle:
    path = f"/v1/servers/{world.hall}/channels/{world.channel}/block-list"
    return Toggle(
        *(stage, account, f"blocked channel:{world.hall}/{world.channel}"),
        (OWNER, "POST", path, {"accids": [account]}),
        (OWNER, "DELETE", f"{path}/{account}", None),
        is_on=False,
        pause=pause,
    )


def subscription(stage: Stage, account: str, server: str, *, is_on: bool, pause: float) -> Toggle:
    path = f"/v1/servers/{server}/subscription"
    return Toggle(
        *(stage, account, f"subscribed server:{server}"),
        (account, "PUT", path, None),
        (account, "DELETE", path, None),
        is_on=is_on,
        pause=pause,
    )


def singer(stage: Stage, account: str, group: str, *, pause: float) -> Toggle:
    return Toggle(
        *(stage, account, f"member group:{group}"),
        (account, "POST", f"/v1/groups/{group}/applications", {}),
        (account, "DELETE", f"/v1/groups/{group}/members/{account}", None),
        is_on=True,
        pause=pause,
    )


def stopping(stage: Stage, account: str, group: str, *, pause: float) -> Toggle:
    path = f"/v1/groups/{group}/receiving"
    return Toggle(
        *(stage, account, f"stopped group:{group}"),
        (account, "DELETE", path, None),
        (account, "PUT", path, None),
        is_on=False,
        pause=pause,
    )


class Population:
    """The plaza's crowd comes and goes at once: below the threshold everybody hears, above it subscribers."""

    def __init__(self, stage: Stage, world: World, pause: float):
        self.stage, self.world, self.pause = stage, world, pause
        self.random = stage.random_of("population")
        self.back_end = Person(stage, "")

    async def run(self) -> None:
        while not self.stage.is_over:
            await asyncio.sleep(self.pause * 2 * self.random.random())
            await self.come()
            await asyncio.sleep(self.pause * 2 * self.random.random())
            await self.go()

    async def come(self) -> None:
        effects = [(account, f"member server:{self.world.plaza}", True) for account in FILLERS]
        path = f"/v1/servers/{self.world.plaza}/members"
        await self.back_end.change(effects, "POST", path, {"accids": FILLERS})

    async def go(self) -> None:
        for account in FILLERS:
            if self.stage.is_over:
                return
            effects = [(account, f"member server:{self.world.plaza}", False)]
            path = f"/v1/servers/{self.world.plaza}/members/{account}"
            await self.back_end.change(effects, "DELETE", path)


def everybody(stage: Stage, world: World, pause: float) -> list:
    """Whose property is in doubt in one way has none that is in doubt in another."""
    found: list = [membership(stage, account, world.hall, is_on=True, pause=pause) for account in ("a4", "a5")]
    found += [block(stage, account, world, pause=pause) for account in ("a6", "a7")]
    found += [
        subscription(stage, account, world.plaza, is_on=account == "a8", pause=pause) for account in ("a8", "a9")
    ]
    found += [singer(stage, account, world.choir, pause=pause) for account in ("a10", "a11")]
    found += [stopping(stage, "a12", world.choir, pause=pause)]
    found += [
        membership(stage, account, door, is_on=False, pause=pause)
        for account, door in zip(("a2", "a3", "a6"), world.doors)
    ]
    return [*found, Population(stage, world, 3 * pause)]
