"""Sends, marks and refusals, with a broker, and with servers that do what a broker seldom does."""
import json
import time
import unittest

from belfry_client import LAST_MESSAGE_ID, BelfryClient, BelfryError

from .stage import Broker, Server, answer, cutting, request_of


class WithBroker(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.broker = Broker()
        cls.addClassCleanup(cls.broker.stop)

    def client(self, subject, **options):
        client = BelfryClient(options.pop("url", self.broker.url), self.broker.token(subject), **options)
        self.addCleanup(client.close)
        return client

    def test_a_send_whose_answers_are_lost_is_sent_once(self):
        with cutting(self.broker.port, losses=2) as way:
            receipt = self.client("alice", url=way.url).send({"toAccids": ["lost"], "body": "once"})
            self.assertEqual(way.count, 3)
        self.assertTrue(receipt["duplicate"])
        page = self.client("lost").unread()
        self.assertEqual([each["messageServerId"] for each in page["notifications"]], [receipt["messageServerId"]])

    def test_a_batch_whose_answer_is_lost_is_sent_once(self):
        # Both tries together are no more than an account may send in a second, so an account of its own has enough.
        with cutting(self.broker.port, losses=1) as way:
            results = self.client("batcher", url=way.url).send_batch(
                {"toAccids": ["batch"], "body": str(number)} for number in range(40))
        self.assertEqual([error for error in results if isinstance(error, BelfryError)], [])
        self.assertTrue(all(result["duplicate"] for result in results))
        self.assertEqual(self.client("batch").counts()["unread"], 40)

    def test_an_error_tells_the_id_to_send_again_with(self):
        alice = self.client("alice", url="http://127.0.0.1:1")
        alice.attempts_limit = 1
        with self.assertRaises(BelfryError) as raised:
            alice.send({"toAccids": ["again"], "body": "x"})
        self.assertEqual(raised.exception.code, "transport")
        self.assertFalse(raised.exception.leaves_outcome_open, "nobody listens on that port")
        client_id = raised.exception.message_client_id
        again = {"toAccids": ["again"], "body": "x", "messageClientId": client_id}
        self.assertFalse(self.client("alice").resend(again)["duplicate"])
        self.assertTrue(self.client("alice").resend(again)["duplicate"])

    def test_a_batch_that_fails_as_a_whole_tells_the_notifications_to_send_again(self):
        with cutting(self.broker.port, losses=1) as way:
            batcher = self.client("again", url=way.url)
            batcher.attempts_limit = 1
            with self.assertRaises(BelfryError) as raised:
                batcher.send_batch([{"toAccids": ["whole"], "body": "1"}, {"toAccids": ["whole"], "body": "2"}])
        self.assertTrue(raised.exception.leaves_outcome_open)
        results = self.client("again").send_batch(raised.exception.notifications)
        self.assertEqual([result["duplicate"] for result in results], [True, True])
        self.assertEqual(self.client("whole").counts()["unread"], 2)

    def test_a_refused_line_of_a_batch_holds_up_no_other(self):
        good, bad, last = self.client("alice").send_batch(
            [{"toAccids": ["carol"], "body": "1"}, {"toAccids": ["no such/name"]}, {"toAccids": ["carol"], "body": "ü🔔"}])
        self.assertIsInstance(bad, BelfryError)
        self.assertEqual((bad.code, bad.status, bad.field), ("invalidField", 400, "toAccids[0]"))
        self.assertTrue(bad.message_client_id)
        self.assertLess(int(good["messageServerId"]), int(LAST_MESSAGE_ID))
        self.assertEqual(last["duplicate"], False)

    def test_pages_and_marks(self):
        alice, bob = self.client("alice"), self.client("bob")
        alice.send_batch({"toAccids": ["bob"], "body": f"ü🔔 {number}"} for number in range(7))
        seen, cursor = [], None
        while (page := bob.unread(limit=3, after=cursor))["notifications"]:
            seen += page["notifications"]
            cursor = page["cursor"]
        self.assertEqual({each["body"] for each in seen}, {f"ü🔔 {number}" for number in range(7)})
        self.assertEqual(bob.mark_read([seen[0]["messageServerId"], seen[1]]), 2)
        self.assertEqual(bob.mark_read_up_to(seen[3]["messageServerId"]), 2)
        self.assertEqual(bob.counts()["unread"], 3)
        self.assertEqual(bob.mark_read_up_to(LAST_MESSAGE_ID), 3)
        self.assertEqual(bob.unread()["notifications"], [])

    def test_methods_that_take_a_list_refuse_anything_else(self):
        alice = self.client("alice")
        for given in ("123", b"123", 7, {"messageServerId": "1"}, None):
            for method in (alice.mark_read, alice.send_batch):
                with self.assertRaisesRegex(TypeError, "^notifications must be a list"):
                    method(given)

    def test_updates_recalls_preferences_and_subscriptions(self):
        alice = self.client("alice")
        receipt = alice.send({"toAccids": ["dora"], "body": "1"})
        self.assertEqual(alice.update(receipt["messageServerId"], body="2")["body"], "2")
        alice.recall(receipt["messageServerId"])
        self.assertEqual(self.client("dora").unread()["notifications"], [])
        preferences = [{"level": "parties", "types": [100]}]
        alice.set_preferences(preferences)
        self.assertEqual(alice.preferences(), preferences)
        server = json.loads(self.broker.ask(
            "POST", "/v1/servers", {"Authorization": f"Bearer {self.broker.token('alice')}", "Content-Type": "application/json"},
            '{"name":"Campfire"}')[2])

        def subscribed():
            members = self.broker.ask(
                "GET", f"/v1/servers/{server['serverId']}/members",
                {"Authorization": f"Bearer {self.broker.token('alice')}"})[2]
            return json.loads(members)["members"][0]["subscribed"]

        alice.subscribe(server["serverId"])
        alice.subscribe(server["serverId"], server["defaultChannelId"])
        self.assertTrue(subscribed())
        alice.unsubscribe(server["serverId"])
        self.assertFalse(subscribed())

    def test_refusals_say_what_is_wrong(self):
        with self.assertRaises(BelfryError) as raised:
            self.client("alice").send({"toAccids": ["bob"], "status": 7})
        self.assertEqual((raised.exception.code, raised.exception.field), ("invalidField", "status"))
        with self.assertRaises(BelfryError) as raised:
            self.client("alice").subscribe("7")
        self.assertEqual((raised.exception.code, raised.exception.status), ("notFound", 404))
        for wrong in ("../x", "7/../8", ""):
            with self.assertRaises(BelfryError):
                self.client("alice").recall(wrong)
        with self.assertRaises(BelfryError) as raised:
            self.client("alice").send({"toAccids": ["bob"], "status": float("nan")})
        self.assertEqual(raised.exception.code, "invalidField")

    def test_a_token_that_was_revoked_is_asked_for_anew(self):
        tokens = []

        def provider():
            tokens.append(self.broker.token("erin"))
            return tokens[-1]

        erin = BelfryClient(self.broker.url, provider)
        self.addCleanup(erin.close)
        erin.counts()
        erin.counts()
        self.assertEqual(len(tokens), 1)
        self.broker.ask("POST", "/v1/account/revoke", {"Authorization": f"Bearer {tokens[0]}"})
        time.sleep(1.1)     # tokens name the second in which they were issued
        erin.counts()
        self.assertEqual(len(tokens), 2)

    def test_a_token_that_expires_soon_is_asked_for_before(self):
        tokens = []

        def provider():
            tokens.append(self.broker.token("erin", "--ttl", "3600" if tokens else "20"))
            return tokens[-1]

        erin = BelfryClient(self.broker.url, provider)
        self.addCleanup(erin.close)
        for _ in range(3):
            erin.counts()
        self.assertEqual(len(tokens), 2)

    def test_a_connection_that_the_broker_closed_is_not_used(self):
        alice = self.client("alice")
        alice.attempts_limit = 1
        alice.counts()
        self.broker.kill()
        self.broker.start_again()
        alice.counts()


class WithoutBroker(unittest.TestCase):
    def refusing(self, status, *headers, then=b'{"unread":0}', times=1):
        def handle(connection, number):
            request_of(connection)
            connection.sendall(answer(status, b"{}", *headers) if number <= times else answer(200, then))
        server = Server(handle)
        self.addCleanup(server.__exit__)
        return server

    def test_what_the_broker_asks_to_wait_is_waited(self):
        for status in (429, 503):
            server = self.refusing(status, "Retry-After: 1")
            begun = time.monotonic()
            BelfryClient(server.url, "t").counts()
            self.assertGreaterEqual(time.monotonic() - begun, 1)
            self.assertEqual(server.count, 2)

    def test_the_refusal_of_another_service_is_not_belfrys_also_as_json(self):
        def handle(connection, _):
            request_of(connection)
            connection.sendall(answer(404, b'{"code":"noRoute","detail":"x"}', "Content-Type: application/json"))
        with Server(handle) as server, self.assertRaises(BelfryError) as raised:
            BelfryClient(server.url, "t").counts()
        self.assertEqual((raised.exception.code, raised.exception.status), ("protocol", 404))

    def test_what_is_long_to_wait_is_the_callers_to_decide(self):
        server = self.refusing(429, "Retry-After: 60")
        with self.assertRaises(BelfryError) as raised:
            BelfryClient(server.url, "t").counts()
        self.assertEqual((raised.exception.code, raised.exception.retry_after, server.count), ("rateLimited", 60, 1))

    def test_a_token_that_stays_refused_is_an_error(self):
        server = self.refusing(401, times=9)
        asked = []
        with self.assertRaises(BelfryError) as raised:
            BelfryClient(server.url, lambda: asked.append(1) or "same").counts()
        self.assertEqual((raised.exception.status, len(asked), server.count), (401, 2, 1))

    def test_tries_end(self):
        server = self.refusing(503, times=9)
        with self.assertRaises(BelfryError):
            BelfryClient(server.url, "t").counts()
        self.assertEqual(server.count, 3)

    def test_an_answer_that_is_cut_off_is_none(self):
        def handle(connection, number):
            request_of(connection)
            whole = answer(200, b'{"unread":0}')
            connection.sendall(whole[:-5] if number == 1 else whole)
        with Server(handle) as server:
            self.assertEqual(BelfryClient(server.url, "t").counts(), {"unread": 0})
            self.assertEqual(server.count, 2)

    def test_after_a_failed_tls_handshake_nothing_was_sent(self):
        with Server(lambda connection, _: connection.sendall(answer(200, b"{}"))) as server:
            client = BelfryClient(server.url.replace("http:", "https:"), "t")
            client.attempts_limit = 1
            with self.assertRaises(BelfryError) as raised:
                client.counts()
        self.assertEqual((raised.exception.code, raised.exception.nothing_was_sent), ("transport", True))
        self.assertIn("perhaps because this port speaks plain HTTP", str(raised.exception))
        for word in ("\n", "_ssl.c"):
            self.assertNotIn(word, str(raised.exception))

    def test_a_redirect_is_not_followed(self):
        server = self.refusing(302, "Location: /elsewhere", times=9)
        with self.assertRaises(BelfryError):
            BelfryClient(server.url, "t").counts()
        self.assertEqual(server.count, 1)

    def test_what_a_header_cannot_say_is_refused_before(self):
        for token in ("", "a b", "a\r\nX: y", "ü", "x" * 10_000):
            with self.assertRaises(BelfryError):
                BelfryClient("http://127.0.0.1:1", token).counts()
        with self.assertRaises(ValueError):
            BelfryClient("http://127.0.0.1:1", "t", device="a\r\nX: y")
        with self.assertRaises(ValueError):
            BelfryClient("ftp://127.0.0.1", "t")
