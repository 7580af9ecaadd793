"""What is written down as lost with a tail: of small histories and what Redis has in the end."""

import unittest
from types import SimpleNamespace

from ..ending import write_down_losses
from ..sentinel.injections import ALL_PARTITIONS
from .histories import Story


class LossTests(unittest.TestCase):
    def setUp(self):
        self.story = Story()
        for id in (1, 2):
            self.story.send(id, id)
            self.story.show_all(id, id + 0.1)
        self.story.send(3, 20)
        self.story.show_all(3, 20.1)
        self.cut = self.story.fault(5, 6, lost_since=1.5)

    def losses(self, ids: set[str], *, include_read: bool = True) -> list[str]:
        redis = SimpleNamespace(ids=lambda: ids, ids_include_read=include_read)
        write_down_losses(SimpleNamespace(history=self.story.history, redis=redis))
        return self.cut.lost_ids

    def test_what_redis_has_is_not_lost(self):
        self.assertEqual(self.losses({"1", "2", "3"}), [])

    def test_what_it_lacks_from_before_the_cut_is_lost(self):
        self.assertEqual(self.losses({"1", "3"}), ["2"])

    def test_what_it_lacks_from_after_the_cut_is_not_excused(self):
        self.assertEqual(self.losses({"1", "2"}), [])

    def test_a_mark_up_to_a_later_one_brings_nothing_back(self):
        self.story.mark(began=30, up_to=3)
        self.assertEqual(self.losses({"1", "3"}), ["2"])

    def test_what_was_read_may_be_gone_where_redis_removes_it(self):
        self.story.mark(2, began=30)
        self.assertEqual(self.losses({"1", "3"}, include_read=False), [])

    def test_what_a_stopped_broker_passes_on_during_a_failover_may_be_lost(self):
        self.cut.undone = ALL_PARTITIONS
        held = self.story.send(4, 1)
        held.ended = 5.5
        early = self.story.send(5, 1)
        early.ended = 3.5
        self.assertEqual(self.losses({"1", "2", "3"}), ["4"])


if __name__ == "__main__":
    unittest.main()
