// The README lists every public method with its parameters, and every event with its fields, as index.d.ts declares them.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import test from "node:test";
import { BelfryClient } from "../index.js";

const file = (name) => readFileSync(new URL(`../${name}`, import.meta.url), "utf8");
const rows = (heading) => file("README.md").split(`\n## ${heading}\n`)[1].split("\n## ")[0].split("\n")
  .filter((line) => line.startsWith("| `"));
const declarations = file("index.d.ts").replaceAll(/\/\*\*[^]*?\*\//g, "");

/** The names before the colons, but not those inside brackets or braces. */
const names = (text) => {
  let flat = text;
  for (let last; last !== flat;) [last, flat] = [flat, flat.replaceAll(/<[^<>]*>|\{[^{}]*\}|\([^()]*\)/g, "")];
  return Array.from(flat.matchAll(/(\w+)\??:/g), (match) => match[1]);
};

test("the README lists every method", () => {
  const declared = (heading) => {
    const body = declarations.split(`${heading} {`)[1].split("\n}")[0];
    return Array.from(body.matchAll(/^ {2}(?!constructor)(\w+)\(([^]*?)\): [^]*?;$/gm), ([, name, inside]) => (
      `${name}(${names(inside).join(", ")})`));
  };
  const client = declared("export class BelfryClient");
  assert.deepEqual(
    client.map((call) => call.split("(")[0]).sort(),
    Object.getOwnPropertyNames(BelfryClient.prototype).filter((name) => name !== "constructor").sort());
  const feed = declared("export interface NotificationFeed extends AsyncIterableIterator<FeedEvent>");
  assert.deepEqual(rows("Methods").map((row) => row.split("`")[1]).sort(), [...client, ...feed].sort());
});

test("the README lists every event", () => {
  const union = declarations.split("export type FeedEvent =")[1].split("export ")[0];
  const declared = Array.from(union.matchAll(/\{ kind: "(\w+)"(.*?) \}/g), ([, kind, fields]) => [kind, ...names(fields)]);
  const listed = rows("Events").map((row) => (
    Array.from(row.split(" | ").slice(0, 2).join(" ").matchAll(/`(\w+)`/g), (match) => match[1])));
  assert.deepEqual(listed, declared);
});
