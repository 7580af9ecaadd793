"""Which sentences are hard to read, and what string literals of Swift say."""
import os
import sys
import unittest

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "shared"))
import voice  # noqa: E402
from swift_texts import is_sentence, read_literals, texts_of  # noqa: E402


class Literals(unittest.TestCase):
    def texts(self, source):
        return [(literal.line, literal.text) for literal in read_literals(source)]

    def test_joins_parts_and_keeps_interpolations(self):
        source = 'let a = "one \\(f("x", y)) two"\nlet b = "first "\n  + "second"\n'
        self.assertEqual(self.texts(source), [(1, 'one \\(f("x", y)) two'), (2, "first second")])

    def test_reads_several_lines(self):
        source = 'let a = """\n  one \\\n  two\n  """\nlet b = "c"\n'
        self.assertEqual([text.split() for _, text in self.texts(source)], [["one", "two"], ["c"]])

    def test_passes_over_comments_and_raw_literals(self):
        source = '// says "nothing"\nlet a = #"a "b" c"#\n/* "no" */ let b = "yes"\n'
        self.assertEqual(self.texts(source), [(3, "yes")])

    def test_escapes(self):
        self.assertEqual(self.texts(r'let a = "say \"a\" \\ b"'), [(1, 'say "a" \\ b')])

    def test_knows_what_stands_in_front(self):
        self.assertTrue(read_literals('throw Refusal(.forbidden, "no")')[0].before.endswith("Refusal(.forbidden, "))

    def test_a_sentence_has_three_words(self):
        self.assertTrue(is_sentence("the group is disabled"))
        self.assertFalse(is_sentence("\\(group name is long) no"))
        self.assertFalse(is_sentence("HGETALL"))


class UserTexts(unittest.TestCase):
    def texts(self, source, path="Sources/BelfryServer/Serving/Broker.swift"):
        return [(kind, words) for kind, _, words in texts_of(path, source)]

    def test_an_event_of_the_log_may_be_short(self):
        self.assertEqual(self.texts('Log.line("ended")\nLog.line("work fails", ["work": work])\nLog.line(\n  "clients speak TLS")'),
                         [("log lines", "ended"), ("log lines", "work fails"), ("log lines", "clients speak TLS")])
        self.assertEqual(self.texts('if isWritten { report("webhook disabled", endpoint) }\nFiles(onFailure: "keys stay") { 1 }'),
                         [("log lines", "webhook disabled"), ("log lines", "keys stay")])

    def test_both_branches_of_a_condition_are_of_one_kind(self):
        self.assertEqual(self.texts('report(\n  after.contains(reason) ? "refuses writes" : "takes writes",\n  ["reason": reason])'),
                         [("log lines", "refuses writes"), ("log lines", "takes writes")])

    def test_two_words_are_a_text_in_a_refusal_and_after_an_article(self):
        self.assertEqual(self.texts('throw Refusal(.forbidden, "not allowed")\nlet a = Field("the members")\nlet b = "GET me"'),
                         [("refusals", "not allowed"), ("other", "the members")])

    def test_names_are_no_texts(self):
        self.assertEqual(self.texts('let a = endpoint(.get, "group remove")\nlet b = ["work": "x"]'), [])


class HardSentences(unittest.TestCase):
    def hard(self, text):
        return voice.hard_sentences(voice.document_runs(text))

    def test_openings_and_words(self):
        self.assertEqual(self.hard("What is posted is kept here. The rest goes away."), ["What is posted is kept here."])
        self.assertEqual(self.hard("It is for whoever is there."), ["It is for whoever is there."])
        self.assertEqual(len(self.hard("Whoever has it may use it.")), 2)

    def test_questions_are_fine(self):
        self.assertEqual(self.hard("What does it cost to run?"), [])

    def test_headings_and_blocks_do_not_count(self):
        self.assertEqual(self.hard("# What is where\n\n```sh\necho Of no use at all\n```\n\n<!-- Where is it now -->\n"), [])

    def test_each_item_and_cell_is_a_text(self):
        page = "- Of no use to you.\n- Fine as it is.\n\n| a | b |\n|---|---|\n| By no means this | good |\n"
        self.assertEqual(self.hard(page), ["Of no use to you.", "By no means this"])

    def test_lines_of_a_comment_are_one_text(self):
        runs = voice.comment_runs("a.swift", "/// Sends what\n/// the caller gave.\nlet a = 1  // no line of comment\n// - Returns: Where it is.\n")
        self.assertEqual(runs[0], "Sends what the caller gave.")
        self.assertEqual(voice.hard_sentences(runs), ["Where it is."])

    def test_texts_of_users(self):
        source = 'let a = "whoever knows it gets in"  // Of no interest here.\n'
        self.assertEqual(voice.hard_sentences(voice.user_texts(source)), ["whoever knows it gets in"])


class Ceilings(unittest.TestCase):
    def test_only_more_fails(self):
        self.assertTrue(voice.verdict("texts", 1, 0)[1])
        self.assertEqual(voice.verdict("texts", 3, 3), ("", False))

    def test_less_says_to_lower(self):
        words, fails = voice.verdict("documents", 3, 5)
        self.assertFalse(fails)
        self.assertIn("to 3", words)


unittest.main()
