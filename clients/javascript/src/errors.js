// Why a call, or a feed, did not succeed.

/** A broker that asks for more patience than this is asked again sooner: the header may be garbage. */
export const retryAfterSecondsMax = 300;

/** Of answers that are not Belfry's, such as a proxy's: the same request may succeed later. */
const codesByStatus = { 429: "rateLimited", 502: "unavailable", 503: "unavailable", 504: "unavailable" };

export class BelfryError extends Error {
  constructor(code, detail, { status, field, retryAfter, callbackCode, messageClientId, nothingWasSent, cause } = {}) {
    super(`${code}${field ? ` (${field})` : ""}: ${detail}`, { cause });
    this.name = "BelfryError";
    Object.assign(this, { code, detail, status, field, retryAfter, callbackCode, messageClientId });
    this.nothingWasSent = nothingWasSent ?? false;
  }

  /** True if the request may have been carried out all the same. A proxy's 502 and 504 mean that it had no answer from the
      broker, which may have had the request. */
  get leavesOutcomeOpen() {
    if (this.nothingWasSent) return false;
    return ["transport", "protocol", "cancelled", "unknownOutcome"].includes(this.code) || [500, 502, 504].includes(this.status);
  }

  /** The error of several tries of one request: where an earlier one may have been carried out, the last one's refusal does
      not mean that nothing was done. Neither does a token that has expired between the two. */
  after(earlier) {
    if (earlier === undefined || this.leavesOutcomeOpen || !(this.mayPass || this.status === 401)) return this;
    if (this.code === "transport") {
      this.nothingWasSent = false;
      return this;
    }
    const { status, field, retryAfter } = this;
    return new BelfryError(
      "unknownOutcome", `an earlier try may have been carried out (${earlier.detail}); the last one: ${this.detail}`,
      { status, field, retryAfter, cause: this });
  }

  /** The same request may succeed later without anyone changing anything. */
  get mayPass() {
    if (this.code === "transport") return true;
    if (this.status === undefined) return false;
    // Request timeout, too early, too many requests; of the server's errors all but "not implemented" and "version not
    // supported", which no waiting cures.
    return [408, 425, 429].includes(this.status)
      || (this.status >= 500 && this.status <= 599 && ![501, 505].includes(this.status));
  }
}

/** What an answer other than 2xx says; the body is empty if it is no problem document. An answer without one is not Belfry's.
    Its status counts only if it says that the request may succeed later. */
export function refusal(status, askedPause, body) {
  let problem = {};
  try { problem = Object(JSON.parse(body)); } catch { /* No document: the status says what there is to say. */ }
  const text = (name) => (typeof problem[name] === "string" ? problem[name] : undefined);
  // Seconds, as Belfry says them. The header's other form, a date, would need clocks that agree.
  const asked = askedPause ?? String(problem.retryAfter ?? "");
  return new BelfryError(
    text("code") ?? codesByStatus[status] ?? "protocol",
    text("detail") ?? text("title") ?? `the answer was ${status}, without an explanation`,
    {
      status, field: text("field"), callbackCode: problem.callbackCode,
      messageClientId: text("messageClientId"),
      retryAfter: /^[0-9]{1,9}$/.test(asked) ? Math.min(Number(asked), retryAfterSecondsMax) : undefined,
    });
}
