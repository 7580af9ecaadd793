// The client: sending, receiving, marking read, subscribing.
import { BelfryError, refusal } from "./errors.js";
import { NotificationFeed } from "./feed.js";
import { Transport } from "./http.js";
import { ReconnectPolicy } from "./policy.js";
import { TokenStore, isHeaderValue } from "./tokens.js";

/** Above every id: `markReadUpTo(LAST_MESSAGE_ID)` marks everything there is. */
export const LAST_MESSAGE_ID = "9223372036854775807";

const notificationsPath = "/v1/notifications";

export class BelfryClient {
  attemptsLimit = 3;
  #transport;
  #tokens;

  constructor(options = {}) {
    if (typeof options !== "object" || options === null || options instanceof URL) {
      throw new TypeError("the constructor takes an object: new BelfryClient({ url, token })");
    }
    const { url = "", token, account, device, credentials = "same-origin", fetch = globalThis.fetch, ...unknown } = options;
    refuseUnknown(unknown);
    const headers = { ...identity("Belfry-Account", "account", account), ...identity("Belfry-Device", "device", device) };
    checkURL(String(url));
    this.#tokens = new TokenStore(token);
    // In browsers fetch must be called on the window, or on nothing.
    const bound = (...values) => fetch(...values);
    this.#transport = new Transport({ url: String(url), tokens: this.#tokens, headers, credentials, fetch: bound });
  }

  // Sending

  async send(notification, options = {}) {
    const { signal } = readOptions(options, "signal");
    return this.#send(identified(notification), notificationsPath, signal);
  }

  async resend(notification, options = {}) {
    const { signal } = readOptions(options, "signal");
    return this.#send(notification, `${notificationsPath}/resend`, signal);
  }

  async sendBatch(notifications, options = {}) {
    const { signal } = readOptions(options, "signal");
    const sent = listOf(notifications).map(identified);
    if (sent.length === 0) return [];
    const body = sent.map((each) => `${JSON.stringify(each)}\n`).join("");
    let answer;
    try {
      answer = await this.#transport.ask({
        method: "POST", path: `${notificationsPath}/batch`, headers: { "Content-Type": "application/x-ndjson" }, body, signal,
      }, this.attemptsLimit);
    } catch (error) {
      if (error instanceof BelfryError) error.notifications = sent;
      throw error;
    }
    const lines = answer.split("\n").filter((line) => line !== "");
    if (lines.length !== sent.length) {
      throw new BelfryError(
        "protocol",
        `${sent.length} notifications were sent, but ${lines.length} results came back: check what arrived before you send again`,
      );
    }
    return lines.map((line, index) => batchResult(line, sent[index]));
  }

  async update(messageServerId, { body, ext, status, ...unknownFields }, options = {}) {
    refuseUnknown(unknownFields, "an update has no");
    const { signal } = readOptions(options, "signal");
    return this.#value("PATCH", `${notificationsPath}/${id(messageServerId)}`, { body, ext, status }, signal);
  }

  async recall(messageServerId, options = {}) {
    const { signal } = readOptions(options, "signal");
    await this.#ask("DELETE", `${notificationsPath}/${id(messageServerId)}`, undefined, signal);
  }

  // Receiving

  notifications(options = {}) {
    const { after, withCounts = false, waitsForBroker = false, signal } = readOptions(
      options, "after", "withCounts", "waitsForBroker", "signal");
    // `localStorage` gives null for a cursor that nobody has saved.
    if (after != null && !isHeaderValue(after)) {
      throw new BelfryError("invalidField", "the cursor is not a cursor of Belfry", { field: "after" });
    }
    const open = ({ after: cursor, signal: closing }) => this.#transport.openStream({
      path: `${notificationsPath}/stream`, query: { counts: withCounts ? "1" : undefined }, signal: closing,
      headers: { Accept: "text/event-stream", ...(cursor == null ? {} : { "Last-Event-ID": cursor }) },
    });
    return new NotificationFeed({
      open, forgetToken: (token) => this.#tokens.forget(token), policy: new ReconnectPolicy(), after, signal,
      waitsForBroker,
    });
  }

  async unread(options = {}) {
    const { limit, after, waitSeconds, signal } = readOptions(options, "limit", "after", "waitSeconds", "signal");
    return decoded(await this.#transport.ask({
      path: notificationsPath, query: { limit, after, wait: waitSeconds }, signal,
      holdMilliseconds: Math.max(waitSeconds ?? 0, 0) * 1000,
    }, this.attemptsLimit));
  }

  async counts(options = {}) {
    const { signal } = readOptions(options, "signal");
    return this.#value("GET", `${notificationsPath}/counts`, undefined, signal);
  }

  // Marking read

  async markRead(notifications, options = {}) {
    const { signal } = readOptions(options, "signal");
    const items = listOf(notifications).map(readItem);
    return this.#mark({ items }, signal);
  }

  async markReadUpTo(messageServerId, options = {}) {
    const { signal } = readOptions(options, "signal");
    return this.#mark({ upTo: messageServerId }, signal);
  }

  // What an account hears

  async subscribe(server, channel, options = {}) {
    const { signal } = readOptions(options, "signal");
    await this.#ask("PUT", subscription(server, channel), undefined, signal);
  }

  async unsubscribe(server, channel, options = {}) {
    const { signal } = readOptions(options, "signal");
    await this.#ask("DELETE", subscription(server, channel), undefined, signal);
  }

  async preferences(options = {}) {
    const { signal } = readOptions(options, "signal");
    return (await this.#value("GET", "/v1/account/preferences", undefined, signal)).preferences;
  }

  async setPreferences(preferences, options = {}) {
    const { signal } = readOptions(options, "signal");
    await this.#ask("PUT", "/v1/account/preferences", { preferences }, signal);
  }

  async #send(notification, path, signal) {
    try {
      return await this.#value("POST", path, notification, signal);
    } catch (error) {
      if (error instanceof BelfryError) error.messageClientId = notification.messageClientId;
      throw error;
    }
  }

  // Marking twice is marking once; only the count of a repeated call would be lower.
  async #mark(marking, signal) { return (await this.#value("POST", `${notificationsPath}/read`, marking, signal)).read; }

  async #value(method, path, body, signal) { return decoded(await this.#ask(method, path, body, signal)); }

  #ask(method, path, body, signal) {
    return this.#transport.ask(
      { method, path, body: body === undefined ? undefined : JSON.stringify(body), signal }, this.attemptsLimit);
  }
}

