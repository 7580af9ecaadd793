// A feed by EventSource, which can send no header of its own. There are two ways around that:
//
// - a ticket: asked for with the token, good for one stream within half a minute. The page keeps the token, and asks for
//   another ticket whenever the stream has to be opened again.
// - a cookie: the token is sent once, and kept where no script can read it. EventSource opens the stream again by itself.

const names = ["notification", "updated", "retracted", "read", "preferences", "gap", "counts", "device"];

export class Events {
  #source;
  #cursor = "";
  #failures = 0;

  constructor({ broker, by, token, on, state }) {
    Object.assign(this, { broker, by, token, on, state });
    this.#begin();
  }

  /** Marks as read, as `POST /v1/notifications/read` does. */
  async read(body) { return (await this.#ask("/v1/notifications/read", body)).json(); }

  async #begin() {
    try {
      // Also after the session is over, if the page has a fresh token by then.
      if (this.by === "cookie" && this.token) {
        await this.#ask("/v1/session", undefined, this.token);
        this.token = undefined;
      }
      const query = new URLSearchParams();
      if (this.#cursor) query.set("after", this.#cursor);
      if (this.by === "ticket") {
        query.set("ticket", (await (await this.#ask("/v1/notifications/stream/tickets")).json()).ticket);
      }
      this.#open(`${this.broker}/v1/notifications/stream?${query}`);
    } catch (error) {
      if (error.isFinal) this.state(`Disconnected: ${error.message}`);
      else this.#again();
    }
  }

  #open(url) {
    const source = new EventSource(url, { withCredentials: this.by === "cookie" });
    this.#source = source;
    source.onopen = () => {
      this.#failures = 0;
      this.state("Connected.");
    };
    for (const name of names) {
      source.addEventListener(name, (event) => {
        // Those that are not kept have no id of their own.
        if (event.lastEventId) this.#cursor = event.lastEventId;
        this.on(name, JSON.parse(event.data));
      });
    }
    source.addEventListener("kicked", (event) => {
      const { reason, retry } = JSON.parse(event.data);
      if (retry) return;
      source.close();
      this.state(`Disconnected: ${reason}`);
    });
    source.onerror = () => {
      // A ticket opens one stream. With a cookie EventSource tries again, unless it was answered with a refusal.
      if (this.by === "cookie" && source.readyState !== EventSource.CLOSED) return this.state("Connecting again.");
      source.close();
      this.#again();
    };
  }

  /** After a pause that grows and that differs from page to page, so that not all come back at once. */
  #again() {
    this.state("Connecting again.");
    this.#failures += 1;
    setTimeout(() => this.#begin(), Math.random() * Math.min(30_000, 250 * 2 ** this.#failures));
  }

  async #ask(path, body, token = this.token) {
    const headers = {};
    if (token) headers.Authorization = `Bearer ${token}`;
    if (body) headers["Content-Type"] = "application/json";
    const answer = await fetch(this.broker + path, {
      method: "POST", headers, body: body && JSON.stringify(body),
      credentials: this.by === "cookie" ? "include" : "omit",
    });
    if (answer.ok) return answer;
    const problem = await answer.json().catch(() => ({}));
    const error = new Error(`${problem.code ?? answer.status}: ${problem.detail ?? ""}`);
    // Asking again cannot help: what is wrong is in the request.
    error.isFinal = answer.status < 500 && answer.status !== 429;
    throw error;
  }
}
