// When to try again. Pure: chance and what has happened come as arguments.
import { retryAfterSecondsMax } from "./errors.js";

/**
 * The pause after so many failures in a row, in milliseconds, the last one included. It doubles, and is spread over its whole
 * length: any share that all had in common would bring a thousand clients of a restarted broker back in waves. `floor` is what
 * the broker asked for; the pause comes on top.
 */
export function backoff(failures, floor, random, { least = 500, most = 30_000 } = {}) {
  const doublings = Math.min(Math.max(failures, 1) - 1, 16);
  return Math.max(floor, 0) + Math.min(least * 2 ** doublings, most) * random;
}

/** Whether, and after what pause, a feed connects again. */
export class ReconnectPolicy {
  #failures = 0;
  #askedPause = 0;

  /** The broker's `retry:`, which differs from one stream to the next. */
  asked(milliseconds) { this.#askedPause = Math.min(milliseconds, retryAfterSecondsMax * 1000); }

  /**
   * Something came. Not before then is a connection a success: a broker that accepts and hangs up at once would otherwise be
   * asked again without end at the shortest pause.
   */
  heard() { this.#failures = 0; }

  /**
   * The pause after a connection that ended with an error, or because the broker said goodbye (undefined), in milliseconds.
   * Undefined when asking again cannot help.
   */
  pauseAfter(error, random) {
    if (error && !error.mayPass) return undefined;
    this.#failures += 1;
    return backoff(this.#failures, Math.max(this.#askedPause, (error?.retryAfter ?? 0) * 1000), random);
  }
}
