// Everything unread, then what happens as it happens.
import { BelfryError } from "./errors.js";
import { feedEvent, needsToken } from "./events.js";
import { pause } from "./http.js";
import { EventTooLong, ServerSentEventParser, eventLengthMax } from "./server-sent-events.js";

/**
 * The events of one account's feed, for one `for await`.
 *
 * Reconnects by itself and goes on where it was: each notification comes once. The cursor moves when an event is handed out,
 * and what arrived is handed out before a new connection is made, which so begins exactly behind it. It reads while it is asked
 * for the next event, so a slow loop makes the broker wait.
 */
export class NotificationFeed {
  /** The place behind the last event that was handed out. */
  cursor;
  #open;
  #forgetToken;
  #policy;
  #stream;
  #parser;
  #arrived = [];
  /** What the client itself has to tell, after all that arrived. */
  #remarks = [];
  #pauseMilliseconds;
  #isKnownConnected = false;
  #waitsForBroker;
  /** No answer at all, the first time, is more likely a wrong URL than a broker that will come. */
  #wasAnswered = false;
  #hasEnded = false;
  #error;
  #closing = new AbortController();
  #caller;
  #close = () => this.close();
  /** Two calls of `next` at once are answered one after the other. */
  #last = Promise.resolve();

  /** `open({after, signal})` gives a stream. */
  constructor({ open, forgetToken, policy, after, signal, waitsForBroker = false }) {
    this.#waitsForBroker = waitsForBroker;
    this.#open = open;
    this.#forgetToken = forgetToken;
    this.#policy = policy;
    this.cursor = after;
    this.#caller = signal;
    signal?.addEventListener("abort", this.#close);
    if (signal?.aborted) this.close();
  }

  [Symbol.asyncIterator]() { return this; }

  next() {
    const result = this.#last.then(() => this.#next());
    this.#last = result.catch(() => {});
    return result;
  }

  async return(value) {
    this.close();
    return { value, done: true };
  }

  /** Ends the feed, at any time. Whoever waits for the next event hears that there is none. */
  close() {
    this.#closing.abort();
    this.#caller?.removeEventListener("abort", this.#close);
    this.#letGo();
  }

  async #next() {
    while (!this.#closing.signal.aborted) {
      while (this.#arrived.length) {
        const value = this.#take(this.#arrived.shift());
        if (value) return { value, done: false };
      }
      if (this.#remarks.length) return { value: this.#remarks.shift(), done: false };
      if (this.#hasEnded) break;
      await this.#advance();
    }
    const error = this.#closing.signal.aborted ? undefined : this.#error;
    this.close();
    if (error) throw error;
    return { value: undefined, done: true };
  }

  async #advance() {
    if (this.#pauseMilliseconds !== undefined) {
      const milliseconds = this.#pauseMilliseconds;
      this.#pauseMilliseconds = undefined;
      await pause(milliseconds, this.#closing.signal);
    } else if (this.#stream) {
      await this.#read(this.#stream);
    } else {
      await this.#connect();
    }
  }

  async #connect() {
    try {
      this.#stream = await this.#open({ after: this.cursor, signal: this.#closing.signal });
    } catch (error) {
      this.#failed(error);
      return;
    }
    this.#wasAnswered = true;
    // It may have been closed while the last of the answer's head came.
    if (this.#closing.signal.aborted) { this.#letGo(); return; }
    // The last id outlives a connection: what has none of its own stands behind it.
    this.#parser = new ServerSentEventParser(this.cursor);
    if (!this.#isKnownConnected) this.#remarks.push({ kind: "connected" });
    this.#isKnownConnected = true;
  }

  async #read(stream) {
    let bytes;
    try {
      bytes = await stream.read();
    } catch (error) {
      this.#failed(error);
      return;
    }
    if (!bytes) {
      this.#failed(new BelfryError("transport", "the broker hung up"));
      return;
    }
    this.#policy.heard();
    const items = [];
    try {
      this.#parser.parse(bytes, items);
    } catch (error) {
      if (!(error instanceof EventTooLong)) throw error;
      // Asked again, the broker would send the same line again.
      this.#end(new BelfryError("protocol", `an event of the stream is longer than ${eventLengthMax} characters`));
    }
    for (const item of items) {
      this.#arrived.push(item);
      if (item.retry !== undefined) this.#policy.asked(item.retry);
      const event = item.event === "kicked" ? feedEvent(item) : undefined;
      if (event?.kind === "kicked") {
        this.#kicked(event, stream);
        break;
      }
    }
  }

  #kicked(event, stream) {
    this.#letGo();
    this.#isKnownConnected = false;
    if (needsToken(event)) this.#forgetToken(stream.token);
    if (event.retry || needsToken(event)) this.#pauseMilliseconds = this.#policy.pauseAfter(undefined, Math.random());
    else this.#end();
  }

  #failed(error) {
    this.#letGo();
    if (!(error instanceof BelfryError)) { this.#end(error); return; }
    this.#wasAnswered ||= error.code !== "transport";
    const mayReturn = this.#wasAnswered || this.#waitsForBroker;
    const milliseconds = mayReturn ? this.#policy.pauseAfter(error, Math.random()) : undefined;
    if (milliseconds === undefined) { this.#end(error); return; }
    this.#pauseMilliseconds = milliseconds;
    this.#isKnownConnected = false;
    this.#remarks.push({ kind: "disconnected", because: error, pauseMilliseconds: milliseconds });
  }

  #end(error) {
    this.#hasEnded = true;
    this.#error = error;
    this.#letGo();
  }

  #letGo() {
    this.#stream?.close();
    this.#stream = undefined;
  }

  #take(item) {
    if (item.position !== undefined) this.cursor = item.position;
    if (item.event === undefined) return undefined;
    if (item.id !== undefined) this.cursor = item.id;
    return feedEvent(item);
  }
}
