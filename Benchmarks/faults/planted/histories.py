"""Small histories that are wrong in one way each, and some that are not: what the checker says of them."""

import unittest

from ..checker import check
from ..history import (
    FOREVER,
    OK,
    REFUSED,
    UNKNOWN,
    Change,
    Device,
    Fault,
    FinalFeed,
    History,
    Mark,
    Recall,
    Send,
    Shown,
    Spell,
    Told,
    Update,
)

BOUND = 10.0
END = 100.0


class Story:
    """Two members of a server, `ann` with two streams and `bob` with one; `eve` is none."""

    def __init__(self):
        self.history = History(threshold=3, accounts=["ann", "bob", "eve"], ended=END)
        for name in ("ann-desk", "ann-phone", "bob-desk", "eve-desk"):
            self.history.devices[name] = Device(name, name[:3], "stream")
            self.history.spells.append(Spell(name, 0))
        self.join("ann", 0.1)
        self.join("bob", 0.1)
        self.spare_feeds: set[str] = set()

    def change(self, account: str, what: str, value: bool, began: float, ended: float = FOREVER) -> Change:
        ended = began + 0.1 if ended == FOREVER else ended
        change = Change(began, ended, OK, effects=[(account, what, value)])
        self.history.changes.append(change)
        return change

    def join(self, account: str, began: float) -> Change:
        return self.change(account, "member server:1", True, began)

    def leave(self, account: str, began: float) -> Change:
        return self.change(account, "member server:1", False, began)

    def send(self, id: int, began: float, *to: str, outcome: str = OK) -> Send:
        send = Send(began, began + 0.1, outcome, client_id=f"c{id}", sender="ann", body=f"c{id} v0", tries=1)
        send.space, send.to = ("accounts", to) if to else ("server:1", ())
        send.id = str(id) if outcome == OK else ""
        if outcome == UNKNOWN:
            send.ended = FOREVER
        self.history.sends.append(send)
        return send

    def show(self, id: int, at: float, *devices: str, asked: float = 0.0, version: int = 0) -> None:
        for device in devices:
            body = f"c{id} v{version}"
            self.history.shown.append(Shown(device, at, asked, str(id), 100, f"c{id}", body, version, "1"))

    def show_all(self, id: int, at: float) -> None:
        self.show(id, at, "ann-desk", "ann-phone", "bob-desk")

    def mark(self, *items: int, began: float, count: int | None = None, up_to: int = 0) -> Mark:
        mark = Mark(began, began + 0.1, OK, 200, 1, account="ann", device="ann-phone")
        mark.items, mark.up_to = tuple(map(str, items)), str(up_to) if up_to else ""
        mark.count = len(items) if count is None else count
        self.history.marks.append(mark)
        return mark

    def tell(self, what: str, at: float, device: str = "ann-desk", **more) -> None:
        self.history.told.append(Told(device, at, what, **more))

    def fault(self, began: float, ended: float, **more) -> Fault:
        fault = Fault("a fault", began, ended, **more)
        self.history.faults.append(fault)
        return fault

    def feed(self, account: str, *ids: int, count: int | None = None) -> None:
        self.history.finals[account] = FinalFeed(account, END - 1, tuple(map(str, ids)), count)

    def kinds(self) -> set[str]:
        return {violation.kind for violation in check(self.history, BOUND)}