/** A misspelt option would otherwise be one that was left out: `{ aftre: cursor }` shows everything again. */
/** An AbortSignal in place of the options has no property that an object of options shows, so it would be ignored. */
function readOptions(options, ...names) {
  if (typeof options !== "object" || options === null || options instanceof AbortSignal) {
    throw new TypeError("options must be an object, such as { signal }");
  }
  const { ...unknown } = options;
  for (const name of names) delete unknown[name];
  refuseUnknown(unknown);
  return options;
}

function refuseUnknown(options, words = "there is no option") {
  const [wrong] = Object.keys(options);
  if (wrong !== undefined) throw new TypeError(`${words} ${JSON.stringify(wrong)}`);
}

/** The header that names an account or a device; none if it is left out. */
function identity(header, option, value) {
  if (value == null) return {};
  if (!isHeaderValue(value)) throw new TypeError(`${option} must be visible ASCII characters, not ${JSON.stringify(value)}`);
  return { [header]: value };
}

/** A text is iterable, too, so without this its letters would be sent one by one. */
function listOf(notifications) {
  if (typeof notifications === "string" || typeof notifications?.[Symbol.iterator] !== "function") {
    throw new TypeError(`notifications must be a list, not ${JSON.stringify(notifications)}`);
  }
  return Array.from(notifications);
}

/** In a page an empty URL is the page's own origin, and a path stands on it. Elsewhere there is nothing to complete it with. */
function checkURL(text) {
  const page = globalThis.location?.href;
  let url;
  try { url = new URL(text, page); } catch { /* It is told of below. */ }
  if (!/^https?:$/.test(url?.protocol ?? "")) {
    throw new TypeError(`url must begin with http:// or https://, not ${JSON.stringify(text)}`);
  }
}

/** A number of JavaScript is too short for an id: its last digits would be others. */
function readItem(each) {
  if (typeof each === "string" || typeof each === "bigint") return { messageServerId: String(each) };
  if (typeof each === "object" && each !== null) return { messageServerId: each.messageServerId, type: each.type };
  throw new TypeError(`each of the notifications must be a notification or its id as a text, not ${each}`);
}

function identified(notification) {
  if (typeof notification !== "object" || notification === null) {
    throw new TypeError(`a notification must be an object, not ${JSON.stringify(notification)}`);
  }
  return { ...notification, messageClientId: notification.messageClientId ?? newID() };
}

/** `randomUUID` is there in secure contexts only; a page on plain HTTP has random bytes all the same. */
function newID() {
  const bytes = globalThis.crypto?.getRandomValues(new Uint8Array(16));
  // Node 18 has no global crypto.
  if (!bytes) return `${Date.now().toString(36)}-${randomText()}${randomText()}${randomText()}`;
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");
}

const randomText = () => Math.random().toString(36).slice(2, 12);

function batchResult(line, sent) {
  const { status, ...result } = decoded(line);
  if (typeof result.messageServerId === "string") return result;
  const error = refusal(status, undefined, line);
  error.messageClientId = sent.messageClientId;
  return error;
}

function decoded(text) {
  let value;
  try { value = JSON.parse(text); } catch (error) {
    throw new BelfryError("protocol", `the answer is not JSON: ${error.message}`);
  }
  if (typeof value !== "object" || value === null) throw new BelfryError("protocol", "the answer is not what was asked for");
  return value;
}

function id(value) {
  if (!/^[0-9]+$/.test(value)) throw new BelfryError("invalidField", `${value} is not an id`);
  return String(value);
}

function subscription(server, channel) {
  return `/v1/servers/${id(server)}${channel === undefined ? "" : `/channels/${id(channel)}`}/subscription`;
}
