"""python3 -B scripts/tests/test_plan.py"""
import re
import unittest

from plan import divide_tests, filter_of_suites, read_seconds, unit_of


class PlanTests(unittest.TestCase):
    TESTS = [
        "A.Slow/one()", "A.Slow/two()", "A.Quick/one()", "B.New/`a name (with marks)`()",
        "EndToEndTests.EndToEnd/Moves/one()", "EndToEndTests.EndToEnd/Reads/one()",
    ]

    def test_every_test_is_in_one_shard(self):
        for count in (1, 2, 3, 8):
            shards = divide_tests(self.TESTS, {"A.Slow": 90}, count)
            for test in self.TESTS:
                self.assertEqual(sum(bool(re.search(filter_of_suites(shard), test)) for shard in shards), 1, test)

    def test_short_suites_come_later(self):
        tests = [f"A.Suite{number}/one()" for number in range(40)]
        seconds = {f"A.Suite{number}": 40 - number for number in range(40)}
        shards = divide_tests(tests, seconds, 4)
        self.assertEqual(len(shards), 8)
        loads = [sum(seconds[unit] for unit in shard) for shard in shards]
        self.assertAlmostEqual(sum(loads[4:]) / sum(loads), 0.25, delta=0.05)
        self.assertLess(max(loads[:4]) - min(loads[:4]), 20)
        longest = max(seconds[unit] for shard in shards[4:] for unit in shard)
        self.assertTrue(all(seconds[unit] > longest for shard in shards[:4] for unit in shard))

    def test_a_name_that_begins_like_another_is_another(self):
        self.assertIsNone(re.search(filter_of_suites(["A.Slow"]), "A.SlowReader/one()"))

    def test_the_longest_suite_has_a_shard_of_its_own(self):
        shards = divide_tests(self.TESTS, {"A.Slow": 90, "A.Quick": 20, "EndToEndTests.EndToEnd/Moves": 30}, 2)
        self.assertIn(["A.Slow"], shards)

    def test_suites_of_the_group_are_divided(self):
        self.assertEqual(unit_of("EndToEndTests.EndToEnd/Moves/one()"), "EndToEndTests.EndToEnd/Moves")
        self.assertEqual(unit_of("B.New/`a (b/c)`()"), "B.New")

    def test_a_line_that_cannot_be_read_is_named(self):
        self.assertEqual(read_seconds("# seconds suite\n\n12.5 A.Slow\n"), {"A.Slow": 12.5})
        with self.assertRaisesRegex(ValueError, "line 2"):
            read_seconds("1 A\nA.Slow 12\n")


if __name__ == "__main__":
    unittest.main()
