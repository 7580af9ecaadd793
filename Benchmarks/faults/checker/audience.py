"""Who must, may and must not receive a notification, by docs/redis-layout.md, "Who may see an entry"."""

from ..history import FOREVER, OK, Send
from .timeline import NO, YES, Timelines

MUST, MAY, NOT = "must", "may", "must not"


class Audience:
    def __init__(self, timelines: Timelines, threshold: int):
        self.timelines = timelines
        self.threshold = threshold

    def of(self, send: Send, accounts: list[str]) -> dict[str, str]:
        """All accounts but those that must not."""
        first, last = send.began, send.ended if send.outcome == OK else FOREVER
        if send.to:
            found = {account: MUST for account in send.to}
        else:
            found = self._of_space(send.space, first, last, accounts)
        if send.outcome != OK:
            found = {account: MAY for account in found}
        return found

    def _of_space(self, space: str, first: float, last: float, accounts: list[str]) -> dict[str, str]:
        scene, _, name = space.partition(":")
        belongs = f"member server:{name.split('/')[0]}" if scene != "group" else f"member {space}"
        conditions: list[tuple[str, bool]] = [(belongs, True)]
        optional: tuple[str, bool] | None = None
        if scene == "group":
            conditions.append((f"stopped {space}", False))
        else:
            if scene == "channel":
                conditions.append((f"blocked {space}", False))
            least, most = self.timelines.count(belongs, first, last)
            if least > self.threshold:
                conditions.append((f"subscribed {space}", True))
            elif most > self.threshold:
                optional = (f"subscribed {space}", True)
        return self._all_who_meet(conditions, optional, first, last, accounts)

    def stays(self, send: Send, account: str, first: float, last: float) -> bool:
        """Whether the account certainly went on belonging to where it was sent. The threshold was asked at the send."""
        if send.space == "accounts":
            return True
        scene, _, name = send.space.partition(":")
        belongs = f"member {send.space}" if scene == "group" else f"member server:{name.split('/')[0]}"
        off = {"group": f"stopped {send.space}", "channel": f"blocked {send.space}"}.get(scene)
        return self.timelines.during(account, belongs, first, last) is YES and (
            not off or self.timelines.during(account, off, first, last) is NO
        )

    def _all_who_meet(self, conditions, optional, first, last, accounts) -> dict[str, str]:
        found = {}
        for account in accounts:
            verdict = MUST
            for what, wanted in conditions:
                values = self.timelines.during(account, what, first, last)
                if values is (NO if wanted else YES):
                    verdict = NOT
                    break
                if len(values) == 2:
                    verdict = MAY
            if verdict == MUST and optional:
                if self.timelines.during(account, optional[0], first, last) is not YES:
                    verdict = MAY
            if verdict != NOT:
                found[account] = verdict
        return found
