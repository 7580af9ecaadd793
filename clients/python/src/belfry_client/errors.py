"""Why a call, or a feed, did not succeed."""
import json

#: A broker that asks for more patience than this is asked again sooner: the header may be garbage.
RETRY_AFTER_SECONDS_MAX = 300

#: Of answers that are not Belfry's, such as a proxy's: the same request may succeed later.
_CODES_BY_STATUS = {429: "rateLimited", 502: "unavailable", 503: "unavailable", 504: "unavailable"}


class BelfryError(Exception):
    """`code` is a stable word to switch on: that of the broker's problem document, or `transport` (no answer:
    a write may have happened, unless `nothing_was_sent`) or `protocol` (an answer that is not one of Belfry's). `unknownOutcome` is the broker's for what it
    may have done: send again with `message_client_id`, and it is sent once."""

    def __init__(
        self, code: str, detail: str, *, status: int | None = None, field: str | None = None,
        retry_after: int | None = None, callback_code: str | None = None,
        message_client_id: str | None = None, nothing_was_sent: bool = False
    ):
        super().__init__(code, detail)
        self.code = code
        #: What is wrong, a sentence for a person.
        self.detail = detail
        #: The HTTP status; None when there was no answer.
        self.status = status
        #: What of the request is to blame, such as `toAccids[3]`.
        self.field = field
        #: After how many seconds the broker says it is worth trying again.
        self.retry_after = retry_after
        #: With the code `refusedByCallback`: the callback's own code for its reason.
        self.callback_code = callback_code
        #: Of a send: under which id it was tried, so that it can be sent again.
        self.message_client_id = message_client_id
        #: Set if a batch failed as a whole: its notifications with their `messageClientId`s. Send these again, and each is
        #: sent once.
        self.notifications: list[dict[str, object]] | None = None
        #: True if no connection was made, so that the broker cannot have had the request.
        self.nothing_was_sent = nothing_was_sent

    def __repr__(self) -> str:
        field = f", field={self.field!r}" if self.field else ""
        return f"BelfryError({self.code!r}, {self.detail!r}{field})"

    def __str__(self) -> str:
        return f"{self.code}{f' ({self.field})' if self.field else ''}: {self.detail}"

    @property
    def leaves_outcome_open(self) -> bool:
        """True if the request may have been carried out all the same. A proxy's 502 and 504 mean that it had no answer from
        the broker, which may have had the request."""
        if self.nothing_was_sent:
            return False
        return self.code in ("transport", "protocol", "unknownOutcome") or self.status in (500, 502, 504)

    def after(self, earlier: "BelfryError | None") -> "BelfryError":
        """The error of several tries of one request: where an earlier one may have been carried out, the last one's refusal
        does not mean that nothing was done. Neither does a token that has expired between the two."""
        if earlier is None or self.leaves_outcome_open or not (self.may_pass or self.status == 401):
            return self
        if self.code == "transport":
            self.nothing_was_sent = False
            return self
        return BelfryError(
            "unknownOutcome", f"an earlier try may have been carried out ({earlier.detail}); the last one: {self.detail}",
            status=self.status, field=self.field, retry_after=self.retry_after)

    @property
    def may_pass(self) -> bool:
        """Whether the same request may succeed later without anyone changing anything."""
        if self.code == "transport":
            return True
        if self.status is None:
            return False
        # Request timeout, too early, too many requests; of the server's errors all but "not implemented" and "version
        # not supported", which no waiting cures.
        return self.status in (408, 425, 429) or (500 <= self.status <= 599 and self.status not in (501, 505))


def refusal(status: int, asked_pause: str | None, body: bytes) -> BelfryError:
    """What an answer other than 2xx says; `asked_pause` is its Retry-After, and the body is empty if it is no problem
    document. An answer without one is not Belfry's. Its status counts only if it says that the request may succeed later."""
    try:
        problem = json.loads(body)
    except (ValueError, RecursionError):
        problem = None
    if not isinstance(problem, dict):
        problem = {}

    def text(name: str) -> str | None:
        return problem[name] if isinstance(problem.get(name), str) else None

    asked = asked_pause or str(problem.get("retryAfter", ""))
    # Seconds, as Belfry says them. The header's other form, a date, would need clocks that agree.
    retry_after = min(int(asked), RETRY_AFTER_SECONDS_MAX) if asked.isascii() and asked.isdigit() and len(asked) < 10 else None
    return BelfryError(
        text("code") or _CODES_BY_STATUS.get(status, "protocol"),
        text("detail") or text("title") or f"the answer was {status}, without an explanation",
        status=status, field=text("field"), retry_after=retry_after, callback_code=text("callbackCode"),
        message_client_id=text("messageClientId"))
