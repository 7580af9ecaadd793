// What needs no broker.
import assert from "node:assert/strict";
import test from "node:test";
import { BelfryError, refusal } from "../src/errors.js";
import { feedEvent } from "../src/events.js";
import { ReconnectPolicy, backoff } from "../src/policy.js";
import { EventTooLong, ServerSentEventParser } from "../src/server-sent-events.js";
import { expiry } from "../src/tokens.js";

function parsed(pieces, { lastID, limit } = {}) {
  const parser = new ServerSentEventParser(lastID, limit), items = [];
  for (const piece of pieces) parser.parse(piece, items);
  return items;
}
const bytes = (text) => new TextEncoder().encode(text);

test("a stream is read the same whatever pieces it comes in", () => {
  const text = bytes("\ufeffretry: 250\n: comment\nevent: a\r\ndata: ü🔔\rdata:  two\nid: 1\r\n\r\nid: 2\n\ndata\n\nid: x\0y\n"
    + "data: d\n\nnot known: z\ndata: cut off");
  const items = [
    { retry: 250 }, { event: "a", data: "ü🔔\n two", id: "1" }, { position: "2" }, { event: "message", data: "", id: "2" },
    { event: "message", data: "d", id: "2" }];
  for (let cut = 0; cut <= text.length; cut += 1) {
    assert.deepEqual(parsed([text.subarray(0, cut), text.subarray(cut)]), items, `cut at ${cut}`);
  }
  assert.deepEqual(parsed(Array.from(text, (byte) => Uint8Array.of(byte))), items);
});

test("what is too long is refused, and what was before is kept", () => {
  const items = [];
  assert.throws(
    () => new ServerSentEventParser(undefined, 10).parse(bytes("data: a\n\ndata: 0123456789"), items), EventTooLong);
  assert.deepEqual(items, [{ event: "message", data: "a", id: undefined }]);
  assert.throws(() => parsed([bytes("data: 45678\n"), bytes("data: 45678\n"), bytes("data: 45678\n")], { limit: 11 }), EventTooLong);
});

test("what has no id stands behind the last", () => {
  assert.deepEqual(parsed([bytes("data: a\n\n")], { lastID: "7" }), [{ event: "message", data: "a", id: "7" }]);
});

test("pauses double to a bound and are spread", () => {
  assert.deepEqual([1, 2, 3, 4, 5, 6, 7, 8].map((failures) => backoff(failures, 0, 1)),
    [500, 1000, 2000, 4000, 8000, 16000, 30000, 30000]);
  assert.equal(backoff(1e6, 2000, 0.5), 17000);
  assert.equal(backoff(3, 0, 0), 0);
});

test("only what is heard makes the pauses short again, and the broker says what to wait within bounds", () => {
  const policy = new ReconnectPolicy(), lost = new BelfryError("transport", "lost");
  assert.deepEqual([1, 2, 3].map(() => policy.pauseAfter(lost, 1)), [500, 1000, 2000]);
  policy.heard();
  assert.equal(policy.pauseAfter(lost, 1), 500);
  policy.asked(3000);
  assert.equal(policy.pauseAfter(undefined, 0), 3000);
  assert.equal(policy.pauseAfter(refusal(503, "7", ""), 0), 7000);
  policy.asked(1e12);
  assert.equal(policy.pauseAfter(undefined, 0), 300_000);
  for (const status of [400, 401, 403, 404, 501]) assert.equal(policy.pauseAfter(refusal(status, undefined, ""), 0), undefined);
});

test("an unknown outcome has the id to send again with", () => {
  const error = refusal(503, "1", '{"code":"unknownOutcome","detail":"d","messageClientId":"m"}');
  assert.deepEqual([error.code, error.messageClientId, error.mayPass], ["unknownOutcome", "m", true]);
  const later = refusal(503, undefined, '{"code":"unavailable","detail":"away"}');
  assert.deepEqual([later.after(error).code, later.after(undefined).code], ["unknownOutcome", "unavailable"]);
  assert.equal(refusal(403, undefined, '{"code":"muted"}').after(error).code, "muted");
  assert.equal(refusal(401, undefined, '{"code":"unauthorized"}').after(error).code, "unknownOutcome");
  const refused = new BelfryError("transport", "refused", { nothingWasSent: true });
  assert.equal(refused.leavesOutcomeOpen, false);
  const last = refused.after(error);
  assert.deepEqual([last.code, last.leavesOutcomeOpen, last.mayPass], ["transport", true, true]);
});

test("problems say what they say, and a page of a proxy is read by its status", () => {
  const body = JSON.stringify({ code: "invalidField", detail: "no", field: "a[1]", retryAfter: 4 });
  const { code, detail, field, retryAfter } = refusal(400, undefined, body);
  assert.deepEqual({ code, detail, field, retryAfter }, { code: "invalidField", detail: "no", field: "a[1]", retryAfter: 4 });
  const error = refusal(502, "Wed, 21 Oct 2026 07:28:00 GMT", "<html>");
  assert.deepEqual([error.code, error.status, error.retryAfter], ["unavailable", 502, undefined]);
  for (const status of [401, 404, 413]) assert.equal(refusal(status, undefined, "").code, "protocol");
  for (const odd of ["[]", "null", '{"code":7,"detail":null}']) assert.equal(refusal(500, undefined, odd).code, "protocol");
});

test("events", () => {
  const read = (event, data) => feedEvent({ event, data, id: "1" });
  assert.deepEqual(read("read", '{"upTo":"7"}'), { kind: "read", messageServerIds: [], upTo: "7" });
  assert.deepEqual(read("gap", '{"from":"1","to":"2"}'), { kind: "gap", from: "1", to: "2" });
  const odd = [["notification", "[]"], ["read", "null"], ["counts", "{"], ["news", "{}"], ["toString", "{}"], ["gap", '{"from":"1"}']];
  for (const [event, data] of odd) assert.deepEqual(read(event, data), { kind: "other", event, data });
});

test("when a token expires", () => {
  const token = (claims) => `e30.${Buffer.from(JSON.stringify(claims)).toString("base64url")}.x`;
  assert.equal(expiry(token({ exp: 1234, sub: "ü" })), 1_234_000);
  for (const other of ["", "blf_key", "a.b.c", token([]), token({ exp: "soon" })]) assert.equal(expiry(other), undefined);
});
