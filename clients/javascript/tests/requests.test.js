// Sends, marks and refusals, with a broker, and with servers that do what a broker seldom does.
import assert from "node:assert/strict";
import { once } from "node:events";
import { createServer } from "node:http";
import test, { after, before } from "node:test";
import { BelfryClient, BelfryError, LAST_MESSAGE_ID } from "../index.js";
import { Broker, answer, cutting, serve, sleep } from "./stage.js";

let broker;
before(async () => { broker = await Broker.begin(); });
after(() => broker.stop());
const client = (subject, options = {}) => new BelfryClient({ url: broker.url, token: broker.token(subject), ...options });
const refused = (code, status) => (error) => error instanceof BelfryError && error.code === code && error.status === status;

test("a send and a batch whose answers are lost are sent once", async (t) => {
  const way = await cutting(broker.port, 2);
  t.after(() => way.close());
  const receipt = await client("alice", { url: way.url }).send({ toAccids: ["lost"], body: "once" });
  assert.ok(receipt.duplicate);
  assert.equal(way.count, 3);
  assert.deepEqual((await client("lost").unread()).notifications.map((each) => each.messageServerId), [receipt.messageServerId]);

  const other = await cutting(broker.port, 1);
  t.after(() => other.close());
  // Both tries together are no more than an account may send in a second, so an account of its own has enough.
  const batch = Array.from({ length: 40 }, (_, number) => ({ toAccids: ["batch"], body: String(number) }));
  const results = await client("batcher", { url: other.url }).sendBatch(batch);
  assert.deepEqual(results.filter((result) => !result.duplicate), []);
  assert.equal((await client("batch").counts()).unread, 40);
});

test("an error tells the id to send again with", async () => {
  // Nobody listens there. Port 1 would not do, since fetch refuses it itself.
  const alice = client("alice", { url: "http://127.0.0.1:2" });
  alice.attemptsLimit = 1;
  const error = await alice.send({ toAccids: ["again"], body: "x" }).catch((thrown) => thrown);
  assert.equal(error.code, "transport");
  assert.equal(error.leavesOutcomeOpen, false);
  const again = { toAccids: ["again"], body: "x", messageClientId: error.messageClientId };
  assert.equal((await client("alice").resend(again)).duplicate, false);
  assert.equal((await client("alice").resend(again)).duplicate, true);
});

test("a batch that fails as a whole tells the notifications to send again", async (t) => {
  const way = await cutting(broker.port, 1);
  t.after(() => way.close());
  const batcher = client("again", { url: way.url });
  batcher.attemptsLimit = 1;
  const error = await batcher.sendBatch([{ toAccids: ["whole"], body: "1" }, { toAccids: ["whole"], body: "2" }]).catch((thrown) => thrown);
  assert.equal(error.leavesOutcomeOpen, true);
  const results = await client("again").sendBatch(error.notifications);
  assert.deepEqual(results.map((result) => result.duplicate), [true, true]);
  assert.equal((await client("whole").counts()).unread, 2);
});

test("null is no account, no device and no cursor", async (t) => {
  let head;
  const server = await serve((request, connection) => { head = request; connection.end(answer(200, '{"notifications":[]}')); });
  t.after(() => server.close());
  await new BelfryClient({ url: server.url, token: "t", account: null, device: null }).unread({ after: null, limit: null });
  assert.doesNotMatch(head, /null/);
  const feed = new BelfryClient({ url: server.url, token: "t" }).notifications({ after: null });
  await feed.next().catch(() => {});
  feed.close();
  assert.doesNotMatch(head, /null/);
});

test("a call that waits for its token can be cancelled", async () => {
  const waiting = new BelfryClient({ url: broker.url, token: () => new Promise(() => {}) });
  await assert.rejects(waiting.counts({ signal: AbortSignal.timeout(100) }), refused("cancelled"));
  const feed = waiting.notifications();
  const next = feed.next();
  feed.close();
  assert.equal((await next).done, true);
});

test("a refused line of a batch holds up no other", async () => {
  const [good, bad, last] = await client("alice").sendBatch(
    [{ toAccids: ["carol"], body: "1" }, { toAccids: ["no such/name"] }, { toAccids: ["carol"], body: "ü🔔" }]);
  assert.ok(bad instanceof BelfryError && bad.messageClientId);
  assert.deepEqual([bad.code, bad.status, bad.field], ["invalidField", 400, "toAccids[0]"]);
  assert.deepEqual([good.duplicate, last.duplicate], [false, false]);
});

