"""Compares what a page shows with what came out. Ids, times and the like may differ; each stands for the same all through
the page, so that the page's own values lead to each other."""
import re

TIME = r"\d{4}-\d\d-\d\d|\d\d:\d\d:\d\d"
SPACE = r"(?:server|group|room|directMessage|direct):\d+"
TOKEN = re.compile(rf"{TIME}|\s*…|{SPACE}|[\w.-]+|\s+|.", re.DOTALL)


def tokens(line):
    return [" " if one.isspace() else one.strip() or one for one in TOKEN.findall(line.strip())]


def is_time(token):
    return re.fullmatch(TIME, token) is not None


def stands_for(shown, real):
    """Whether a value of the page may stand for another one of the same kind."""
    if is_time(shown):
        return is_time(real) and len(shown) == len(real)
    digits = re.search(r"\d{4,}|:\d", shown) or re.fullmatch(r"\w?\d+|\d+\.\d+", shown) and len(shown) > 2
    if digits and re.sub(r"\d+", "#", shown) == re.sub(r"\d+", "#", real):
        return True
    # Codes and names made by chance: with digits among them, or with capitals.
    is_code = re.fullmatch(r"[0-9a-z]{6,}", shown) and re.search(r"\d", shown) or (
        re.fullmatch(r"[\w-]{8}", shown) and re.search(r"[a-z][A-Z]|[A-Z]{2}[a-z]", shown))
    return bool(is_code) and len(shown) == len(real)


class Bindings:
    def __init__(self, values=None):
        self.values = dict(values or {})

    def unify(self, shown, real):
        """Whether the line may be as shown; if so, what stands for what is kept."""
        bound = self._match(tokens(shown), tokens(real), dict(self.values))
        if bound is None:
            return False
        self.values = bound
        return True

    def _match(self, shown, real, bound):
        for index, token in enumerate(shown):
            if token == "…":
                rest = shown[index + 1:]
                return next(
                    (found for skip in range(len(real) - index + 1)
                     if (found := self._match(rest, real[index + skip:], dict(bound))) is not None), None)
            if index >= len(real):
                return None
            other = real[index]
            if token in bound and not is_time(token):
                if bound[token] != other:
                    return None
            elif token != other:
                if not stands_for(token, other):
                    return None
                bound[token] = other
            elif len(token) > 5 and re.search(r"\d{4}", token):
                bound[token] = other
        return bound if len(real) == len(shown) else None

    def fill(self, command):
        """The command with what the page's values stand for."""
        return "".join(
            self.values.get(one, one) if not is_time(one) else one for one in TOKEN.findall(command))

    def unify_lines(self, shown, real, in_order=True):
        """Nothing, or the first line that is not as shown."""
        real = list(real)
        if not in_order and "…" in shown:
            shown, is_open = [line for line in shown if line != "…"], True
        else:
            is_open = False
        for number, line in enumerate(shown):
            if line.strip() == "…":
                if number == len(shown) - 1:
                    return None
                while real and not Bindings(self.values).unify(shown[number + 1], real[0]):
                    real.pop(0)
                continue
            candidates = range(len(real)) if not in_order else range(min(1, len(real)))
            for index in candidates:
                if self.unify(line, real[index]):
                    real.pop(index)
                    break
            else:
                return f"the page shows\n    {line}\nand this came:\n    " + "\n    ".join(real[:12] or ["(nothing)"])
        return "this came besides:\n    " + "\n    ".join(real[:12]) if real and not is_open else None

    def unify_json(self, shown, real, path="$"):
        if shown == "…":
            return None
        if isinstance(shown, dict) and isinstance(real, dict):
            is_open = "…" in shown
            missing = [key for key in shown if key not in real and key != "…"]
            besides = [] if is_open else [key for key in real if key not in shown]
            if missing or besides:
                return f"{path}: the page shows {missing or 'no'}; this came besides: {besides}"
            return next((wrong for key in shown if key != "…" and (
                wrong := self.unify_json(shown[key], real[key], f"{path}.{key}"))), None)
        if isinstance(shown, list) and isinstance(real, list):
            is_open = bool(shown) and shown[-1] == "…"
            wanted = shown[:-1] if is_open else shown
            if len(real) < len(wanted) or len(real) > len(wanted) and not is_open:
                return f"{path}: {len(real)} elements, not {len(wanted)}"
            return next((wrong for index, one in enumerate(wanted) if (
                wrong := self.unify_json(one, real[index], f"{path}[{index}]"))), None)
        if type(shown) is not type(real) or not self.unify(str(shown), str(real)):
            return f"{path}: {real!r}, not {shown!r}"
        return None
