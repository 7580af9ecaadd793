// Runs the script of examples/browser.html in Node, with as much of a document as it uses: what comes is listed, and what is
// marked read is gone from the list.
//
//   node scripts/docs/browser_page.mjs URL TOKEN TEXT    TEXT has to be listed, and to go when the page marks it read
import { readFile, rm, writeFile } from "node:fs/promises";
import { webcrypto } from "node:crypto";

const [url, token, wanted] = process.argv.slice(2);

class Element {
  children = [];
  textContent = "";
  hidden = false;
  value = token;
  append(child) { this.children = [...this.children.filter((one) => one !== child), child]; child.parent = this; }
  replaceChildren(...children) { this.children = children; }
  remove() { this.parent.children = this.parent.children.filter((one) => one !== this); }
  get text() { return this.textContent + this.children.map((one) => one.text ?? one).join(""); }
}

const elements = new Map();
const byId = (id) => elements.get(id) ?? elements.set(id, new Element()).get(id);
const stored = new Map();
const overTheNetwork = globalThis.fetch;
Object.assign(globalThis, {
  document: { getElementById: byId, createElement: () => new Element() },
  sessionStorage: {
    getItem: (key) => stored.get(key) ?? null, setItem: (key, value) => stored.set(key, value),
    removeItem: (key) => stored.delete(key),
  },
  // In a browser paths are of the page's origin.
  fetch: (path, options) => overTheNetwork(url + path, options),
});
globalThis.crypto ??= webcrypto;

async function until(what, holds) {
  for (let tries = 0; tries < 200; tries += 1) {
    if (holds()) return;
    await new Promise((resolve) => setTimeout(resolve, 25));
  }
  console.error(`the page does not come to ${what}: ${byId("state").text} ${byId("list").text}`);
  process.exit(1);
}

const page = await readFile("examples/browser.html", "utf8");
const file = new URL("../../examples/browser-page.mjs", import.meta.url);
await writeFile(file, page.match(/<script type="module">(.*)<\/script>/s)[1]);
try {
  await import(file);
} finally {
  await rm(file);
}
byId("entry").onsubmit({ preventDefault() {} });
await until(`list “${wanted}”`, () => byId("list").text.includes(wanted));
byId("read").onclick();
await until("an empty list", () => byId("list").children.length === 0 && byId("read").hidden);
process.exit(0);
