"""The requests of Tests/BelfryHTTPTests/SmugglingTests.swift, as bytes."""
import pathlib
import re

SOURCE = pathlib.Path(__file__).resolve().parents[2] / "Tests" / "BelfryHTTPTests" / "SmugglingTests.swift"
_LITERAL = r'"((?:[^"\\]|\\.)*)"'
# Those whose text is computed (`String(repeating:)`) are left out: they are about length, which proxies bound by themselves.
_CASE = re.compile(rf"(get|post|Case)\(\s*{_LITERAL},\s*{_LITERAL}\s*\)")


def _unescaped(text):
    def one(match):
        kind = match.group(1)
        return chr(int(match.group(2), 16)) if kind.startswith("u") else {"r": "\r", "n": "\n", "t": "\t", "0": "\0"}.get(kind, kind)
    return re.sub(r"\\(u\{([0-9A-Fa-f]+)\}|.)", one, text)


def cases():
    """Name and bytes of each. `/echo` is their target."""
    found = []
    for kind, name, text in _CASE.findall(SOURCE.read_text()):
        request = _unescaped(text)
        if kind != "Case":
            method = "GET" if kind == "get" else "POST"
            request = f"{method} /echo HTTP/1.1\r\nHost: t\r\n{request}\r\n\r\n"
        found.append((_unescaped(name), request.encode()))
    if len(found) < 130:
        raise SystemExit(f"only {len(found)} cases were found in {SOURCE}: is it written otherwise now?")
    return found
