// A feed over everything that happens to connections.
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import test, { afterEach, beforeEach, describe } from "node:test";
import { BelfryClient, BelfryError } from "../index.js";
import { Broker, answer, serve, sleep, streamHead, waitUntil } from "./stage.js";

/** Of so many notifications; the feed ends with them. */
async function bodies(feed, count, slowly = () => {}) {
  const found = [];
  for await (const event of feed) {
    if (event.kind !== "notification") continue;
    found.push(event.notification.body);
    await slowly(found.length);
    if (found.length === count) break;
  }
  return found;
}

async function until(feed, kind) {
  for (;;) {
    const { value, done } = await feed.next();
    if (done) throw new Error(`no ${kind} came`);
    if (value.kind === kind) return value;
  }
}

async function all(feed) {
  const found = [];
  for await (const event of feed) found.push(event);
  return found;
}

describe("with a broker", () => {
  let broker, app;
  beforeEach(async () => {
    broker = await Broker.begin();
    app = new BelfryClient({ url: broker.url, token: broker.token("office", "--role", "app") });
  });
  afterEach(() => broker.stop());
  const client = (options = {}) => new BelfryClient({ url: broker.url, token: broker.token("bob"), ...options });

  /** Each until it is acknowledged, under one id. */
  async function send(numbers) {
    for (const number of numbers) {
      const notification = { toAccids: ["bob"], body: String(number), messageClientId: `bob-${number}` };
      for (let isSent = false; !isSent;) {
        isSent = await app.send(notification).then(() => true, (error) => { if (!error.mayPass) throw error; return false; });
      }
    }
  }

  test("brokers that die while it is followed lose nothing and double nothing", async () => {
    const numbers = Array.from({ length: 300 }, (_, number) => number);
    const feed = client().notifications();
    await until(feed, "connected");
    const sender = send(numbers);
    let restart;
    const found = await bodies(feed, 300, async (number) => {
      if (number !== 50 && number !== 150) return;
      await restart;
      await broker.kill();
      restart = sleep(300).then(() => broker.start());
    });
    await sender;
    await restart;
    assert.deepEqual(found.map(Number).sort((a, b) => a - b), numbers);
    await send([300]);
    assert.deepEqual(await bodies(client().notifications({ after: feed.cursor }), 1), ["300"]);
  });

  test("a slow loop loses nothing", async () => {
    const numbers = Array.from({ length: 4000 }, (_, number) => number);
    for (let begin = 0; begin < 4000; begin += 1000) {
      await app.sendBatch(numbers.slice(begin, begin + 1000).map((each) => ({ toAccids: ["bob"], body: each + "ü".repeat(1000) })));
    }
    const found = await bodies(
      client().notifications(), 4000, (number) => (number === 5 || number === 900 ? sleep(1000) : undefined));
    assert.deepEqual(found.map((body) => parseInt(body, 10)).sort((a, b) => a - b), numbers);
  });

  test("what other devices do is told", async () => {
    const feed = client({ device: "phone" }).notifications({ withCounts: true });
    const laptop = client({ device: "laptop" });
    const { messageServerId } = await app.send({ toAccids: ["bob"], body: "1" });
    assert.equal((await until(feed, "notification")).notification.body, "1");
    await app.update(messageServerId, { body: "2" });
    assert.equal((await until(feed, "updated")).notification.body, "2");
    await laptop.markRead([messageServerId]);
    assert.deepEqual((await until(feed, "read")).messageServerIds, [messageServerId]);
    const other = await app.send({ toAccids: ["bob"], body: "3" });
    await until(feed, "notification");
    await app.recall(other.messageServerId);
    assert.equal((await until(feed, "retracted")).messageServerId, other.messageServerId);
    assert.equal((await until(feed, "counts")).counts.unread, 0);
    feed.close();
  });

  test("a broker that ends in order is left and come back to", async () => {
    const feed = client().notifications();
    await until(feed, "connected");
    broker.process.kill("SIGTERM");
    const { reason, retry } = await until(feed, "kicked");
    assert.deepEqual([reason, retry], ["shutdown", true]);
    await broker.ended;
    await broker.start();
    await send([1]);
    assert.deepEqual(await bodies(feed, 1), ["1"]);
  });

  test("a token that expires is asked for anew", async () => {
    let asked = 0;
    const feed = client({ token: () => { asked += 1; return broker.token("bob", "--ttl", asked === 1 ? "2" : "3600"); } })
      .notifications();
    await send([1]);
    await until(feed, "notification");
    assert.equal((await until(feed, "kicked")).reason, "tokenExpired");
    await send([2]);
    assert.deepEqual(await bodies(feed, 1), ["2"]);
    assert.equal(asked, 2);
  });

  test("a feed that was ended stays so, and one that is closed leaves nothing behind", async () => {
    const ended = client().notifications();
    await until(ended, "connected");
    // The broker registers a stream a little after it has begun, and forgets it a little after its end.
    const token = broker.token("bob");
    const streams = async () => (await broker.ask("GET", "/v1/account/streams", token)).streams;
    await waitUntil(async () => (await streams()).length === 1);
    await broker.ask("DELETE", "/v1/account/streams", token);
    assert.deepEqual((await all(ended)).map((event) => [event.kind, event.reason]), [["kicked", "ended"]]);

    const closed = client().notifications();
    await until(closed, "connected");
    const waiting = closed.next();
    closed.close();
    assert.equal((await waiting).done, true);
    const signal = AbortSignal.timeout(100);
    await all(client().notifications({ signal }));
    await waitUntil(async () => (await streams()).length === 0);
  });

  test("a program whose feed is closed ends", async () => {
    const program = `
      import { BelfryClient } from ${JSON.stringify(new URL("../index.js", import.meta.url).href)};
      const client = new BelfryClient({ url: ${JSON.stringify(broker.url)}, token: ${JSON.stringify(broker.token("bob"))} });
      for await (const event of client.notifications()) break;`;
    execFileSync(process.execPath, ["--input-type=module", "--eval", program], { timeout: 60_000 });
  });
});

