"""What the checker of the documents takes for the same, and what it does not: python3 scripts/docs/test_docs.py"""
import os
import unittest
from unittest import mock

from blocks import PageError, blocks, transcript
from compare import Bindings
from doc_comments import examples, types_without_example
from operations import page as operations_page
from swift import examples_program


class Comparing(unittest.TestCase):
    def same(self, shown, real, bindings=None):
        return (bindings or Bindings()).unify(shown, real)

    def test_ids_and_times_may_differ(self):
        self.assertTrue(self.same("382402239303770112  sent", "382919632677400576  sent"))
        self.assertTrue(self.same("2026-11-22 15:45:54  x", "2027-01-02 01:02:03  x"))
        self.assertTrue(self.same("1795238998540-253952", "1795368828018-4096"))
        self.assertTrue(self.same('"d4wdrr"', '"x3JdcH"'))
        self.assertTrue(self.same("PtbBPPSH  signs", "7LJO4GnQ  signs"))
        self.assertTrue(self.same("server:77", "server:780489199130380625"))

    def test_words_and_small_numbers_may_not(self):
        self.assertFalse(self.same("2 marked read", "4 marked read"))
        self.assertFalse(self.same("382402239303770112  sent", "382919632677400576  refused"))
        self.assertFalse(self.same("server:77", "group:77"))
        self.assertFalse(self.same("belfry_commit_7", "belfry_commit_8"))
        self.assertFalse(self.same("needsConsent", "joinsAtOnce1"))
        self.assertFalse(self.same("382402239303770112", "sent"))

    def test_a_value_stands_for_the_same_all_through_the_page(self):
        bindings = Bindings()
        self.assertTrue(self.same("made 7050373656096732864", "made 2851563135070670906", bindings))
        self.assertEqual(bindings.fill("show 7050373656096732864 --as bob"), "show 2851563135070670906 --as bob")
        self.assertFalse(self.same("in 7050373656096732864", "in 1434927069491728009", bindings))

    def test_columns_may_be_wider(self):
        self.assertTrue(self.same("ID      TIME", "ID                  TIME"))
        self.assertFalse(self.same("ID TIME", "IDTIME"))

    def test_what_is_left_out(self):
        self.assertTrue(self.same('{"body":"x", …}', '{"body":"x","status":0}'))
        self.assertFalse(self.same('{"body":"x", …}', '{"body":"y","status":0}'))
        self.assertIsNone(Bindings().unify_lines(["one", "…"], ["one", "two", "three"]))
        self.assertIsNone(Bindings().unify_lines(["one", "…", "four"], ["one", "two", "three", "four"]))

    def test_no_line_more_and_none_less(self):
        self.assertIn("besides", Bindings().unify_lines(["one"], ["one", "two"]))
        self.assertIn("shows", Bindings().unify_lines(["one", "two"], ["one"]))
        self.assertIn("shows", Bindings().unify_lines(["one", "two"], ["two", "one"]))
        self.assertIsNone(Bindings().unify_lines(["one", "two"], ["two", "one"], in_order=False))
        self.assertIn("besides", Bindings().unify_lines(["one"], ["two", "one"], in_order=False))
        self.assertIsNone(Bindings().unify_lines(["one", "…"], ["two", "one"], in_order=False))

    def test_json(self):
        shown = {"messageServerId": "382402239303770112", "duplicate": False, "list": [1, "…"]}
        real = {"messageServerId": "382919632677400576", "duplicate": False, "list": [1, 2, 3]}
        self.assertIsNone(Bindings().unify_json(shown, real))
        self.assertIn("$.duplicate", Bindings().unify_json(shown, {**real, "duplicate": True}))
        self.assertIn("besides", Bindings().unify_json(shown, {**real, "more": 1}))
        self.assertIn("$.list", Bindings().unify_json(shown, {**real, "list": []}))
        self.assertIn("duplicate", Bindings().unify_json({"duplicate": "false"}, {"duplicate": False}))


class Reading(unittest.TestCase):
    def test_fences_comments_and_indented_transcripts(self):
        page = "\n".join([
            "# Page", "", "```sh serves 8081", "one", "", "two", "```", "", "<!-- not run: no", "     time -->", "```sh",
            "three", "```", "", "    > GET x", "    1) \"y\"", "", "text", "    not a block", "```json", "{}", "```"])
        found = blocks("page.md", page)
        self.assertEqual([block.language for block in found], ["sh", "sh", "redis", "json"])
        self.assertEqual([block.line for block in found], [4, 12, 15, 21])
        self.assertEqual(found[0].words, ["serves", "8081"])
        self.assertEqual(found[0].text, "one\n\ntwo")
        self.assertEqual([block.not_run for block in found], ["", "no time", "", ""])
        self.assertEqual(transcript(found[2].text, "> "), [("GET x", ['1) "y"'])])

    def test_a_reason_is_for_the_next_block_only(self):
        found = blocks("page.md", "<!-- not run: a -->\ntext\n```sh\nx\n```\n")
        self.assertEqual(found[0].not_run, "")

    def test_transcripts(self):
        self.assertEqual(transcript("$ a \\\n  b\nc\n\n$ d", "$ "), [("a \\\n  b", ["c"]), ("d", [])])
        with self.assertRaises(PageError):
            transcript("output\n$ a", "$ ")


