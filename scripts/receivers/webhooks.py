"""Starts a broker and a receiver, sends, and reads what arrives with libraries of others: check.py BELFRY."""
import base64
import json
import secrets
import sys
import tempfile

from cloudevents.http import from_http
from standardwebhooks.webhooks import Webhook, WebhookVerificationError

import shared

CALLBACK_SECRET = "whsec_" + base64.b64encode(secrets.token_bytes(32)).decode()


def answer(path, headers, body):
    return 200, b'{"decision": "allow", "callbackExt": "seen"}' if path == "/before" else b""


def verified(secret, received):
    _, headers, body = received
    return Webhook(secret).verify(body, {name.lower(): value for name, value in headers.items()})


def refuses(secret, received):
    try:
        verified(secret, received)
    except WebhookVerificationError:
        return
    sys.exit("a signature by another secret was accepted")


def check(belfry, folder):
    receiver = shared.Receiver(answer)
    to = receiver.url
    callbacks = [
        {"url": to + "/before", "secret": CALLBACK_SECRET, "events": ["notification.send"], "onFailure": "deny"}
    ]
    with shared.broker(belfry, folder, {"BELFRY_CALLBACKS": json.dumps(callbacks)}) as broker:
        app, alice = broker.token("--sub", "backend", "--role", "app"), broker.token("--sub", "alice")

        own = broker.ask("POST", "/v1/webhooks", app, {"url": to + "/own"})
        events = broker.ask("POST", "/v1/webhooks", app, {"url": to + "/events", "format": "cloudevents"})
        sent = broker.ask("POST", "/v1/notifications", alice, {"toAccids": ["bob"], "body": "Grüße"})

        asked = receiver.wait("/before", 1)[0]
        assert verified(CALLBACK_SECRET, asked)["notification"]["body"] == "Grüße"
        refuses(own["secret"], asked)

        copy = receiver.wait("/own", 1)[0]
        data = verified(own["secret"], copy)["data"]
        assert data["notification"]["messageServerId"] == sent["messageServerId"]
        assert data["notification"]["callbackExt"] == "seen"
        refuses(events["secret"], copy)

        post = receiver.wait("/events", 1)[0]
        verified(events["secret"], post)
        event = from_http(post[1], post[2])
        assert event["id"] == sent["messageServerId"] and event["source"] == "account:bob", event
        assert event["type"] == "notification.sent" and event.data["body"] == "Grüße", event

        rotated = broker.ask("POST", f"/v1/webhooks/{own['webhookId']}/rotate", app)
        broker.ask("POST", "/v1/notifications", alice, {"toAccids": ["bob"], "body": "again"})
        both = receiver.wait("/own", 2)[1]
        verified(own["secret"], both)
        verified(rotated["secret"], both)
        refuses(CALLBACK_SECRET, both)
    print("callbacks and webhooks: read and verified by standardwebhooks and cloudevents")


if __name__ == "__main__":
    with tempfile.TemporaryDirectory(prefix="belfry-receivers-") as name:
        check(sys.argv[1], name)
