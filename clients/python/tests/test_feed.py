"""A feed over everything that happens to connections."""
import gc
import threading
import time
import unittest

from belfry_client import (
    BelfryClient, BelfryError, Connected, Counts, Disconnected, Kicked, NotificationReceived, Read, Retracted, Updated)

from .stage import STREAM_HEAD, Broker, Server, answer, request_of


def bodies(feed, count, slowly=lambda number: None):
    """Of so many notifications; the feed ends with them, or when one does not come."""
    found = []
    watchdog = threading.Timer(120, feed.close)
    watchdog.start()
    try:
        with feed:
            for event in feed:
                if isinstance(event, NotificationReceived):
                    found.append(event.notification["body"])
                    slowly(len(found))
                    if len(found) == count:
                        break
    finally:
        watchdog.cancel()
    return found


def wait_until(holds, seconds=60):
    end = time.monotonic() + seconds
    while not holds():
        if time.monotonic() > end:
            raise AssertionError("it has not come to that")
        time.sleep(0.02)


def until(feed, kind):
    return next(event for event in feed if isinstance(event, kind))


class WithBroker(unittest.TestCase):
    def setUp(self):
        self.broker = Broker()
        self.addCleanup(self.broker.stop)
        self.app = BelfryClient(self.broker.url, self.broker.token("office", "--role", "app"))
        self.addCleanup(self.app.close)

    def client(self, subject, **options):
        client = BelfryClient(self.broker.url, options.pop("token", None) or self.broker.token(subject), **options)
        self.addCleanup(client.close)
        return client

    def send(self, numbers, to="bob"):
        """Each until it is acknowledged, under one id."""
        for number in numbers:
            notification = {"toAccids": [to], "body": str(number), "messageClientId": f"{to}-{number}"}
            while True:
                try:
                    self.app.send(notification)
                    break
                except BelfryError as error:
                    if not error.may_pass:
                        raise

    def test_brokers_that_die_while_it_is_followed_lose_nothing_and_double_nothing(self):
        sender = threading.Thread(target=self.send, args=(range(300),))
        feed = self.client("bob").notifications()
        until(feed, Connected)
        sender.start()

        def murder(number):
            if number in (50, 150):
                self.broker.kill()
                threading.Timer(0.3, self.broker.start_again).start()

        found = bodies(feed, 300, murder)
        sender.join()
        self.assertEqual(sorted(found, key=int), [str(number) for number in range(300)])
        self.send([300])
        self.assertEqual(bodies(self.client("bob").notifications(after=feed.cursor), 1), ["300"])

    def test_a_slow_loop_loses_nothing(self):
        for begin in range(0, 4000, 1000):
            self.app.send_batch({"toAccids": ["bob"], "body": f"{number}" + "ü" * 1000} for number in range(begin, begin + 1000))
        found = bodies(self.client("bob").notifications(), 4000, lambda number: time.sleep(1) if number in (5, 900) else None)
        self.assertEqual(sorted(int(body.rstrip("ü")) for body in found), list(range(4000)))

    def test_what_other_devices_do_is_told(self):
        feed = self.client("bob", device="phone").notifications(with_counts=True)
        self.addCleanup(feed.close)
        laptop = self.client("bob", device="laptop")
        receipt = self.app.send({"toAccids": ["bob"], "body": "1"})
        self.assertEqual(until(feed, NotificationReceived).notification["body"], "1")
        self.app.update(receipt["messageServerId"], body="2")
        self.assertEqual(until(feed, Updated).notification["body"], "2")
        laptop.mark_read([receipt["messageServerId"]])
        self.assertEqual(until(feed, Read).message_server_ids, (receipt["messageServerId"],))
        other = self.app.send({"toAccids": ["bob"], "body": "3"})
        until(feed, NotificationReceived)
        self.app.recall(other["messageServerId"])
        self.assertEqual(until(feed, Retracted).message_server_id, other["messageServerId"])
        self.assertEqual(until(feed, Counts).counts["unread"], 0)
        feed.close()

    def test_close_wakes_a_thread_that_waits_for_an_answer(self):
        asked, over = threading.Event(), threading.Event()

        def silent(connection, number):
            request_of(connection)
            asked.set()
            over.wait(60)

        with Server(silent) as server:
            feed = BelfryClient(server.url, "t").notifications()
            found = []
            thread = threading.Thread(target=lambda: found.append(list(feed)))
            thread.start()
            self.assertTrue(asked.wait(20))
            feed.close()
            # Otherwise the client waits for 45 seconds.
            thread.join(30)
            is_awake = not thread.is_alive()
            over.set()
            thread.join()
        self.assertTrue(is_awake)
        self.assertEqual(found, [[]])

    def test_a_broker_that_ends_in_order_is_left_and_come_back_to(self):
        feed = self.client("bob").notifications()
        until(feed, Connected)
        self.broker.process.terminate()
        self.assertEqual(until(feed, Kicked), Kicked("shutdown", True))
        self.broker.process.wait()
        self.broker.start_again()
        self.send([1])
        self.assertEqual(bodies(feed, 1), ["1"])

    def test_a_token_that_expires_is_asked_for_anew(self):
        asked = []

        def provider():
            asked.append(self.broker.token("bob", "--ttl", "2" if not asked else "3600"))
            return asked[-1]

        feed = self.client("bob", token=provider).notifications()
        self.send([1])
        until(feed, NotificationReceived)
        self.assertEqual(until(feed, Kicked).reason, "tokenExpired")
        self.send([2])
        self.assertEqual(bodies(feed, 1), ["2"])
        self.assertEqual(len(asked), 2)

    def test_a_feed_that_was_ended_stays_so(self):
        feed = self.client("bob").notifications()
        until(feed, Connected)
        self.wait_for_streams(lambda streams: '"streams":[]' not in streams)
        self.broker.ask("DELETE", "/v1/account/streams", {"Authorization": f"Bearer {self.broker.token('bob')}"})
        watchdog = threading.Timer(60, feed.close)
        watchdog.start()
        self.addCleanup(watchdog.cancel)
        self.assertEqual(list(feed), [Kicked("ended", False)])

    def test_closing_leaves_nothing_behind(self):
        threads = threading.active_count()
        for begun in (lambda feed: until(feed, Connected), lambda feed: None):
            feed = self.client("bob").notifications()
            begun(feed)
            threading.Timer(0.3, feed.close).start()
            self.assertIn([type(event) for event in feed], ([], [Connected]))
        wait_until(lambda: threading.active_count() == threads)
        gc.collect()
        self.wait_for_streams(lambda streams: '"streams":[]' in streams)

    def wait_for_streams(self, holds):
        """Until it holds for what the broker says of bob's streams, which it registers and forgets a little later."""
        bob = {"Authorization": f"Bearer {self.broker.token('bob')}"}
        wait_until(lambda: holds(self.broker.ask("GET", "/v1/account/streams", bob)[2]))


