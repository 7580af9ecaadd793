"""What schemathesis does not know of Belfry: see scripts/check-openapi."""

import re

import schemathesis

# What is refused although the schemas take it: the field, the words, and why no schema says it.
RULES = [
    (r"accid", r"^must not name the account itself$", "nobody blocks themselves"),
    (r"cursor|after|Last-Event-ID", r"is not a cursor that Belfry gave|is not valid, or Redis has restarted", "only what a page gave is a cursor"),
    (r".*", r"must be at most \d+ bytes", "JSON Schema counts characters, not bytes"),
    (r".*Id|toAccids|toType", r"cannot be combined|is needed|is missing: give|leave it out", "which fields make a send together"),
    (r"items|upTo|body|url", r"is missing: give|cannot be combined", "generators of clients take no choice of needed fields"),
    (r"toAccids\[\d+\]", r"must name each account once", "each receiver once; uniqueItems would not see 7 and \"7\""),
    (r"members", r"has no roster", "members go with membership: roster"),
    (r"membership", r"must be roster", "membership goes with type: private"),
    (r"accids", r"must not name yourself", "nobody invites themselves"),
    (r"url|endpoint", r"must be an http or https URL", "what a URL is, the library says that connects to it"),
    (r"url|endpoint", r"cannot lead to|must be an https URL|must have the path", "which hosts a broker may reach, its configuration says"),
    (r"url|appId|pushkey|data|endpoint|p256dh|auth", r"is not a field of kind|is needed", "each kind of pusher has fields of its own"),
    (r"p256dh|auth", r"in base64url", "a point on a curve, and so many bytes in another writing"),
    (r"spaces\[\d+\]", r"must be a space", "a kind and a name of that kind"),
    (r"maxMembers", r"must be 1 to|must not be below", "a deployment sets its own limit"),
    (r"maxMembers", r"must be left out: everyone", "only a channel with a roster has a ceiling of its own"),
    (r"from", r"is a time before 2001", "a description says that it is a time in milliseconds"),
    (r"since", r"and it is before 2001", "a description says that it is a time in milliseconds"),
    (r"types\[\d+\]", r"is -?\d+, which is not a notification type", "GET /v1/notification-types has the types"),
    (r"preferences\[\d+\]\.types\[\d+\]", r"is -?\d+, which is not a notification type|its level can only be all", "GET /v1/notification-types has the types"),
    (r"expireAt", r"must lie in the future", "no schema knows the time"),
    (r"preferences\[\d+\]\.until", r"must lie in the future", "no schema knows the time"),
    (r"preferences\[\d+\]\.space", r"must be `server:`", "a kind and a name of that kind"),
    (r"preferences\[\d+\]", r"a second preference", "for each space and type there is one"),
]


@schemathesis.check
def refused_by_no_schema(ctx, response, case):
    """A request that the schemas take is refused as malformed only by a rule that no schema can say."""
    if case.meta is None or not case.meta.generation.mode.is_positive or response.status_code != 400:
        return
    problem = response.json()
    for field, words, _ in RULES:
        if re.fullmatch(field, problem.get("field", "")) and re.search(words, problem["detail"]):
            return
    raise AssertionError(f"the schemas take it, and it is refused: {problem.get('field')} {problem['detail']}")


@schemathesis.serializer("application/x-ndjson")
def lines(ctx, value):
    return value if isinstance(value, bytes) else str(value).encode()
