"""What needs no broker."""
import base64
import json
import unittest

from belfry_client import BelfryError
from belfry_client.events import Kicked, Other, Read, feed_event
from belfry_client.errors import refusal
from belfry_client.policy import Backoff, ReconnectPolicy
from belfry_client.server_sent_events import EventTooLong, Position, Retry, ServerSentEvent, ServerSentEventParser
from belfry_client.tokens import expiry


def parsed(pieces, limit=1024, last_id=None):
    parser, items = ServerSentEventParser(last_id, limit), []
    for piece in pieces:
        parser.parse(piece, items)
    return items


class ParserTests(unittest.TestCase):
    TEXT = ("\ufeffretry: 250\n: comment\nevent: a\r\ndata: ü🔔\rdata:  two\nid: 1\r\n\r\n"
            "id: 2\n\ndata\n\nid: x\0y\ndata: d\n\nnot known: z\ndata: cut off").encode()
    ITEMS = [
        Retry(0.25), ServerSentEvent("a", "ü🔔\n two", "1"), Position("2"), ServerSentEvent("message", "", "2"),
        ServerSentEvent("message", "d", "2")]

    def test_every_way_to_cut_it_in_two_and_byte_by_byte(self):
        for cut in range(len(self.TEXT) + 1):
            self.assertEqual(parsed([self.TEXT[:cut], self.TEXT[cut:]]), self.ITEMS, cut)
        self.assertEqual(parsed([self.TEXT[at:at + 1] for at in range(len(self.TEXT))]), self.ITEMS)

    def test_what_is_too_long_is_refused_and_what_was_before_is_kept(self):
        items = []
        parser = ServerSentEventParser(limit=10)
        with self.assertRaises(EventTooLong):
            parser.parse(b"data: a\n\ndata: 0123456789", items)
        self.assertEqual(items, [ServerSentEvent("message", "a", None)])
        with self.assertRaises(EventTooLong):
            parsed([b"data: 45678\n"] * 3, limit=11)

    def test_what_has_no_id_stands_behind_the_last(self):
        self.assertEqual(parsed([b"data: a\n\n"], last_id="7"), [ServerSentEvent("message", "a", "7")])


class PolicyTests(unittest.TestCase):
    LOST = BelfryError("transport", "lost")

    def test_pauses_double_to_a_bound_and_are_spread(self):
        pauses = [Backoff().pause(failures, 0, 1) for failures in range(1, 9)]
        self.assertEqual(pauses, [0.5, 1, 2, 4, 8, 16, 30, 30])
        self.assertEqual(Backoff().pause(10**6, 2, 0.5), 17)
        self.assertEqual(Backoff().pause(3, 0, 0), 0)

    def test_only_what_is_heard_makes_the_pauses_short_again(self):
        policy = ReconnectPolicy(Backoff())
        self.assertEqual([policy.pause_after(self.LOST, 1) for _ in range(3)], [0.5, 1, 2])
        policy.heard()
        self.assertEqual(policy.pause_after(self.LOST, 1), 0.5)

    def test_the_broker_says_what_to_wait_within_bounds(self):
        policy = ReconnectPolicy(Backoff())
        policy.asked(3)
        self.assertEqual(policy.pause_after(None, 0), 3)
        self.assertEqual(policy.pause_after(refusal(503, "7", b""), 0), 7)
        policy.asked(10**9)
        self.assertEqual(policy.pause_after(None, 0), 300)

    def test_what_no_waiting_cures_ends_it(self):
        for status in (400, 401, 403, 404, 501):
            self.assertIsNone(ReconnectPolicy(Backoff()).pause_after(refusal(status, None, b""), 0), status)


class ReadingTests(unittest.TestCase):
    def test_problems_say_what_they_say(self):
        body = json.dumps({"code": "invalidField", "detail": "no", "field": "a[1]", "retryAfter": 4}).encode()
        error = refusal(400, None, body)
        self.assertEqual((error.code, error.detail, error.field, error.retry_after), ("invalidField", "no", "a[1]", 4))
        self.assertEqual(str(error), "invalidField (a[1]): no")

    def test_an_unknown_outcome_has_the_id_to_send_again_with(self):
        error = refusal(503, "1", b'{"code":"unknownOutcome","detail":"d","messageClientId":"m"}')
        self.assertEqual((error.code, error.message_client_id, error.may_pass), ("unknownOutcome", "m", True))
        later = refusal(503, None, b'{"code":"unavailable","detail":"away"}')
        self.assertEqual((later.after(error).code, later.after(None).code), ("unknownOutcome", "unavailable"))
        self.assertEqual(refusal(403, None, b'{"code":"muted"}').after(error).code, "muted")
        self.assertEqual(refusal(401, None, b'{"code":"unauthorized"}').after(error).code, "unknownOutcome")
        refused = BelfryError("transport", "refused", nothing_was_sent=True)
        self.assertFalse(refused.leaves_outcome_open)
        last = refused.after(error)
        self.assertEqual((last.code, last.leaves_outcome_open, last.may_pass), ("transport", True, True))

    def test_a_page_of_a_proxy_is_read_by_its_status(self):
        error = refusal(502, "Wed, 21 Oct 2026 07:28:00 GMT", b"<html>")
        self.assertEqual((error.code, error.status, error.retry_after), ("unavailable", 502, None))
        self.assertEqual([refusal(status, None, b"").code for status in (401, 404, 413)], ["protocol"] * 3)
        for body in (b"[]", b"null", b'{"code": 7, "detail": null}', b"[" * 100_000):
            self.assertEqual(refusal(500, None, body).code, "protocol")

    def test_events(self):
        def read(name, text):
            return feed_event(ServerSentEvent(name, text, "1"))
        self.assertEqual(read("read", '{"upTo":"7"}'), Read(up_to="7"))
        self.assertEqual(read("read", '{"messageServerIds":["7","8"]}'), Read(("7", "8")))
        self.assertTrue(read("kicked", '{"reason":"tokenExpired","retry":false}').feed_returns)
        self.assertEqual(read("kicked", '{"reason":"replaced","byDevice":"p","retry":false}'), Kicked("replaced", False, "p"))
        for name, text in (("notification", "[]"), ("read", "null"), ("counts", "{"), ("news", "{}"), ("gap", '{"from":"1"}')):
            self.assertEqual(read(name, text), Other(name, text))

    def test_when_a_token_expires(self):
        def token(claims):
            return f"e30.{base64.urlsafe_b64encode(json.dumps(claims).encode()).decode().rstrip('=')}.x"
        self.assertEqual(expiry(token({"exp": 1234, "sub": "ü"})), 1234)
        for other in ("", "blf_key", "a.b.c", token([]), token({"exp": "soon"})):
            self.assertIsNone(expiry(other))
