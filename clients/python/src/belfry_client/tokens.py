"""Tokens: kept until shortly before they expire."""
import base64
import json
import threading
import time
from collections.abc import Callable

from .errors import BelfryError

#: A token that has less than this to live is not used for a new request.
RENEWAL_SECONDS = 30
#: Any credential in use fits; what does not is a mistake, such as a file's whole content.
TOKEN_BYTES_MAX = 8 * 1024

TokenProvider = Callable[[], str]


def expiry(token: str) -> float | None:
    """The `exp` of a JSON Web Token, unverified: it says when to fetch another one, and nothing else."""
    parts = token.split(".")
    if len(parts) != 3:
        return None
    try:
        claims = json.loads(base64.urlsafe_b64decode(parts[1] + "=" * (-len(parts[1]) % 4)))
        exp = claims["exp"]
        return float(exp) if isinstance(exp, (int, float)) else None
    except (ValueError, LookupError, TypeError, RecursionError, OverflowError):
        return None


class TokenStore:
    def __init__(self, token: str | TokenProvider):
        self._provider = token if callable(token) else None
        self._token = None if callable(token) else token
        # A provider that takes long is asked once, not by every thread that waits for it.
        self._lock = threading.Lock()

    def current(self) -> str:
        with self._lock:
            if self._provider is not None:
                until = expiry(self._token) if self._token is not None else 0
                if until is not None and until - time.time() < RENEWAL_SECONDS:
                    self._token = self._asked(self._provider)
            return self._checked()

    def renewed(self, refused: str) -> bool:
        """Whether there is another token in place of the one that was refused."""
        with self._lock:
            if self._provider is None:
                return False
            if self._token == refused:
                self._token = self._asked(self._provider)
                self._checked()
            return self._token != refused

    def forget(self, refused: str) -> None:
        """The next request asks for another one."""
        with self._lock:
            if self._provider is not None and self._token == refused:
                self._token = None

    @staticmethod
    def _asked(provider: TokenProvider) -> str:
        try:
            return provider()
        except BelfryError:
            raise
        except Exception as error:
            # Whoever gives tokens may be away as a broker may: a feed waits for it.
            raise BelfryError("transport", f"no token is available: {error}") from error

    def _checked(self) -> str:
        token = self._token
        flaw = _flaw(token) if isinstance(token, str) else "must be text"
        if flaw or not isinstance(token, str):
            raise BelfryError("unauthorized", f"the token {flaw}")
        return token


def _flaw(token: str) -> str | None:
    """What makes a text no token; None if it may be one. A token that was read from a file often ends with a line end."""
    if not token:
        return "is empty"
    if token != token.strip():
        return "begins or ends with a space or a line end, perhaps that of a file; remove it"
    if len(token) > TOKEN_BYTES_MAX:
        return f"is longer than {TOKEN_BYTES_MAX} characters"
    return None if is_header_value(token) else "holds a character that no token contains"


def is_header_value(text: str) -> bool:
    """Visible ASCII only: a line break in a header's value would begin another header."""
    return bool(text) and all("!" <= character <= "~" for character in text)
