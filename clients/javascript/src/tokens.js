// Tokens: kept until shortly before they expire.
import { BelfryError } from "./errors.js";

/** A token that has less than this to live is not used for a new request. */
const renewalMilliseconds = 30_000;
/** Any credential in use fits; what does not is a mistake, such as a file's whole content. */
const tokenLengthMax = 8 * 1024;

/** Visible ASCII only: a line break in a header's value would begin another header. */
export const isHeaderValue = (text) => typeof text === "string" && /^[\x21-\x7e]+$/.test(text);

/** The `exp` of a JSON Web Token in milliseconds, unverified: it says when to fetch another one, and nothing else. */
export function expiry(token) {
  try {
    const claims = token.split(".")[1].replaceAll("-", "+").replaceAll("_", "/");
    const { exp } = JSON.parse(atob(claims));
    return Number.isFinite(exp) ? exp * 1000 : undefined;
  } catch {
    return undefined;
  }
}

export class TokenStore {
  #provider;
  #token;
  /** The question to the provider that is on its way: all who wait for it share it. */
  #asking;

  constructor(token) {
    if (typeof token === "function") this.#provider = token;
    else this.#token = token;
  }

  /** Undefined where there is none: a cookie then says who is asking. */
  async current() {
    if (this.#provider) {
      const until = this.#token === undefined ? 0 : expiry(this.#token);
      if (until !== undefined && until - Date.now() < renewalMilliseconds) await this.#ask();
    }
    return this.#token === undefined ? undefined : checked(this.#token);
  }

  /** Whether there is another token in place of the one that was refused. */
  async renewed(refused) {
    if (!this.#provider) return false;
    if (this.#token === refused) await this.#ask();
    return this.#token !== refused;
  }

  /** The next request asks for another one. */
  forget(refused) {
    if (this.#provider && this.#token === refused) this.#token = undefined;
  }

  async #ask() {
    this.#asking ??= this.#given().finally(() => { this.#asking = undefined; });
    this.#token = await this.#asking;
  }

  async #given() {
    try {
      return checked(await this.#provider());
    } catch (error) {
      if (error instanceof BelfryError) throw error;
      // Whoever gives tokens may be away as a broker may: a feed waits for it.
      throw new BelfryError("transport", `no token is available: ${error?.message ?? error}`, { cause: error });
    }
  }
}

function checked(token) {
  const flaw = flawOf(token);
  if (flaw) throw new BelfryError("unauthorized", `the token ${flaw}`);
  return token;
}

/** What makes a value no token; undefined if it may be one. A token that was read from a file often ends with a line end. */
function flawOf(token) {
  if (typeof token !== "string") return "must be text";
  if (token === "") return "is empty";
  if (token !== token.trim()) return "begins or ends with a space or a line end, perhaps that of a file; remove it";
  if (token.length > tokenLengthMax) return `is longer than ${tokenLengthMax} characters`;
  return isHeaderValue(token) ? undefined : "holds a character that no token contains";
}
