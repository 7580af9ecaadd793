"""A seed says which faults are played, and nothing else does."""

import asyncio
import unittest
from random import Random

from .injections import MIXED
from .plan import draw_row, play_row
from .stage import random_of


class Plans(unittest.TestCase):
    def draw(self, seed: int, **more) -> list:
        return draw_row(random_of(seed, "faults of all"), MIXED, rest=6, seconds=100, **more)

    def test_a_seed_draws_the_same_faults_again(self):
        self.assertEqual(self.draw(1), self.draw(1))
        self.assertNotEqual(self.draw(1), self.draw(2))

    def test_a_longer_run_begins_as_a_shorter_one(self):
        shorter, longer = self.draw(1), draw_row(random_of(1, "faults of all"), MIXED, rest=6, seconds=300)
        self.assertEqual(longer[: len(shorter)], shorter)
        self.assertGreater(len(longer), len(shorter))

    def test_actors_do_not_draw_from_each_other(self):
        alone = [random_of(1, "producer 1").random()]
        other = random_of(1, "producer 2")
        other.random()
        self.assertEqual([random_of(1, "producer 1").random()], alone)
        self.assertNotEqual(random_of(1, "producer 2").random(), alone[0])

    def test_faults_of_two_rows_draw_the_same_in_any_order(self):
        """As when one row waits for a broker and the other does not."""

        def played(waits: dict[str, float]) -> dict[str, list[float]]:
            drawn: dict[str, list[float]] = {"first": [], "second": []}

            def injection(name: str):
                async def draw(stage, random: Random) -> None:
                    await asyncio.sleep(waits[name])
                    drawn[name].append(random.random())

                return draw

            async def both() -> None:
                rows = [
                    draw_row(random_of(7, name), [(injection(name), 1)], rest=0.002, seconds=0.03, usual=0.001)
                    for name in drawn
                ]
                await asyncio.gather(*(play_row(None, row) for row in rows))

            asyncio.run(both())
            return drawn

        drawn = played({"first": 0.0, "second": 0.004})
        self.assertEqual(played({"first": 0.004, "second": 0.0}), drawn)
        self.assertGreater(len(drawn["first"]), 3)


if __name__ == "__main__":
    unittest.main()
