"""What a push to many costs: push_to_many.py BELFRY [ACCOUNTS]. Not run by CI.

Starts a broker with a Redis of its own and a gateway, and measures, in one run: plain sends; a broadcast to a server of so
many members, none of whom has a pusher, and all of whom have one; and as many copies to a webhook, for a ratio.
"""
import asyncio
import json
import multiprocessing
import os
import sys
import tempfile
import time
import urllib.request

import shared

SETTINGS = {
    "BELFRY_PUSH_DELAY_MILLISECONDS": "0", "BELFRY_PUSH_PER_SECOND": "100000", "BELFRY_LOOPS": "1",
    "BELFRY_LIMITS_SUBSCRIPTION_THRESHOLD": "1000000", "BELFRY_LIMITS_SENDS_PER_SECOND_PER_ACCOUNT": "1000000",
}


async def answer(reader, writer, count):
    try:
        while True:
            head = await reader.readuntil(b"\r\n\r\n")
            length = next(int(line[15:]) for line in head.split(b"\r\n") if line.lower().startswith(b"content-length:"))
            await reader.readexactly(length)
            with count.get_lock():
                count.value += 1
            writer.write(b'HTTP/1.1 200 OK\r\nContent-Length: 15\r\n\r\n{"rejected":[]}')
    except (asyncio.IncompleteReadError, ConnectionError):
        writer.close()


def serve(port, count):
    async def run():
        server = await asyncio.start_server(lambda reader, writer: answer(reader, writer, count), "127.0.0.1", 0)
        port.value = server.sockets[0].getsockname()[1]
        await server.serve_forever()

    asyncio.run(run())


def ticks(process):
    """Processor seconds of a process and its children, which are the embedded Redis."""
    total = 0
    for name in os.listdir("/proc"):
        if name.isdigit():
            try:
                with open(f"/proc/{name}/stat") as file:
                    fields = file.read().rsplit(")", 1)[1].split()
            except OSError:
                continue
            if int(name) == process or int(fields[1]) == process:
                total += int(fields[11]) + int(fields[12])
    return total / os.sysconf("SC_CLK_TCK")


def resident(process):
    """Of the broker alone."""
    with open(f"/proc/{process}/status") as file:
        return next(int(line.split()[1]) for line in file if line.startswith("VmRSS:")) // 1024


def main(belfry, accounts):
    count, port = multiprocessing.Value("l", 0), multiprocessing.Value("i", 0)
    gateway = multiprocessing.Process(target=serve, args=(port, count), daemon=True)
    gateway.start()
    while not port.value:
        time.sleep(0.01)
    with tempfile.TemporaryDirectory(prefix="belfry-push-") as name, shared.broker(belfry, name, SETTINGS) as broker:
        app = broker.token("--sub", "backend", "--role", "app", "--ttl", "86400")
        measured(broker, app, accounts, count, f"http://127.0.0.1:{port.value}")


def measured(broker, app, accounts, count, to):
    names = [f"account-{number}" for number in range(accounts)]
    owner = broker.token("--sub", "owner")
    server = broker.ask("POST", "/v1/servers", owner, {"name": "Many"})["serverId"]
    for first in range(0, accounts, 1000):
        broker.ask("POST", f"/v1/servers/{server}/members", app, {"accids": names[first:first + 1000]})

    quiet = broker.ask("POST", "/v1/servers", owner, {"name": "Few"})["serverId"]

    def send():
        return broker.ask("POST", "/v1/notifications", app, {
            "serverId": server, "body": "to many", "setting": {"pushEnable": True, "needBadge": BADGE}})["messageServerId"]

    def send_to_few():
        for _ in range(2000):
            broker.ask("POST", "/v1/notifications", app, {"serverId": quiet, "body": "to few"})

    def cost(what, number, work, wanted=0):
        arrived, used, began = count.value, ticks(broker.pid), time.monotonic()
        work()
        while count.value - arrived < wanted:
            time.sleep(0.02)
        if not wanted:
            time.sleep(2)
        seconds, processor = time.monotonic() - began, ticks(broker.pid) - used
        print(
            f"{what}: {number} in {seconds:.1f} s, {processor / number * 1e6:.0f} µs of processor each, "
            f"and {resident(broker.pid)} MB resident", flush=True)
        return processor / number

    plain = cost("sends with nobody to be pushed to", 2000, send_to_few)
    hook = broker.ask("POST", "/v1/webhooks", app, {"url": to + "/copies", "spaces": [f"server:{quiet}"]})
    copies = cost("copies to a webhook", 2000, send_to_few, 2000) - plain
    broker.ask("DELETE", f"/v1/webhooks/{hook['webhookId']}", app)
    put(broker, app, names[:1], to)
    cost("a broadcast, members without a pusher", accounts, send, 1)
    began = time.monotonic()
    # A badge counts what is unread, and who joined is told of every thousand others who did: nobody has as much to count.
    put(broker, app, names, to, read_up_to=send())
    print(f"pushers put, and all marked read, in {time.monotonic() - began:.0f} s, {resident(broker.pid)} MB resident", flush=True)
    pushed = cost("a broadcast, members with a pusher", accounts, send, accounts)
    print(f"a push is {pushed / copies:.1f} copies to a webhook, {pushed / plain:.1f} sends")


def put(broker, app, names, to, read_up_to=None):
    """Over one connection for each of a few processes: a request for each account."""
    with multiprocessing.Pool(4) as pool:
        pool.starmap(put_some, [(broker.url, app, names[first::4], to, read_up_to) for first in range(4)])


def put_some(url, app, names, to, read_up_to):
    import http.client
    connection = http.client.HTTPConnection(url.removeprefix("http://"))
    for name in names:
        wishes = [("PUT", "/v1/account/pushers/phone", {"kind": "matrix", "url": to, "appId": "app", "pushkey": name})]
        if read_up_to and BADGE:
            wishes.insert(0, ("POST", "/v1/notifications/read", {"upTo": read_up_to}))
        for method, path, body in wishes:
            connection.request(method, path, json.dumps(body), {
                "Authorization": "Bearer " + app, "Belfry-Account": name, "Content-Type": "application/json"})
            answer = connection.getresponse()
            answer.read()
            assert answer.status == 200, answer.status


BADGE = os.environ.get("NEED_BADGE", "1") == "1"

if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]) if len(sys.argv) > 2 else 100_000)
