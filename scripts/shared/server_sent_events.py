"""A stream of Server-Sent Events (WHATWG HTML, 9.2), as Belfry writes it: each field on one line."""


def events(lines):
    """The name and the data of each event, as text. Comments and what has no name are left out."""
    name, data = None, None
    for line in lines:
        field, _, value = line.partition(": ")
        if field == "event":
            name = value
        elif field == "data":
            data = value
        elif line == "" and name is not None:
            yield name, data
            name, data = None, None