describe("with servers that do what a broker seldom does", () => {
  async function follow(t, handle, token = "t", waitsForBroker = true) {
    const server = await serve(handle);
    const feed = new BelfryClient({ url: server.url, token }).notifications({ waitsForBroker });
    t.after(() => { feed.close(); server.close(); });
    return { server, feed };
  }

  test("a first connection that nobody answers is an error", async (t) => {
    const { server, feed } = await follow(t, (_, connection) => connection.destroy(), "t", false);
    await assert.rejects(all(feed), (error) => error instanceof BelfryError && error.code === "transport");
    assert.equal(server.count, 1);
  });

  test("one that answered once is waited for", async (t) => {
    const kicked = `${streamHead}event: kicked\ndata: {"reason":"ended","retry":false}\n\n`;
    let asked = 0;
    const { feed } = await follow(t, (_, connection) => {
      asked += 1;
      if (asked === 1) connection.end(answer(503, "{}"));
      else if (asked === 2) connection.destroy();
      else connection.end(kicked);
    }, "t", false);
    const kinds = (await all(feed)).map((event) => event.kind);
    assert.deepEqual(kinds, ["disconnected", "disconnected", "connected", "kicked"]);
  });

  test("one that hangs up at once is not asked without end", async (t) => {
    for (const handle of [(_, connection) => connection.destroy(), (_, connection) => connection.end(streamHead)]) {
      const { server, feed } = await follow(t, handle);
      setTimeout(() => feed.close(), 3000);
      const pauses = (await all(feed)).filter((event) => event.kind === "disconnected").map((event) => event.pauseMilliseconds);
      assert.ok(server.count >= 2 && server.count <= 15, String(server.count));
      assert.ok(pauses.every((pause, number) => pause <= 500 * 2 ** number), String(pauses));
    }
  });

  test("a pause ends when the feed is closed", async (t) => {
    const { feed } = await follow(t, (_, connection) => connection.end(answer(503, "{}", "Retry-After: 60")));
    assert.ok((await feed.next()).value.pauseMilliseconds >= 60_000);
    setTimeout(() => feed.close(), 200);
    const begun = performance.now();
    assert.deepEqual(await all(feed), []);
    assert.ok(performance.now() - begun < 50_000, "the pause has lasted to its end");
  });

  test("it goes on behind what was handed out", async (t) => {
    const asked = [];
    const { feed } = await follow(t, async (request, connection, number) => {
      asked.push(/last-event-id: (\S+)/i.exec(request)?.[1]);
      const event = Buffer.from(`event: notification\ndata: {"messageServerId":"${number}","body":"ü"}\nid: c${number}\n\n`);
      const half = event.indexOf(0xbc);
      connection.write(`${streamHead}retry: 0\n\n`);
      connection.write(event.subarray(0, half));
      await sleep(50);
      connection.write(event.subarray(half));
      connection.end('event: notification\ndata: {"mess');
    });
    assert.deepEqual(await bodies(feed, 3), ["ü", "ü", "ü"]);
    assert.deepEqual(asked, [undefined, "c1", "c2"]);
  });

  test("a huge line passes, and one beyond the limit ends the feed", async (t) => {
    const { server, feed } = await follow(t, (_, connection) => connection.end(
      `${streamHead}event: notification\ndata: {"messageServerId":"1","body":"${"x".repeat(900_000)}"}\nid: c\n\n`
      + `data: ${"x".repeat(2_000_000)}`));
    await until(feed, "notification");
    await assert.rejects(all(feed), (error) => error.code === "protocol");
    assert.equal(server.count, 1);
  });

  test("what asking again cannot cure ends it", async (t) => {
    for (const given of [answer(403, '{"code":"forbidden","detail":"no"}'), answer(200, "<html>", "Content-Type: text/html")]) {
      const { server, feed } = await follow(t, (_, connection) => connection.end(given));
      await assert.rejects(all(feed), BelfryError);
      assert.equal(server.count, 1);
    }
  });

  test("whoever gives tokens may be away for a while", async (t) => {
    let asked = 0;
    const { feed } = await follow(
      t, (_, connection) => connection.end(`${streamHead}event: kicked\ndata: {"reason":"ended","retry":false}\n\n`),
      async () => { asked += 1; if (asked === 1) throw new Error("away"); return "t"; });
    assert.deepEqual((await all(feed)).map((event) => event.kind), ["disconnected", "connected", "kicked"]);
  });
});
