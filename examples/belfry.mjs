// A client of a few lines for Node and browsers, without dependencies: examples/node.mjs and browser.html use it.

/** Three heartbeats: a connection that is silent for longer is broken. */
const silenceMilliseconds = 45_000;

const sleep = (milliseconds) => new Promise((resolve) => setTimeout(resolve, milliseconds));

/** A refusal: `problem` has `code`, `detail` and, where something in the request is wrong, `field`. */
export class Refused extends Error {
  constructor(status, problem, retryAfterSeconds) {
    super(`${problem.code ?? status}: ${problem.detail ?? ""}`);
    Object.assign(this, { status, problem, retryAfterSeconds });
  }
  /** Asking again cannot help: what is wrong is in the request. */
  get isFinal() { return this.status < 500 && this.status !== 429; }
}

export class Belfry {
  constructor({ url = "", token }) { Object.assign(this, { url, token }); }

  async #ask(path, { body, headers = {}, signal } = {}) {
    const answer = await fetch(this.url + path, {
      method: body === undefined ? "GET" : "POST",
      headers: {
        Authorization: `Bearer ${this.token}`,
        ...(body === undefined ? {} : { "Content-Type": "application/json" }),
        ...headers,
      },
      body: body === undefined ? undefined : JSON.stringify(body),
      signal,
    });
    if (answer.ok) return answer;
    const problem = await answer.json().catch(() => ({}));
    throw new Refused(answer.status, problem, Number(answer.headers.get("Retry-After") ?? 0));
  }

  /** As long as the broker asks, or longer with each try, spread so that not all come back at once. */
  static #pause(error, tries) {
    const spread = Math.random() * Math.min(30_000, 500 * 2 ** tries);
    return sleep(Math.max((error?.retryAfterSeconds ?? 0) * 1000, spread));
  }

  /** Sends once, however often it has to try: the messageClientId is made before the first try. */
  async send(notification, tries = 5) {
    const body = { messageClientId: crypto.randomUUID(), ...notification };
    for (let attempt = 0; ; attempt += 1) {
      try {
        return await (await this.#ask("/v1/notifications", { body })).json();
      } catch (error) {
        if (error.isFinal || attempt + 1 === tries) throw error;
        await Belfry.#pause(error, attempt);
      }
    }
  }

  /** Marks one, or all up to one, as read. */
  async read(upTo) { return (await this.#ask("/v1/notifications/read", { body: { upTo } })).json(); }

  /**
   * Everything unread, then live: `{event, data, cursor}`, for ever. Goes on behind `cursor`, and behind the last one
   * handed out whenever the connection is lost. EventSource would do the same, but cannot send a token.
   */
  async *events(cursor = "") {
    for (let failures = 0; ; ) {
      const connection = new AbortController();
      let timer;
      const alive = () => {
        clearTimeout(timer);
        timer = setTimeout(() => connection.abort(), silenceMilliseconds);
      };
      try {
        alive();
        const answer = await this.#ask("/v1/notifications/stream", {
          headers: cursor ? { "Last-Event-ID": cursor } : {}, signal: connection.signal,
        });
        failures = 0;
        for await (const event of parsed(answer.body, alive)) {
          if (event.cursor) cursor = event.cursor;
          yield event;
          if (event.event === "kicked" && !event.data.retry) return;
        }
      } catch (error) {
        if (error.isFinal) throw error;
        failures += 1;
        await Belfry.#pause(error, failures);
      } finally {
        clearTimeout(timer);
        connection.abort();
      }
    }
  }
}

/** The events of a body of Server-Sent Events. Each has its data on one line, as Belfry writes them. */
async function* parsed(body, alive) {
  const reader = body.pipeThrough(new TextDecoderStream()).getReader();
  let rest = "", event = {};
  for (;;) {
    const { value, done } = await reader.read();
    if (done) return;
    alive();
    const lines = (rest + value).split("\n");
    rest = lines.pop();
    for (const line of lines) {
      const [, name, text] = line.match(/^([^:]*):? ?(.*)$/);
      if (name === "event") event.event = text;
      else if (name === "data") event.data = JSON.parse(text);
      else if (name === "id") event.cursor = text;
      else if (line === "" && event.event) {
        yield event;
        event = {};
      }
    }
  }
}
