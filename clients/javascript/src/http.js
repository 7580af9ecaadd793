// Requests by fetch: identity, tries, refusals.
import { BelfryError, refusal } from "./errors.js";
import { backoff } from "./policy.js";

/** A request without an answer. Long polls add what they asked the broker to wait. */
const answerMilliseconds = 30_000;
/** A stream without a byte: three of the broker's heartbeats, which come every 15 s. */
const streamSilenceMilliseconds = 45_000;
/** What a request waits between its own tries; longer waits are the caller's to decide on. */
const requestRetryAfterSecondsMax = 5;
/** The largest honest answer is a page of 500 notifications at all their limits, some 30 MB. */
const answerBytesMax = 64 * 1024 * 1024;
/** Codes of Node.js for a connection that was never made. Browsers do not tell, so their requests may have been sent. */
const unconnectedCodes = new Set(
  ["ECONNREFUSED", "ENOTFOUND", "EAI_AGAIN", "EHOSTUNREACH", "ENETUNREACH", "UND_ERR_CONNECT_TIMEOUT"]);

/** Why a connection failed, in one line. What OpenSSL says in Node.js names its own source files. */
function reason(error) {
  const { code, message } = error.cause ?? error;
  if (/^(EPROTO$|ERR_SSL_)/.test(code)) {
    const port = code === "ERR_SSL_WRONG_VERSION_NUMBER" ? ", perhaps because this port speaks plain HTTP" : "";
    return `the TLS handshake failed${port}: ${code}`;
  }
  return (message || String(code)).trim().split("\n")[0];
}

/** Resolves after the pause, or as soon as the signal aborts. Leaves neither timer nor listener behind. */
export function pause(milliseconds, signal) {
  return new Promise((resolve) => {
    if (signal?.aborted) { resolve(); return; }
    const done = () => {
      clearTimeout(timer);
      signal?.removeEventListener("abort", done);
      resolve();
    };
    const timer = setTimeout(done, milliseconds);
    signal?.addEventListener("abort", done);
  });
}

export class Transport {
  #url;
  #tokens;
  #headers;
  #credentials;
  #fetch;

  constructor({ url, tokens, headers, credentials, fetch }) {
    this.#url = url.replace(/\/+$/, "");
    this.#tokens = tokens;
    this.#headers = headers;
    this.#credentials = credentials;
    this.#fetch = fetch;
  }