class WithoutBroker(unittest.TestCase):
    def follow(self, handle):
        server = Server(handle)
        feed = BelfryClient(server.url, "t").notifications(waits_for_broker=True)
        self.addCleanup(server.__exit__)
        self.addCleanup(feed.close)
        return server, feed

    def test_a_first_connection_that_nobody_answers_is_an_error(self):
        def handle(connection, number):
            request_of(connection)

        with Server(handle) as server:
            gone = server.url
        for url in (gone, server.url):
            with self.assertRaises(BelfryError) as caught:
                next(BelfryClient(url, "t").notifications())
            self.assertEqual(caught.exception.code, "transport")

    def test_a_broker_that_answered_once_is_waited_for(self):
        def handle(connection, number):
            request_of(connection)
            if number == 1:
                connection.sendall(answer(503, b"{}"))
            elif number == 3:
                connection.sendall(STREAM_HEAD + b'event: kicked\ndata: {"reason":"ended","retry":false}\n\n')

        with Server(handle) as server:
            found = [type(event) for event in BelfryClient(server.url, "t").notifications()]
        self.assertEqual(found, [Disconnected, Disconnected, Connected, Kicked])

    def test_a_server_that_hangs_up_at_once_is_not_asked_without_end(self):
        def silent(connection, number):
            request_of(connection)

        def brief(connection, number):
            request_of(connection)
            connection.sendall(STREAM_HEAD)

        for handle in (silent, brief):
            server, feed = self.follow(handle)
            threading.Timer(3, feed.close).start()
            pauses = [event.pause_seconds for event in feed if isinstance(event, Disconnected)]
            self.assertTrue(2 <= server.count <= 15, server.count)
            self.assertTrue(all(pause <= 0.5 * 2**number for number, pause in enumerate(pauses)), pauses)

    def test_a_pause_ends_when_it_is_closed(self):
        def handle(connection, number):
            request_of(connection)
            connection.sendall(answer(503, b"{}", "Retry-After: 60"))
        _, feed = self.follow(handle)
        event = next(feed)
        self.assertGreaterEqual(event.pause_seconds, 60)
        threading.Timer(0.2, feed.close).start()
        begun = time.monotonic()
        self.assertEqual(list(feed), [])
        self.assertLess(time.monotonic() - begun, 50, "the pause has lasted to its end")

    def test_it_goes_on_behind_what_was_handed_out(self):
        asked = []

        def handle(connection, number):
            asked.append([line for line in request_of(connection).split(b"\r\n") if line.startswith(b"Last-Event-ID")])
            event = b'event: notification\ndata: {"messageServerId":"%d","body":"\xc3\xbc"}\nid: c%d\n\n' % (number, number)
            half = event.index(b"\xbc")
            connection.sendall(STREAM_HEAD + b"retry: 0\n\n" + event[:half])
            time.sleep(0.05)
            connection.sendall(event[half:] + b'event: notification\ndata: {"mess')

        _, feed = self.follow(handle)
        self.assertEqual(bodies(feed, 3), ["ü"] * 3)
        self.assertEqual(asked, [[], [b"Last-Event-ID: c1"], [b"Last-Event-ID: c2"]])

    def test_a_huge_line_passes_and_one_beyond_the_limit_ends_the_feed(self):
        huge = b'event: notification\ndata: {"messageServerId":"1","body":"' + b"x" * 900_000 + b'"}\nid: c\n\n'

        def handle(connection, number):
            request_of(connection)
            connection.sendall(STREAM_HEAD + huge + b"data: " + b"x" * 2_000_000)

        server, feed = self.follow(handle)
        until(feed, NotificationReceived)
        with self.assertRaises(BelfryError) as raised:
            list(feed)
        self.assertEqual((raised.exception.code, server.count), ("protocol", 1))

    def test_what_asking_again_cannot_cure_ends_it(self):
        for given in (answer(403, b'{"code":"forbidden","detail":"no"}'), answer(200, b"<html>", "Content-Type: text/html")):
            server, feed = self.follow(lambda connection, number: (request_of(connection), connection.sendall(given)))
            with self.assertRaises(BelfryError):
                list(feed)
            self.assertEqual(server.count, 1)

    def test_whoever_gives_tokens_may_be_away_for_a_while(self):
        asked = []

        def provider():
            asked.append(1)
            if len(asked) == 1:
                raise OSError("away")
            return "t"

        def handle(connection, number):
            request_of(connection)
            connection.sendall(STREAM_HEAD + b'event: kicked\ndata: {"reason":"ended","retry":false}\n\n')

        with Server(handle) as server:
            found = [type(event) for event in BelfryClient(server.url, provider).notifications(waits_for_broker=True)]
        self.assertEqual(found, [Disconnected, Connected, Kicked])
