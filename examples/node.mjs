#!/usr/bin/env node
// A producer and a consumer with Node 18 or later, without dependencies.
//
//   node.mjs send ACCOUNT TEXT    sends to an account
//   node.mjs tail [COUNT]         prints what comes, COUNT notifications or for ever, and continues where it stopped
//   node.mjs read                 marks all of it read, up to the last that tail has shown
//
// BELFRY_URL (http://127.0.0.1:8080), BELFRY_TOKEN; CURSOR, the file that remembers where tail was (belfry.cursor).
import { readFile, rename, writeFile } from "node:fs/promises";
import { webcrypto } from "node:crypto";
import { Belfry } from "./belfry.mjs";

globalThis.crypto ??= webcrypto;

const { BELFRY_URL: url = "http://127.0.0.1:8080", BELFRY_TOKEN: token, CURSOR: file = "belfry.cursor" } = process.env;
const belfry = new Belfry({ url, token });
const saved = (name) => readFile(name, "utf8").catch(() => "");
const save = async (name, text) => {
  await writeFile(`${name}.new`, text);
  await rename(`${name}.new`, name);
};

process.on("uncaughtException", (error) => {
  console.error(error.message);
  process.exit(1);
});

const [command, ...rest] = process.argv.slice(2);
if (command === "send" && rest.length === 2) {
  const [account, body] = rest;
  console.log((await belfry.send({ toAccids: [account], body })).messageServerId);
} else if (command === "tail" && rest.length <= 1) {
  let left = Number(rest[0] ?? Infinity);
  for await (const { event, data, cursor } of belfry.events(await saved(file))) {
    if (event === "notification") {
      console.log(`${data.fromAccount ?? "-"}: ${data.body ?? `type ${data.type}`}`);
      await save(`${file}.last`, data.messageServerId);
      left -= 1;
    } else if (event === "gap") {
      console.error(`what came between ${data.from} and ${data.to} is gone`);
    }
    // Behind the effect: after a crash in between, one notification is shown twice, and none is left out.
    if (cursor) await save(file, cursor);
    if (left === 0) break;
  }
} else if (command === "read" && rest.length === 0) {
  console.log((await belfry.read(await saved(`${file}.last`))).read);
} else {
  console.error("node.mjs send ACCOUNT TEXT | tail [COUNT] | read");
  process.exitCode = 2;
}