test("pages and marks", async () => {
  const bob = client("bob");
  await client("alice").sendBatch(Array.from({ length: 7 }, (_, number) => ({ toAccids: ["bob"], body: `ü🔔 ${number}` })));
  const seen = [];
  for (let cursor; ;) {
    const page = await bob.unread({ limit: 3, after: cursor });
    if (page.notifications.length === 0) break;
    seen.push(...page.notifications);
    cursor = page.cursor;
  }
  assert.equal(new Set(seen.map((each) => each.body)).size, 7);
  assert.equal(await bob.markRead([seen[0].messageServerId, seen[1]]), 2);
  assert.equal(await bob.markReadUpTo(seen[3].messageServerId), 2);
  assert.equal((await bob.counts()).unread, 3);
  assert.equal(await bob.markReadUpTo(LAST_MESSAGE_ID), 3);
});

test("updates, recalls, preferences and subscriptions", async () => {
  const alice = client("alice");
  const { messageServerId } = await alice.send({ toAccids: ["dora"], body: "1" });
  assert.equal((await alice.update(messageServerId, { body: "2" })).body, "2");
  await alice.recall(messageServerId);
  assert.deepEqual((await client("dora").unread()).notifications, []);
  await alice.setPreferences([{ level: "parties", types: [100] }]);
  assert.deepEqual(await alice.preferences(), [{ level: "parties", types: [100] }]);
  const { serverId, defaultChannelId } = await broker.ask("POST", "/v1/servers", broker.token("alice"), { name: "Campfire" });
  const subscribed = async () =>
    (await broker.ask("GET", `/v1/servers/${serverId}/members`, broker.token("alice"))).members[0].subscribed;
  await alice.subscribe(serverId);
  await alice.subscribe(serverId, defaultChannelId);
  assert.equal(await subscribed(), true);
  await alice.unsubscribe(serverId);
  assert.equal(await subscribed(), false);
});

test("refusals say what is wrong", async () => {
  await assert.rejects(client("alice").send({ toAccids: ["bob"], status: 7 }), (error) => error.field === "status");
  await assert.rejects(client("alice").subscribe("7"), refused("notFound", 404));
  for (const wrong of ["../x", "7/../8", ""]) await assert.rejects(client("alice").recall(wrong), refused("invalidField"));
});

test("a token that was revoked is asked for anew, and one that expires soon before", async () => {
  const tokens = [];
  const erin = new BelfryClient({ url: broker.url, token: async () => { tokens.push(broker.token("erin")); return tokens.at(-1); } });
  await Promise.all([erin.counts(), erin.counts(), erin.counts()]);
  assert.equal(tokens.length, 1);
  await broker.ask("POST", "/v1/account/revoke", tokens[0]);
  await sleep(1100);     // tokens name the second in which they were issued
  await erin.counts();
  assert.equal(tokens.length, 2);

  const soon = [];
  const frank = new BelfryClient({
    url: broker.url, token: () => { soon.push(broker.token("frank", "--ttl", soon.length ? "3600" : "20")); return soon.at(-1); } });
  for (let count = 0; count < 3; count += 1) await frank.counts();
  assert.equal(soon.length, 2);
});

async function refusing(t, status, headers = [], times = 1) {
  const server = await serve((_, connection, number) =>
    connection.end(number <= times ? answer(status, "{}", ...headers) : answer(200, '{"unread":0}')));
  t.after(() => server.close());
  return server;
}
const stranger = (server, token = "t") => new BelfryClient({ url: server.url, token });

test("the refusal of another service is not Belfry's, also as JSON", async (t) => {
  const body = '{"code":"noRoute","detail":"x"}';
  const other = await serve((_, connection) => connection.end(answer(404, body, "Content-Type: application/json")));
  t.after(() => other.close());
  await assert.rejects(stranger(other).counts(), refused("protocol", 404));
});

test("what the broker asks to wait is waited, or is the caller's to decide", async (t) => {
  for (const status of [429, 503]) {
    const server = await refusing(t, status, ["Retry-After: 1"]), begun = performance.now();
    await stranger(server).counts();
    assert.ok(performance.now() - begun >= 990);
    assert.equal(server.count, 2);
  }
  const long = await refusing(t, 429, ["Retry-After: 60"]);
  await assert.rejects(stranger(long).counts(), (error) => error.code === "rateLimited" && error.retryAfter === 60);
  assert.equal(long.count, 1);
});

test("tries end, and a token that stays refused is an error", async (t) => {
  const busy = await refusing(t, 503, [], 9);
  await assert.rejects(stranger(busy).counts(), refused("unavailable", 503));
  assert.equal(busy.count, 3);
  const closed = await refusing(t, 401, [], 9);
  let asked = 0;
  await assert.rejects(stranger(closed, () => { asked += 1; return "same"; }).counts(), refused("protocol", 401));
  assert.deepEqual([asked, closed.count], [2, 1]);
});

