"""Uses a broker through what generators make of its description: see scripts/check-openapi.

    generated.py URL TOKEN

Sends, follows the stream, reads a page and marks read with openapi-python-client's client (`belfry_client`), and reads
what comes with datamodel-codegen's models (`belfry_models`). Both are on the path, and scripts/shared.
"""

import sys

import belfry_client
import belfry_models
import httpx
import server_sent_events
from belfry_client.api.notifications import (
    notification_batch,
    notification_read,
    notification_send,
    notification_unread,
)
from belfry_client.api.servers import server_create, server_show
from belfry_client.models import (
    InviteMode,
    NotificationReadBody,
    NotificationSendBody,
    Problem,
    ProblemCode,
    ReadItem,
    ServerCreateBody,
)
from belfry_client.types import File

EVENTS = {
    "notification": belfry_models.Notification,
    "updated": belfry_models.Notification,
    "read": belfry_models.ReadEvent,
    "gap": belfry_models.Gap,
    "device": belfry_models.DeviceEvent,
    "kicked": belfry_models.KickedEvent,
}


def models(lines):
    """The events of a stream, each with its data as the model that the description names for it."""
    for name, data in server_sent_events.events(lines):
        yield name, EVENTS[name].model_validate_json(data)


def expect(what, found):
    if not found:
        raise AssertionError(what)


def main(url, token):
    # An app's token: of an account, as its headers say.
    headers = {"Belfry-Account": "gen-alice"}
    client = belfry_client.AuthenticatedClient(base_url=url, token=token, headers=headers)

    body = ServerCreateBody(name="Generated", invite_mode=InviteMode.JOINS_AT_ONCE)
    server = server_create.sync(client=client, body=body)
    expect(f"a server is made: {server}", server.invite_mode == InviteMode.JOINS_AT_ONCE)

    with httpx.stream(
        "GET",
        f"{url}/v1/notifications/stream",
        headers=headers | {"Authorization": f"Bearer {token}"},
        timeout=20,
    ) as stream:
        coming = models(stream.iter_lines())
        body = NotificationSendBody(server_id=server.server_id, body="from a generated client")
        sent = notification_send.sync(client=client, body=body)
        expect("it is sent", sent.duplicate is False)
        for name, data in coming:
            if name == "notification" and data.messageServerId.root == sent.message_server_id:
                expect("its body comes", data.body == "from a generated client")
                break

        page = notification_unread.sync(client=client, limit=10)
        expect("it is unread", sent.message_server_id in [one.message_server_id for one in page.notifications])
        body = NotificationReadBody(items=[ReadItem(message_server_id=sent.message_server_id)])
        expect("it is marked read", notification_read.sync(client=client, body=body).read == 1)
        for name, data in coming:
            if name == "read":
                ids = [one.root for one in data.messageServerIds]
                expect("the other devices hear of it", sent.message_server_id in ids)
                break
    page = notification_unread.sync(client=client, limit=10)
    expect("it is gone", sent.message_server_id not in [one.message_server_id for one in page.notifications])

    line = f'{{"serverId":"{server.server_id}","body":"one of a batch"}}\n'.encode()
    batch = notification_batch.sync_detailed(client=client, body=File(payload=line))
    expect(f"a batch is sent: {batch}", batch.status_code == 200)

    refused = server_show.sync(server_id="9", client=client)
    expect(f"a refusal is a problem: {refused}", isinstance(refused, Problem))
    expect("its code is one of the enum", refused.code == ProblemCode.NOTFOUND)


main(*sys.argv[1:])
