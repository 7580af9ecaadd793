// A feed by a WebSocket, on which the page marks as well. There are three ways to say who is asking, since a page can set no
// header here:
//
// - token: in the first frame. The page keeps it.
// - ticket: asked for with the token, good for one connection within half a minute.
// - cookie: the token is sent once, and kept where no script can read it.

const cannotComeBack = new Set([3001, 3002, 4400, 4401, 1002, 1003, 1007, 1009]);

export class Socket {
  #socket;
  #cursor = "";
  #failures = 0;
  #ids = 1;
  #asked = new Map();               // what waits for its answer, by id

  constructor({ broker, by, token, on, state }) {
    Object.assign(this, { broker, by, token, on, state });
    this.#begin();
  }

  /** Marks as read, as `POST /v1/notifications/read` does. */
  read(body) { return this.#ask({ read: body }); }

  async #begin() {
    try {
      const query = new URLSearchParams();
      if (this.#cursor && this.by !== "token") query.set("after", this.#cursor);
      // So that the broker ignores a cookie that the browser may have.
      if (this.by === "token") query.set("connect", "1");
      if (this.by === "cookie" && this.token) {
        await this.#post("/v1/session");
        this.token = undefined;
      } else if (this.by === "ticket") {
        query.set("ticket", (await (await this.#post("/v1/notifications/stream/tickets")).json()).ticket);
      }
      this.#open(`${this.broker.replace(/^http/, "ws")}/v1/socket?${query}`);
    } catch (error) {
      if (error.isFinal) this.state(`Disconnected: ${error.message}`);
      else this.#again();
    }
  }

  #open(url) {
    const socket = new WebSocket(url, "belfry.v1.json");
    this.#socket = socket;
    socket.onopen = () => {
      if (this.by !== "token") return;
      const connect = { token: this.token };
      if (this.#cursor) connect.after = this.#cursor;
      socket.send(JSON.stringify({ id: this.#ids, connect }));
      this.#ids += 1;
    };
    socket.onmessage = ({ data }) => this.#hear(socket, JSON.parse(data));
    socket.onclose = ({ code, reason }) => {
      for (const { reject } of this.#asked.values()) reject(new Error("disconnected before the answer"));
      this.#asked.clear();
      if (cannotComeBack.has(code)) this.state(`Disconnected: ${code} ${reason}`);
      else this.#again();
    };
  }

  #hear(socket, frame) {
    if (frame.cursor) this.#cursor = frame.cursor;
    if (frame.ok?.pingSeconds) {
      this.#failures = 0;
      this.state("Connected.");
    } else if ("id" in frame) {
      const { resolve, reject } = this.#asked.get(frame.id) ?? {};
      this.#asked.delete(frame.id);
      if (frame.problem) reject?.(new Error(`${frame.problem.code}: ${frame.problem.detail}`));
      else resolve?.(frame.ok);
    } else {
      const [name] = Object.keys(frame).filter((key) => key !== "cursor");
      // {} asks whether the page is still there.
      if (name === undefined) socket.send("{}");
      else if (name !== "kicked") this.on(name, frame[name]);
    }
  }

  #ask(what) {
    return new Promise((resolve, reject) => {
      if (this.#socket?.readyState !== WebSocket.OPEN) return reject(new Error("not connected; try again in a moment"));
      const id = this.#ids;
      this.#ids += 1;
      this.#asked.set(id, { resolve, reject });
      this.#socket.send(JSON.stringify({ id, ...what }));
    });
  }

  /** After a pause that grows and that differs from page to page, so that not all come back at once. */
  #again() {
    this.state("Connecting again.");
    this.#failures += 1;
    setTimeout(() => this.#begin(), Math.random() * Math.min(30_000, 250 * 2 ** this.#failures));
  }

  async #post(path) {
    const answer = await fetch(this.broker + path, {
      method: "POST", headers: { Authorization: `Bearer ${this.token}` },
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