test("an answer that is cut off is none, and a redirect is not followed", async (t) => {
  const server = await serve((_, connection, number) => {
    const whole = answer(200, '{"unread":0}');
    connection.end(number === 1 ? whole.slice(0, -5) : whole);
  });
  t.after(() => server.close());
  assert.deepEqual(await stranger(server).counts(), { unread: 0 });
  assert.equal(server.count, 2);
  const away = await refusing(t, 302, ["Location: /elsewhere"], 9);
  await assert.rejects(stranger(away).counts());
  assert.equal(away.count, 1);
});

test("a port without TLS that is asked by https is told in one line", async (t) => {
  const server = createServer().listen(0, "127.0.0.1");
  t.after(() => server.close());
  await once(server, "listening");
  const secure = new BelfryClient({ url: `https://127.0.0.1:${server.address().port}`, token: "t" });
  secure.attemptsLimit = 1;
  await assert.rejects(secure.counts(), (error) => error.code === "transport"
    && /^[^\n]*the TLS handshake failed, perhaps because this port speaks plain HTTP: ERR_SSL_WRONG_VERSION_NUMBER$/.test(error.message));
});

test("a call that is cancelled ends at once, also while it waits to try again", async (t) => {
  const server = await refusing(t, 503, ["Retry-After: 5"], 9);
  await assert.rejects(stranger(server).counts({ signal: AbortSignal.timeout(200) }), refused("cancelled"));
  const silent = await serve(() => {});
  t.after(() => silent.close());
  await assert.rejects(stranger(silent).counts({ signal: AbortSignal.timeout(200) }), refused("cancelled"));
});

test("what a header cannot say is refused before, and without a token there is no such header", async (t) => {
  for (const token of ["", "a b", "a\r\nX: y", "ü", "x".repeat(10_000)]) {
    await assert.rejects(new BelfryClient({ url: broker.url, token }).counts(), refused("unauthorized"));
  }
  assert.throws(() => new BelfryClient({ token: "t", device: "a\r\nX: y" }), { name: "TypeError", message: /^device must/ });
  assert.throws(() => new BelfryClient({ url: broker.url, tokn: "t" }), { name: "TypeError", message: /"tokn"/ });
  let head;
  const server = await serve((request, connection) => { head = request; connection.end(answer(200, '{"unread":0}')); });
  t.after(() => server.close());
  await new BelfryClient({ url: server.url, credentials: "include" }).counts();
  assert.doesNotMatch(head, /authorization/i);
});

test("an unknown option is refused by each method", async () => {
  const alice = client("alice");
  const wrong = { name: "TypeError", message: /"timeout"/ };
  assert.throws(() => alice.notifications({ timeout: 1 }), wrong);
  const last = { timeout: 1 };
  const calls = [
    alice.send({ toAccids: ["a"] }, last), alice.resend({ toAccids: ["a"], messageClientId: "m" }, last), alice.sendBatch([], last),
    alice.update("1", { body: "x" }, last), alice.update("1", last), alice.recall("1", last), alice.unread(last),
    alice.counts(last), alice.markRead([], last), alice.markReadUpTo("1", last), alice.subscribe("1", undefined, last),
    alice.unsubscribe("1", "2", last), alice.preferences(last), alice.setPreferences([], last),
  ];
  await Promise.all(calls.map((call) => assert.rejects(call, wrong)));
});

test("a method that takes a list refuses anything else", async () => {
  const alice = client("alice");
  const wrong = { name: "TypeError", message: /^notifications must be a list/ };
  for (const given of ["123", 7, { messageServerId: "1" }, null, undefined]) {
    await assert.rejects(alice.markRead(given), wrong);
    await assert.rejects(alice.sendBatch(given), wrong);
  }
});

test("a signal in place of the options is refused", async () => {
  const { signal } = new AbortController();
  const wrong = { name: "TypeError", message: /such as \{ signal \}/ };
  const alice = client("alice");
  assert.throws(() => alice.notifications(signal), wrong);
  await assert.rejects(alice.counts(signal), wrong);
  await assert.rejects(alice.recall("1", null), wrong);
});

test("a url without http is refused before anything is asked", () => {
  for (const url of ["127.0.0.1:8080", "localhost:8080", "ftp://example.com", ""]) {
    assert.throws(() => new BelfryClient({ url, token: "t" }), TypeError);
  }
});
