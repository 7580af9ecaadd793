"""Starts a broker, a push gateway and a push service, sends, and reads what arrives with libraries of others:
push.py BELFRY."""
import base64
import json
import os
import sys
import tempfile
import time
import urllib.parse

import http_ece
import py_vapid
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric import ec

import shared

NOTIFY = "/_matrix/push/v1/notify"


def base64url(octets):
    return base64.urlsafe_b64encode(octets).rstrip(b"=").decode()


class Browser:
    """A subscription as a browser makes one."""

    def __init__(self, endpoint):
        self.endpoint = endpoint
        self.key, self.secret = ec.generate_private_key(ec.SECP256R1()), os.urandom(16)

    @property
    def pusher(self):
        point = self.key.public_key().public_bytes(
            serialization.Encoding.X962, serialization.PublicFormat.UncompressedPoint)
        return {
            "kind": "webpush", "endpoint": self.endpoint, "p256dh": base64url(point), "auth": base64url(self.secret)}

    def read(self, received, server_key):
        """The message, if it is for this subscription and from whoever has the server's key."""
        _, headers, body = received
        headers = {name.lower(): value for name, value in headers.items()}
        assert headers["content-encoding"] == "aes128gcm" and int(headers["ttl"]) > 80_000, headers
        assert len(body) <= 4096 and headers["urgency"] == "high", headers
        scheme, rest = headers["authorization"].split(" ", 1)
        words = dict(word.strip().split("=", 1) for word in rest.split(","))
        assert scheme == "vapid" and words["k"] == server_key, headers
        assert py_vapid.Vapid02.verify(headers["authorization"]), headers
        payload = words["t"].split(".")[1]
        claims = json.loads(base64.urlsafe_b64decode(payload + "=" * (-len(payload) % 4)))
        origin = "{0.scheme}://{0.netloc}".format(urllib.parse.urlsplit(self.endpoint))
        assert claims["aud"] == origin and claims["sub"] == "mailto:ops@example.com", claims
        assert time.time() < claims["exp"] <= time.time() + 24 * 3600, claims
        text = http_ece.decrypt(body, private_key=self.key, auth_secret=self.secret, version="aes128gcm")
        return json.loads(text), headers["topic"]


def check(belfry, folder):
    def answer(path, headers, body):
        if path == NOTIFY:
            devices = json.loads(body)["notification"]["devices"]
            gone = [device["pushkey"] for device in devices if device["pushkey"].startswith("gone")]
            return 200, json.dumps({"rejected": gone}).encode()
        return (410 if path == "/gone" else 201), b""

    receiver = shared.Receiver(answer)
    settings = {"BELFRY_PUSH_DELAY_MILLISECONDS": "300", "BELFRY_PUSH_CONTACT": "mailto:ops@example.com"}
    with shared.broker(belfry, folder, settings) as broker:
        alice, bob, carol = (broker.token("--sub", name) for name in ("alice", "bob", "carol"))
        server_key = broker.ask("GET", "/v1/account/pushers", bob)["webPushKey"]
        browser, gone = Browser(receiver.url + "/bob"), Browser(receiver.url + "/gone")
        phone = {"kind": "matrix", "url": receiver.url, "appId": "com.example.app", "pushkey": "key of bob's phone"}
        broker.ask("PUT", "/v1/account/pushers/phone", bob, phone)
        broker.ask("PUT", "/v1/account/pushers/lost", bob, phone | {"pushkey": "gone for good"})
        broker.ask("PUT", "/v1/account/pushers/browser", bob, browser.pusher)
        broker.ask("PUT", "/v1/account/pushers/deleted", bob, gone.pusher)
        assert len(broker.ask("GET", "/v1/account/pushers", bob)["pushers"]) == 4

        # The one that is not pushed comes first, so that it counts, however late the push is.
        broker.ask("POST", "/v1/notifications", alice, {"toAccids": ["bob"], "body": "not pushed"})
        sent = broker.ask("POST", "/v1/notifications", alice, {
            "toAccids": ["bob"], "body": "Grüße", "fromNick": "Alice", "pushPayload": {"room": 7},
            "setting": {"pushEnable": True}})
        broker.ask("POST", "/v1/notifications", alice, {
            "toAccids": ["carol"], "body": "for nobody's device", "setting": {"pushEnable": True}})

        notified = [json.loads(each[2])["notification"] for each in receiver.wait(NOTIFY, 2)]
        mine = [each for each in notified if each["devices"][0]["pushkey"] == phone["pushkey"]][0]
        assert mine["event_id"] == sent["messageServerId"] and mine["counts"] == {"unread": 2}, mine
        assert mine["content"]["body"] == "Alice: Grüße" and mine["content"]["pushPayload"] == {"room": 7}, mine
        assert mine["devices"][0]["app_id"] == "com.example.app", mine

        message, topic = browser.read(receiver.wait("/bob", 1)[0], server_key)
        assert message["messageServerId"] == topic == sent["messageServerId"], (message, topic)
        assert message["text"] == "Alice: Grüße" and message["pushPayload"] == {"room": 7}, message

        receiver.wait("/gone", 1)
        until(lambda: [each["deviceId"] for each in broker.ask("GET", "/v1/account/pushers", bob)["pushers"]]
              == ["browser", "phone"])

        broker.ask("POST", "/v1/notifications/read", bob, {"items": [{"messageServerId": sent["messageServerId"]}]})
        badge = json.loads(receiver.wait(NOTIFY, 3)[2][2])["notification"]
        assert "event_id" not in badge and badge["counts"] == {"unread": 1}, badge
        time.sleep(1)
        assert len(receiver.at(NOTIFY)) == 3 and len(receiver.at("/bob")) == 1, receiver.received
    print("push: decrypted by http_ece, verified by py_vapid, and taken by a gateway as Matrix has them")


def until(condition, seconds=10):
    deadline = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > deadline:
            sys.exit("a pusher that is not known any more stays")
        time.sleep(0.05)


if __name__ == "__main__":
    with tempfile.TemporaryDirectory(prefix="belfry-receivers-") as name:
        check(sys.argv[1], name)
