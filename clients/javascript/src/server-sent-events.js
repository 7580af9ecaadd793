// Reads a `text/event-stream` from whatever pieces the network delivers (WHATWG HTML, "Server-sent events").

/** One line, and the data of one event, in characters. A notification at all its limits stays under 200 KiB. */
export const eventLengthMax = 1024 * 1024;

export class EventTooLong extends Error {}

/**
 * Any bytes are a valid stream; only length can be wrong. Items are `{event, data, id}`, where `id` is the last one seen;
 * `{position}`, an id with no data; and `{retry}`, what to wait before connecting again, in milliseconds.
 */
export class ServerSentEventParser {
  // Leaves a byte order mark out, and keeps a character whose bytes come in two pieces.
  #decoder = new TextDecoder();
  #parts = [];
  #partsLength = 0;
  /** The last character was CR, which ended a line at once: an LF that follows belongs to it. */
  #endedByCR = false;
  #name = "";
  #data;
  #lastID;
  #hasNewID = false;
  #limit;

  constructor(lastID, limit = eventLengthMax) {
    this.#lastID = lastID;
    this.#limit = limit;
  }

  /** Appends what the piece completes. Of one that is too long, what was complete before is appended all the same. */
  parse(bytes, into) {
    let text = this.#decoder.decode(bytes, { stream: true });
    if (text === "") return;
    if (this.#endedByCR && text.startsWith("\n")) text = text.slice(1);
    this.#endedByCR = text.endsWith("\r");
    const lines = text.split(/\r\n|\r|\n/);
    const rest = lines.pop();
    for (const part of lines) {
      this.#extend(part);
      const line = this.#parts.join("");
      this.#parts = [];
      this.#partsLength = 0;
      if (line === "") this.#dispatch(into);
      else this.#readField(line, into);
    }
    this.#extend(rest);
  }

  #extend(part) {
    this.#partsLength += part.length;
    if (this.#partsLength > this.#limit) throw new EventTooLong();
    if (part) this.#parts.push(part);
  }

  #readField(line, into) {
    const colon = line.indexOf(":");
    const name = colon < 0 ? line : line.slice(0, colon);
    let value = colon < 0 ? "" : line.slice(colon + 1);
    if (value.startsWith(" ")) value = value.slice(1);
    if (name === "event") {
      this.#name = value;
    } else if (name === "data") {
      this.#data = this.#data === undefined ? value : `${this.#data}\n${value}`;
      if (this.#data.length > this.#limit) throw new EventTooLong();
    } else if (name === "id" && !value.includes("\0")) {
      this.#lastID = value;
      this.#hasNewID = true;
    } else if (name === "retry" && /^[0-9]+$/.test(value)) {
      into.push({ retry: Number(value) });
    }
  }

  #dispatch(into) {
    if (this.#data !== undefined) into.push({ event: this.#name || "message", data: this.#data, id: this.#lastID });
    else if (this.#hasNewID) into.push({ position: this.#lastID });
    this.#name = "";
    this.#data = undefined;
    this.#hasNewID = false;
  }
}