  /** The text of a 2xx answer. Tries again: whatever this client asks for, done twice it is done once. */
  async ask(request, attemptsLimit) {
    let open;
    for (let failures = 1; ; failures += 1) {
      try {
        return await this.#withToken(request.signal, async (token) => {
          const exchange = new Exchange(answerMilliseconds + (request.holdMilliseconds ?? 0), request.signal);
          try {
            const answer = await this.#open(request, token, exchange);
            return await text(answer, exchange, this.#url);
          } finally {
            exchange.close();
          }
        });
      } catch (last) {
        const error = last instanceof BelfryError ? last.after(open) : last;
        if ((request.method ?? "GET") !== "GET" && last.leavesOutcomeOpen) open = last;
        const floor = error.retryAfter ?? 0;
        if (!error.mayPass || failures >= attemptsLimit || floor > requestRetryAfterSecondsMax) throw error;
        await pause(backoff(failures, floor * 1000, Math.random()), request.signal);
      }
    }
  }

  /** A stream: `read()` gives the next bytes, undefined at its end; `close()` lets go of it; `token` is what opened it. */
  openStream(request) {
    return this.#withToken(request.signal, async (token) => {
      const exchange = new Exchange(streamSilenceMilliseconds, request.signal);
      try {
        const answer = await this.#open(request, token, exchange);
        if (answer.status !== 200) await text(answer, exchange, this.#url);
        const type = mediaType(answer);
        if (type !== "text/event-stream") {
          throw new BelfryError("protocol", `${this.#url} answered with ${type}, not a stream`, { status: answer.status });
        }
        const reader = answer.body.getReader();
        const read = async () => (await exchange.waiting(() => reader.read(), this.#url)).value;
        return { read, close: () => exchange.close(), token };
      } catch (error) {
        exchange.close();
        throw error;
      }
    });
  }

  async #withToken(signal, attempt) {
    const token = await unlessAborted(signal, this.#tokens.current());
    try {
      return await attempt(token);
    } catch (error) {
      if (error.status !== 401 || !(await unlessAborted(signal, this.#tokens.renewed(token)))) throw error;
    }
    return attempt(await unlessAborted(signal, this.#tokens.current()));
  }

  async #open({ method = "GET", path, query = {}, headers = {}, body }, token, exchange) {
    const given = Object.entries(query).filter(([, value]) => value != null);
    const target = path + (given.length ? `?${new URLSearchParams(given)}` : "");
    const answer = await exchange.waiting(() => this.#fetch(this.#url + target, {
      method, body, cache: "no-store", credentials: this.#credentials, signal: exchange.signal,
      // A redirect would hand the token to whoever it names.
      redirect: "manual",
      headers: {
        ...(token === undefined ? {} : { Authorization: `Bearer ${token}` }),
        ...(body === undefined ? {} : { "Content-Type": "application/json" }),
        ...this.#headers, ...headers,
      },
    }), this.#url);
    if (answer.type === "opaqueredirect") {
      throw new BelfryError("protocol", `${this.#url} answered with a redirect`);
    }
    return answer;
  }
}

/** The value of the promise, unless the caller cancels before: a function that fetches tokens may hang. */
function unlessAborted(signal, promise) {
  if (signal === undefined) return promise;
  return new Promise((resolve, reject) => {
    const cancel = () => reject(new BelfryError("cancelled", "the call was cancelled", { nothingWasSent: true }));
    if (signal.aborted) cancel();
    signal.addEventListener("abort", cancel, { once: true });
    promise.then(resolve, reject).finally(() => signal.removeEventListener("abort", cancel));
  });
}

/** One request and its answer: a deadline for each wait, and an end that takes everything along. */
class Exchange {
  #controller = new AbortController();
  #milliseconds;
  #caller;
  #abort = () => this.#controller.abort();
  #isLate = false;

  constructor(milliseconds, caller) {
    this.#milliseconds = milliseconds;
    this.#caller = caller;
    caller?.addEventListener("abort", this.#abort);
    if (caller?.aborted) this.#abort();
  }

  get signal() { return this.#controller.signal; }

  async waiting(work, url) {
    const timer = setTimeout(() => {
      this.#isLate = true;
      this.#controller.abort();
    }, this.#milliseconds);
    try {
      return await work();
    } catch (error) {
      if (this.#caller?.aborted) throw new BelfryError("cancelled", "the call was cancelled", { cause: error });
      const words = this.#isLate ? "no answer in time" : reason(error);
      const nothingWasSent = unconnectedCodes.has(error.cause?.code);
      throw new BelfryError("transport", `${url}: ${words}`, { nothingWasSent, cause: error });
    } finally {
      clearTimeout(timer);
    }
  }

  close() {
    this.#caller?.removeEventListener("abort", this.#abort);
    this.#controller.abort();
  }
}

const mediaType = (answer) => (answer.headers.get("Content-Type") ?? "").split(";")[0].trim();

/** The text of a 2xx answer; of another one what it says is thrown. */
async function text(answer, exchange, url) {
  const decoder = new TextDecoder();
  let whole = "", length = 0;
  const reader = answer.body?.getReader();
  while (reader) {
    const { value, done } = await exchange.waiting(() => reader.read(), url);
    if (done) break;
    length += value.length;
    if (length > answerBytesMax) throw new BelfryError("protocol", `the answer is longer than ${answerBytesMax} bytes`);
    whole += decoder.decode(value, { stream: true });
  }
  whole += decoder.decode();
  if (!answer.ok) {
    const isProblem = mediaType(answer) === "application/problem+json";
    throw refusal(answer.status, answer.headers.get("Retry-After") ?? undefined, isProblem ? whole : "");
  }
  return whole;
}
