// What the tests play on: a broker with a Redis of its own, and servers that behave badly.
import { execFileSync, spawn } from "node:child_process";
import { mkdtempSync, openSync, rmSync } from "node:fs";
import { createConnection, createServer } from "node:net";
import { once } from "node:events";
import { tmpdir } from "node:os";
import { join } from "node:path";

export const sleep = (milliseconds) => new Promise((resolve) => setTimeout(resolve, milliseconds));

/** Waits until it holds. */
export async function waitUntil(holds, milliseconds = 60_000) {
  for (const end = performance.now() + milliseconds; !(await holds()); await sleep(20)) {
    if (performance.now() > end) throw new Error("it has not come to that");
  }
}

/** The executable that BELFRY_EXECUTABLE names. Can die, and be started again on the same port and data. */
export class Broker {
  #program = process.env.BELFRY_EXECUTABLE;
  #folder = mkdtempSync(join(tmpdir(), "belfry-"));

  static async begin() {
    const broker = new Broker();
    const free = createServer().listen(0, "127.0.0.1");
    await once(free, "listening");
    broker.port = free.address().port;
    free.close();
    await once(free, "close");
    broker.url = `http://127.0.0.1:${broker.port}`;
    await broker.start();
    return broker;
  }

  async start() {
    const log = openSync(join(this.#folder, "log"), "a");
    const listen = ["--listen", `127.0.0.1:${this.port}`, "--data", join(this.#folder, "data")];
    this.process = spawn(this.#program, ["serve", ...listen], { stdio: ["ignore", log, log] });
    this.ended = once(this.process, "exit");
    for (let tries = 0; tries < 400; tries += 1) {
      if (await fetch(`${this.url}/readyz`).then((answer) => answer.ok, () => false)) return;
      await sleep(50);
    }
    throw new Error("the broker did not start");
  }

  async kill() {
    this.process.kill("SIGKILL");
    await this.ended;
  }

  async stop() {
    this.process.kill("SIGTERM");
    await this.ended;
    rmSync(this.#folder, { recursive: true, force: true });
  }

  token(subject, ...options) {
    const data = ["--data", join(this.#folder, "data")];
    return execFileSync(this.#program, ["token", ...data, "--sub", subject, ...options], { encoding: "utf8" }).trim();
  }

  async ask(method, path, token, body) {
    const headers = { Authorization: `Bearer ${token}`, "Content-Type": "application/json" };
    const answer = await fetch(this.url + path, { method, headers, body: body && JSON.stringify(body) });
    const text = await answer.text();
    return text ? JSON.parse(text) : undefined;
  }
}

/** Has each request handled by a function of its head, its connection and its number. */
export async function serve(handle) {
  const connections = new Set();
  const listener = createServer((connection) => {
    connections.add(connection);
    connection.on("error", () => {}).on("close", () => connections.delete(connection));
    server.count += 1;
    const number = server.count;
    let request = "", isWhole = false;
    connection.on("data", (bytes) => {
      request += bytes.toString("latin1");
      const [head, body] = request.split("\r\n\r\n");
      if (isWhole || body === undefined || body.length < Number(/content-length: (\d+)/i.exec(head)?.[1] ?? 0)) return;
      isWhole = true;
      handle(request, connection, number);
    });
  }).listen(0, "127.0.0.1");
  const server = {
    count: 0,
    close() {
      listener.close();
      for (const connection of connections) connection.destroy();
    },
  };
  await once(listener, "listening");
  server.url = `http://127.0.0.1:${listener.address().port}`;
  return server;
}

export function answer(status, body, ...headers) {
  const lines = [`HTTP/1.1 ${status} X`, `Content-Length: ${Buffer.byteLength(body)}`, "Connection: close", ...headers];
  return `${lines.join("\r\n")}\r\n\r\n${body}`;
}

export const streamHead = "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nConnection: close\r\n\r\n";

/** A way to a broker on which the answers to the first requests are lost. */
export function cutting(port, losses) {
  return serve((request, connection, number) => {
    const broker = createConnection(port, "127.0.0.1");
    const pieces = [];
    broker.write(request.replace(/\r\nconnection: [^\r]*/i, "").replace("\r\n\r\n", "\r\nConnection: close\r\n\r\n"), "latin1");
    broker.on("data", (piece) => pieces.push(piece)).on("error", () => {});
    broker.on("end", () => (number > losses ? connection.end(Buffer.concat(pieces)) : connection.destroy()));
  });
}
