"""The page docs/http-operations.md: a line for each operation, from docs/openapi.json and the bodies of the story.

    page(openapi, bodies)    openapi: the document; bodies: by the operation's id, the text of the body that was accepted
"""
import json

HEAD = """\
# Every operation in a line

<!-- written by scripts/http-examples -->

Each line has a request, a body that a broker accepted, and all fields of the body. The fields with `?` may be left out, and so may
query parameters without a value. [The HTTP interface](http.md) has the rules, and [access.md](access.md) says who may do what.
[openapi.json](openapi.json) describes each field with its limits, the answers and the refusals.

The answers are on a longer page, which is not in the repository. One command writes it: `scripts/http-examples` asks a broker of its own for
every operation, and puts each request with its answer into `http-examples.md`, next to this page. The first time it builds for some
three minutes. Releases include that page.
"""
# The tags of the document, in the order of the page. Webhooks have no tag of their own.
SECTIONS = {
    "notifications": "Notifications", "servers": "Servers", "channels": "Channels of a server", "groups": "Groups",
    "rooms": "Rooms", "accounts": "Accounts, subscriptions and sessions", "webhooks": "Webhooks", "broker": "The broker"}
REPEATED_FROM = 100     # a list of fields that is as long as this is written once


class Document:
    def __init__(self, openapi):
        self.openapi = openapi
        self.words = {}

    def resolved(self, schema):
        while "$ref" in schema:
            schema = self.openapi["components"]["schemas"][schema["$ref"].rsplit("/", 1)[1]]
        return schema

    def body(self, operation):
        """The schema of the body, if it is JSON, and whether it must be there."""
        request = operation.get("requestBody")
        content = request and request["content"].get("application/json")
        return (self.resolved(content["schema"]), request["required"]) if content else (None, False)

    def values(self, schema):
        """The schema that lists the field's values, or None."""
        for one in [schema, *schema.get("anyOf", ()), schema.get("items", {})]:
            if "enum" in self.resolved(one):
                return self.resolved(one)

    def note_words(self, schema):
        for name, field in schema["properties"].items():
            if found := self.values(field):
                listed = found.get("description") or ", ".join(f"`{value}`" for value in found["enum"])
                self.words.setdefault((name, listed), field.get("description", ""))


def fields(schema, must_be_there):
    required = schema.get("required", [])
    names = sorted(schema["properties"], key=lambda name: (name not in required, name))
    text = "`{" + ", ".join(name if name in required else f"{name}?" for name in names) + "}`"
    if not must_be_there:
        text += " or no body"
    return text + (f". {schema['description'].rstrip('.')}" if "description" in schema else "")


def one_line(body):
    """The body in one line; of lines of NDJSON, the first."""
    first, *more = body.split("\n")
    return f"`{json.dumps(json.loads(first), ensure_ascii=False)}`" + (" and further lines" if more else "")


def path_with_query(path, operation):
    queries = [one for one in operation.get("parameters", []) if one.get("in") == "query"]
    asked = [f"{one['name']}=" + (f"{{{one['name']}}}" if one["required"] else "") for one in queries]
    return path + ("?" + "&".join(asked) if asked else "")


def row(document, verb, path, operation, body, seen):
    schema, must_be_there = document.body(operation)
    request = f"{verb.upper()} {path}"
    cells = [operation["summary"], f"`{verb.upper()} {path_with_query(path, operation)}`", one_line(body) if body else "", ""]
    if schema and schema["properties"]:
        document.note_words(schema)
        listed = fields(schema, must_be_there)
        same = seen.setdefault(listed, request) if len(listed) >= REPEATED_FROM else request
        cells[3] = listed if same == request else f"as for `{same}`"
    return ("| " + " | ".join(cells) + " |").replace("  |", " |")


def page(openapi, bodies):
    document, seen = Document(openapi), {}
    rows = {title: [] for title in SECTIONS.values()}
    for path, verbs in openapi["paths"].items():
        for verb, operation in verbs.items():
            tag = "webhooks" if path.startswith("/v1/webhooks") else operation["tags"][0]
            rows[SECTIONS[tag]].append(row(document, verb, path, operation, bodies.get(operation["operationId"]), seen))
    head = "| | request | a body | its fields |\n|---|---|---|---|\n"
    parts = [HEAD] + [f"## {title}\n\n{head}" + "\n".join(lines) + "\n" for title, lines in rows.items()]
    words = [f"| `{name}` | {listed} | {meaning} |" for (name, listed), meaning in sorted(document.words.items())]
    parts.append(
        "## Fields with fixed values\n\n| field | values | |\n|---|---|---|\n" + "\n".join(words) + "\n")
    return "\n".join(parts)