class DocComments(unittest.TestCase):
    SOURCE = "\n".join([
        "/// A bell.", "///", "/// ```swift", "/// import Foundation", "/// let bell = Bell()", "/// ```", "@frozen",
        "public struct Bell {", "  // ```swift", "  // not a doc comment", "  // ```", "  /// A clapper.",
        "  public enum Clapper {}", "", "  /// ```swift", "  /// if true {", "  ///   ring()", "  /// }", "  /// ```",
        "  public func ring() {}", "", "  struct Rope {}", "}"])

    def test_examples_are_those_of_doc_comments(self):
        found = examples("Bell.swift", self.SOURCE)
        self.assertEqual([block.line for block in found], [4, 16])
        self.assertEqual(found[1].text, "if true {\n  ring()\n}")

    def test_public_types_without_an_example_are_named(self):
        self.assertEqual(types_without_example("Bell.swift", self.SOURCE), ["Bell.swift:13: Clapper"])

    def test_each_example_is_a_function_and_keeps_its_lines(self):
        program = examples_program(examples("Bell.swift", self.SOURCE), "let surroundings = 1")
        self.assertTrue(program.startswith("import BelfryClient\nimport Foundation\nlet surroundings = 1\n"))
        self.assertIn(
            'func example1() async throws {\n#sourceLocation(file: "Bell.swift", line: 4)\n\nlet bell = Bell()\n', program)
        self.assertEqual(program.count("func example"), 2)


class ReceiverTests(unittest.TestCase):
    """The receiver of docs/webhooks.md. SignatureTests.swift has the same signature as made by Belfry."""

    secret, time, body = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLdSw", 1614265330, b'{"test": 2432232314}'
    headers = {
        "webhook-id": "msg_p5jXN8AQM9LWM0D4loKWxJek", "webhook-timestamp": str(time),
        "webhook-signature": "v1,hD2mX/UJZrVNHKAghuYM02H26dzioKzvLtEsIEs6R+A="}

    def is_signed(self, changed={}, body=body, seconds_later=0, secret=secret):
        root = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
        with open(os.path.join(root, "docs", "webhooks.md"), encoding="utf-8") as file:
            code = next(one.text for one in blocks("webhooks.md", file.read()) if one.words == ["receiver.py"])
        names = {"__name__": "receiver"}
        with mock.patch.dict(os.environ, WEBHOOK_SECRET=secret), mock.patch("time.time", lambda: self.time + seconds_later):
            exec(code, names)
            return names["is_signed"]({**self.headers, **changed}, body)

    def test_what_is_signed_is_taken(self):
        self.assertTrue(self.is_signed())
        self.assertTrue(self.is_signed(seconds_later=299))
        # While a secret is replaced, the signature of the other one is there too.
        self.assertTrue(self.is_signed({"webhook-signature": "v1,bm8= " + self.headers["webhook-signature"]}))

    def test_what_is_old_or_changed_is_refused(self):
        self.assertFalse(self.is_signed(seconds_later=301))
        self.assertFalse(self.is_signed(seconds_later=-301))
        self.assertFalse(self.is_signed(body=b'{"test": 1}'))
        self.assertFalse(self.is_signed({"webhook-id": "msg_1"}))
        self.assertFalse(self.is_signed({"webhook-timestamp": str(self.time + 1)}))
        self.assertFalse(self.is_signed({"webhook-timestamp": "soon"}))
        self.assertFalse(self.is_signed({"webhook-signature": ""}))
        self.assertFalse(self.is_signed(secret="whsec_" + "A" * 32))


class OperationsTests(unittest.TestCase):
    def line(self, operation, body="", schemas={}):
        told = {"summary": "Do it", "operationId": "it", "tags": ["groups"], **operation}
        text = operations_page({"paths": {"/v1/groups": {"post": told}}, "components": {"schemas": schemas}}, {"it": body})
        return next(line for line in text.split("\n") if line.startswith("| Do it")), text

    def test_a_line_has_the_body_and_says_which_fields_may_be_left_out(self):
        schemas = {
            "Body": {"properties": {"style": {"$ref": "#/components/schemas/Style"}, "ext": {}}, "required": ["style"]},
            "Style": {"enum": ["open", "private"]}}
        body = {"required": True, "content": {"application/json": {"schema": {"$ref": "#/components/schemas/Body"}}}}
        line, text = self.line({"requestBody": body}, '{"style":"open"}', schemas)
        self.assertEqual(line, '| Do it | `POST /v1/groups` | `{"style": "open"}` | `{style, ext?}` |')
        self.assertIn("| `style` | `open`, `private` |", text)

    def test_query_parameters_that_are_required_have_a_value(self):
        queries = [{"in": "query", "name": name, "required": name == "account"} for name in ("account", "limit")]
        self.assertEqual(self.line({"parameters": queries})[0], "| Do it | `POST /v1/groups?account={account}&limit=` | | |")


unittest.main()