class Histories(unittest.TestCase):
    def setUp(self):
        self.story = Story()

    def finds(self, *kinds: str):
        self.assertEqual(self.story.kinds(), set(kinds))

    # --- Lost and late

    def test_all_as_promised(self):
        self.story.send(5, 10)
        self.story.show_all(5, 10.2)
        self.story.mark(5, began=20)
        self.story.tell("read", 20.2, ids=("5",))
        self.story.feed("ann")
        self.story.feed("bob", 5)
        self.finds()

    def test_lost_to_one_device(self):
        self.story.send(5, 10)
        self.story.show(5, 10.2, "ann-desk", "bob-desk")
        self.finds("lost")

    def test_lost_from_the_feed_alone(self):
        self.story.send(5, 10)
        self.story.show_all(5, 10.2)
        self.story.feed("bob")
        self.finds("lost")

    def test_shown_and_not_in_the_feed(self):
        self.story.join("eve", 9.9)
        self.story.send(5, 9.95)
        self.story.show_all(5, 10.2)
        self.story.show(5, 10.2, "eve-desk")
        self.story.feed("eve")
        self.finds("miscounted")

    def test_unknown_may_be_either(self):
        self.story.send(5, 10, outcome=UNKNOWN)
        self.finds()
        self.story.show(5, 30, "ann-desk")
        self.finds()

    def test_nothing_is_lost_to_who_was_not_connected_long_enough(self):
        self.story.send(5, END - BOUND + 1)
        self.finds()

    def test_a_gap_allows_what_lies_in_it(self):
        self.story.send(5, 10)
        self.story.show(5, 10.2, "ann-desk", "bob-desk")
        self.story.tell("gap", 12, "ann-phone", first="4", last="6")
        self.finds()

    def test_a_gap_does_not_allow_what_was_sent_after_it(self):
        self.story.tell("gap", 9, "ann-phone", first="4", last="6")
        self.story.send(5, 10)
        self.story.show(5, 10.2, "ann-desk", "bob-desk")
        self.finds("lost")

    def test_late(self):
        self.story.send(5, 10)
        self.story.show(5, 10.2, "ann-desk", "bob-desk")
        self.story.show(5, 25, "ann-phone")
        self.finds("late")

    def test_not_late_while_there_is_a_fault(self):
        self.story.fault(9, 20)
        self.story.send(5, 10)
        self.story.show(5, 10.2, "ann-desk", "bob-desk")
        self.story.show(5, 25, "ann-phone")
        self.finds()

    def test_what_a_lost_tail_took_may_be_missing(self):
        self.story.send(5, 10)
        self.story.fault(11, 12, lost_since=9, lost_ids=["5"])
        self.finds()

    def test_what_a_lost_tail_left_may_not(self):
        self.story.send(5, 10)
        self.story.fault(11, 12, lost_since=9, lost_ids=["4"])
        self.finds("lost")

    def test_marked_all_and_neither_shown_nor_counted(self):
        self.story.send(4, 9, "ann")
        self.story.show(4, 9.2, "ann-desk", "ann-phone")
        self.story.send(5, 10, "ann")
        self.story.mark(began=11, up_to=5, count=1)
        self.story.tell("read", 11.2, up_to="5")
        # One change alone could have made one that nobody was shown.
        self.story.feed("ann")
        self.finds("lost")

    # --- Who

    def test_misdirected(self):
        self.story.send(5, 10)
        self.story.show_all(5, 10.2)
        self.story.show(5, 10.2, "eve-desk")
        self.finds("misdirected")

    def test_who_joins_meanwhile_may_have_it_or_not(self):
        self.story.join("eve", 9.9)
        self.story.send(5, 9.95)
        self.story.show_all(5, 10.2)
        self.finds()
        self.story.show(5, 10.2, "eve-desk")
        self.finds()

    def test_a_change_refused_at_its_second_try_may_have_been_made(self):
        change = self.story.leave("bob", 5)
        change.outcome, change.tries = REFUSED, 2
        self.story.send(5, 10)
        self.story.show(5, 10.2, "ann-desk", "ann-phone")
        self.finds()
        change.tries = 1
        self.finds("lost")

    def test_who_left_before_must_not(self):
        self.story.leave("bob", 5)
        self.story.send(5, 10)
        self.story.show_all(5, 10.2)
        self.finds("misdirected")

    def test_a_try_that_was_given_up_may_be_carried_out_when_a_fault_ends(self):
        self.story.fault(2, 30)
        left = self.story.leave("bob", 3)
        left.ended, left.unanswered = 9, [8]
        self.story.join("bob", 10)
        self.story.send(5, 31)
        self.story.show(5, 31.2, "ann-desk", "ann-phone")
        self.finds()
        left.unanswered = []
        self.finds("lost")

    def test_a_try_that_was_given_up_is_over_after_the_fault(self):
        self.story.fault(2, 30)
        left = self.story.leave("bob", 3)
        left.ended, left.unanswered = 9, [8]
        self.story.join("bob", 10)
        self.story.join("bob", 40)
        self.story.send(5, 41)
        self.story.show(5, 41.2, "ann-desk", "ann-phone")
        self.finds("lost")

    def test_a_try_that_was_given_up_is_held_up_by_no_consumer(self):
        self.story.fault(2, 30, holds_requests=False)
        self.finds_that_bob_was_back()

    def test_a_try_that_was_given_up_without_a_fault_is_over_soon(self):
        self.finds_that_bob_was_back()

    def finds_that_bob_was_back(self):
        """His try to leave was given up, and he came back long before the send that he was not shown."""
        left = self.story.leave("bob", 3)
        left.ended, left.unanswered = 9, [8]
        self.story.join("bob", 15)
        self.story.send(5, 31)
        self.story.show(5, 31.2, "ann-desk", "ann-phone")
        self.finds("lost")

    def test_above_the_threshold_subscribers_alone(self):
        for account in ("f1", "f2", "f3"):
            self.story.join(account, 1)
        self.story.change("bob", "subscribed server:1", True, 2)
        self.story.send(5, 10)
        self.story.show(5, 10.2, "bob-desk")
        self.finds()
        self.story.show(5, 10.2, "ann-desk")
        self.finds("misdirected")

    def test_refused_and_yet_shown(self):
        send = self.story.send(5, 10, outcome=REFUSED)
        send.tries, send.code = 2, "notMember"
        self.story.show(5, 10.2, "ann-desk")
        self.finds("contradicted")

    def test_refused_and_carried_out_afterwards(self):
        self.story.fault(9, 30)
        send = self.story.send(5, 10, outcome=REFUSED)
        send.tries, send.code, send.unanswered = 2, "notMember", [10.05]
        self.story.show(5, 30.2, "ann-desk")
        self.finds()
        # Before it was refused, it cannot have been afterwards.
        self.story.show(5, 10.08, "ann-phone")
        self.finds("contradicted")

    # --- Once, in order

    def test_doubled(self):
        self.story.send(5, 10)
        self.story.show_all(5, 10.2)
        self.story.show(5, 30, "bob-desk")
        self.finds("doubled")

    def test_shown_again_to_who_had_to_let_go_of_it(self):
        self.story.mark(began=9, up_to=6, count=0)
        self.story.send(5, 10)
        self.story.show_all(5, 10.2)
        self.story.tell("read", 30, up_to="6")
        self.finds("lost")
        self.story.show(5, 30.1, "ann-desk")
        self.finds()
        self.story.show(5, 31, "ann-desk")
        self.finds("doubled")

    def test_a_device_that_is_told_to_start_over_is_shown_everything_again(self):
        self.story.send(5, 10)
        self.story.show_all(5, 10.2)
        self.story.tell("preferences", 30)
        self.finds("doubled", "lost")
        self.story.fault(25, 25, is_step=True, lost_since=24)
        self.finds("lost")
        self.story.show(5, 30.1, "ann-desk")
        self.finds()
        self.story.show(5, 31, "ann-desk")
        self.finds("doubled")

    def test_repeating_is_allowed_after_a_step(self):
        self.story.fault(20, 20, is_step=True)
        self.story.send(5, 10)
        self.story.show_all(5, 10.2)
        self.story.show(5, 30, "bob-desk")
        self.finds()

    def test_repeating_after_a_lost_tail_needs_a_gap(self):
        self.story.fault(20, 20, is_step=True, lost_since=19)
        self.story.send(5, 10)
        self.story.show_all(5, 10.2)
        self.story.show(5, 30, "bob-desk")
        self.finds("doubled")
        self.story.tell("gap", 29, "bob-desk", first="4", last="6")
        self.finds()

    def test_repeating_behind_the_told_gap(self):
        """The gap begins after what is shown again, or was told before it was shown for the first time."""
        self.story.fault(20, 20, is_step=True, lost_since=19)
        self.story.send(5, 10)
        self.story.show_all(5, 10.2)
        self.story.tell("gap", 9, "bob-desk", first="4", last="6")
        self.story.tell("gap", 29, "bob-desk", first="5", last="6")
        self.story.show(5, 30, "bob-desk")
        self.finds("doubled")

    def test_a_gap_alone_allows_no_repeating(self):
        self.story.send(5, 10)
        self.story.show_all(5, 10.2)
        self.story.tell("gap", 29, "bob-desk", first="4", last="6")
        self.story.show(5, 30, "bob-desk")
        self.finds("doubled")

    def test_everything_is_said_to_be_gone_and_nothing_is(self):
        self.story.send(5, 10)
        self.story.show_all(5, 10.2)
        self.story.fault(20, 21)
        self.story.tell("gap", 29, "bob-desk", first="0", last="9")
        self.finds("contradicted")
        self.story.fault(20, 21, is_step=True, lost_since=19)
        self.finds()

    def test_a_new_device_may_be_told_that_the_beginning_is_gone(self):
        self.story.tell("gap", 9, "bob-desk", first="0", last="4")
        self.story.send(5, 10)
        self.story.show_all(5, 10.2)
        self.finds()

    # --- Logs that are trimmed

    def trim(self):
        """Three are sent; a log keeps the last two. Ann's phone is there for the last alone."""
        self.story.history.entries_per_space = 2
        for id, at in ((5, 10), (6, 11), (7, 12)):
            self.story.send(id, at)
            self.story.show(id, at + 0.2, "ann-desk", "bob-desk")
        self.story.show(7, 12.2, "ann-phone")

    def test_trimmed_and_told(self):
        self.trim()
        self.story.tell("gap", 12.1, "ann-phone", first="4", last="6")
        self.story.feed("ann", 6, 7)
        self.story.feed("bob", 6, 7)
        self.finds()

    def test_trimmed_and_not_told(self):
        self.trim()
        self.finds("lost")

    def test_trimmed_beyond_what_a_log_keeps(self):
        self.trim()
        self.story.tell("gap", 12.1, "ann-phone", first="4", last="6")
        self.story.feed("bob", 7)
        self.finds("lost")

    def show_built_in(self, id: int, at: float, *devices: str):
        for device in devices:
            self.story.history.shown.append(Shown(device, at, 0.0, str(id), 2, "", "", 0, "1"))

    def test_a_built_in_one_is_trimmed(self):
        self.trim()
        self.show_built_in(4, 9.9, "bob-desk")
        self.story.tell("gap", 12.1, "ann-phone", first="4", last="6")
        self.story.feed("ann", 6, 7)
        self.story.feed("bob", 6, 7)
        self.finds()

    def test_a_built_in_one_that_a_log_keeps_is_missing(self):
        self.story.history.entries_per_space = 2
        self.story.send(5, 10)
        self.story.show_all(5, 10.2)
        self.show_built_in(6, 11, "bob-desk")
        self.story.feed("bob", 5)
        self.finds("miscounted")

    def test_stored_twice(self):
        send = self.story.send(5, 10)
        self.story.show_all(5, 10.2)
        send.other_ids.append("6")
        self.finds("contradicted")

    def test_a_clock_steps_between_two_tries(self):
        """Redis has forgotten the first one by its clock."""
        send = self.story.send(6, 10)
        send.ended = 13
        for device in ("ann-desk", "ann-phone", "bob-desk"):
            self.story.history.shown.append(Shown(device, 10.2, 0.0, "5", 100, "c6", "c6 v0", 0, "1"))
        self.story.show_all(6, 13.1)
        self.finds("contradicted", "doubled")
        self.story.fault(12, 12, is_step=True)
        self.finds()

    def test_one_id_for_two(self):
        self.story.send(5, 10, "bob")
        other = self.story.send(6, 11, "eve")
        other.id = "5"
        self.assertIn("contradicted", self.story.kinds())

    def test_reordered(self):
        for id, at in ((5, 10), (6, 11)):
            self.story.send(id, at)
        self.story.show(6, 12, "bob-desk", "ann-desk", "ann-phone")
        self.story.show(5, 12.1, "bob-desk", "ann-desk", "ann-phone")
        self.finds("reordered")

    # --- Read

    def test_resurrected_in_a_page(self):
        self.story.history.devices["ann-pages"] = Device("ann-pages", "ann", "pages")
        self.story.send(5, 10)
        self.story.show_all(5, 10.2)
        self.story.mark(5, began=20)
        self.story.tell("read", 20.2, ids=("5",))
        self.story.show(5, 30, "ann-pages", asked=29.9)
        self.finds("resurrected")

    def test_resurrected_at_the_end(self):
        self.story.send(5, 10)
        self.story.show_all(5, 10.2)
        self.story.mark(5, began=20)
        self.story.tell("read", 20.2, ids=("5",))
        self.story.feed("ann", 5)
        self.finds("resurrected")

    def test_on_its_way_when_it_was_marked(self):
        self.story.send(5, 10)
        self.story.show(5, 10.2, "ann-phone", "bob-desk")
        self.story.mark(5, began=10.3)
        self.story.show(5, 10.6, "ann-desk")
        self.story.tell("read", 10.7, ids=("5",))
        self.finds()

    def test_not_told_read(self):
        self.story.send(5, 10)
        self.story.show_all(5, 10.2)
        self.story.mark(5, began=20)
        self.finds("untold")

    def test_told_read_in_general_and_by_name_on_returning(self):
        self.story.send(5, 10)
        self.story.show_all(5, 10.2)
        self.story.mark(5, began=20)
        self.story.tell("read", 20.2, up_to="5")
        self.story.tell("read", 60, ids=("5",))
        self.finds()

    def test_told_read_by_a_mark_that_might_have_been_lost(self):
        self.story.send(5, 5)
        self.story.show_all(5, 5.2)
        self.story.mark(5, began=10)
        self.story.tell("read", 10.2, ids=("5",))
        self.story.fault(11, 12, is_step=True, lost_since=9, lost_ids=[])
        self.story.mark(began=20, up_to=6, count=0)
        self.finds()
        # It was lost, and the device has learned so.
        self.story.tell("gap", 14.9, "ann-desk", first="4", last="6")
        self.story.show(5, 15, "ann-desk", asked=15)
        self.finds("untold")

    def test_told_again_of_a_mark_from_before_it_was_shown(self):
        self.story.mark(began=9, up_to=6, count=0)
        self.story.send(5, 10)
        self.story.show_all(5, 10.2)
        self.story.mark(began=20, up_to=8, count=1)
        self.story.tell("read", 20.15, up_to="6")
        self.story.show(5, 20.16, "ann-desk")
        self.story.tell("read", 20.2, up_to="8")
        self.finds()
        self.story.show(5, 20.3, "ann-desk")
        self.finds("resurrected")

    def test_started_over_between_a_lost_mark_and_its_repetition(self):
        """The device stood still meanwhile, so it hears of everything at once."""
        self.story.fault(15, 15, is_step=True, lost_since=14)
        self.story.send(5, 10)
        self.story.show_all(5, 10.2)
        self.story.mark(5, began=20)
        self.story.tell("read", 21, ids=("5",))
        self.story.tell("preferences", 21.1)
        self.story.show(5, 21.2, "ann-desk")
        self.finds("resurrected")
        self.story.tell("read", 21.3, ids=("5",))
        self.finds()

    def test_told_read_too_late(self):
        self.story.send(5, 10)
        self.story.show_all(5, 10.2)
        self.story.mark(5, began=20)
        self.story.tell("read", 40, ids=("5",))
        self.finds("untold")

    def plant_recall(self, *told):
        """A recall of what all devices were shown. These devices are told of it."""
        self.story.send(5, 10)
        self.story.show_all(5, 10.2)
        self.story.history.recalls.append(Recall(20, 20.1, OK, 204, 1, id="5"))
        for device in told:
            self.story.tell("retracted", 20.2, device, ids=("5",))

    def test_not_told_recalled(self):
        self.plant_recall("ann-phone", "bob-desk")
        self.story.feed("ann")
        self.story.feed("bob")
        self.finds("untold")

    def test_started_over_and_not_shown_again_what_is_recalled(self):
        self.story.fault(15, 15, is_step=True, lost_since=14)
        self.plant_recall("ann-phone", "bob-desk")
        self.story.feed("ann")
        self.story.feed("bob")
        self.finds("untold")
        self.story.tell("preferences", 19.95)
        self.finds()
        self.story.show(5, 20.0, "ann-desk")
        self.finds("untold")

    def test_started_over_and_not_shown_again_what_is_read(self):
        self.story.fault(15, 15, is_step=True, lost_since=14)
        self.story.send(5, 10)
        self.story.show_all(5, 10.2)
        self.story.mark(5, began=20)
        self.finds("untold")
        self.story.tell("preferences", 19.95)
        self.finds()
        self.story.show(5, 20.0, "ann-desk")
        self.finds("untold")

    def test_recalled_and_still_in_the_feed(self):
        self.plant_recall("ann-desk", "ann-phone", "bob-desk")
        self.story.feed("ann", 5)
        self.story.feed("bob")
        self.finds("resurrected")

    def test_not_told_updated(self):
        self.story.send(5, 10)
        self.story.show_all(5, 10.2)
        self.story.history.updates.append(Update(20, 20.1, OK, 200, 1, id="5", version=1))
        for device in ("ann-desk", "bob-desk"):
            self.story.tell("updated", 20.2, device, ids=("5",), version=1)
        self.finds("untold")

    def test_shown_in_an_old_version(self):
        self.story.send(5, 10)
        self.story.history.updates.append(Update(20, 20.1, OK, 200, 1, id="5", version=1))
        self.story.fault(9, 30)
        for device in ("ann-desk", "ann-phone", "bob-desk"):
            self.story.show(5, 30, device, asked=29, version=1)
        self.finds()
        self.story.history.shown[-1].version = 0
        self.assertIn("untold", self.story.kinds())

    def test_an_older_version_may_come_late(self):
        self.story.send(5, 10)
        self.story.fault(9, 40)
        older = Update(20, 25, OK, 200, 2, id="5", version=1, unanswered=[24])
        self.story.history.updates += [older, Update(30, 30.1, OK, 200, 1, id="5", version=2)]
        for device in ("ann-desk", "ann-phone", "bob-desk"):
            self.story.show(5, 42, device, asked=41, version=1)
        self.finds()
        self.story.history.shown[-1].version = 0
        self.assertIn("untold", self.story.kinds())
        self.story.history.shown[-1].version = 1
        older.unanswered = []
        self.assertIn("untold", self.story.kinds())

    def test_a_lost_tail_is_told(self):
        self.story.send(5, 10)
        self.story.show(5, 10.2, "bob-desk")
        self.story.fault(11, 12, lost_since=9, lost_ids=["5"])
        self.finds("untold")
        self.story.tell("gap", 13, "bob-desk", first="5", last="5")
        self.finds()

    def test_a_mark_may_go_with_a_lost_tail(self):
        self.story.send(5, 5)
        self.story.show_all(5, 5.2)
        self.story.mark(5, began=10)
        self.story.fault(11, 12, lost_since=9, lost_ids=[])
        self.story.feed("ann", 5)
        self.finds()

    # --- Counts

    def test_marked_once_and_counted_twice(self):
        self.story.send(5, 10)
        self.story.show_all(5, 10.2)
        self.story.mark(5, began=20)
        self.story.mark(5, began=20)
        self.story.tell("read", 20.2, ids=("5",))
        self.finds("miscounted")

    def test_more_counted_than_named(self):
        self.story.send(5, 10)
        self.story.show_all(5, 10.2)
        # Repeated, so that the counts together say nothing.
        self.story.mark(5, began=20, count=2).tries = 2
        self.story.tell("read", 20.2, ids=("5",))
        self.finds("miscounted")

    def test_not_counted(self):
        self.story.send(5, 10)
        self.story.show_all(5, 10.2)
        self.story.mark(5, began=20, count=0)
        self.story.tell("read", 20.2, ids=("5",))
        self.finds("miscounted")

    def test_a_count_that_is_not_as_the_feed(self):
        self.story.send(5, 10)
        self.story.show_all(5, 10.2)
        self.story.feed("bob", 5, count=2)
        self.finds("miscounted")


def run() -> bool:
    tests = unittest.defaultTestLoader.loadTestsFromTestCase(Histories)
    return unittest.TextTestRunner(verbosity=1).run(tests).wasSuccessful()
