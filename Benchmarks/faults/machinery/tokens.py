"""What `belfry token` prints."""

import base64
import hashlib
import hmac
import json
import time

TOKEN_SECONDS = 86_400


def mint(secret: bytes, subject: str, **claims: str) -> str:
    parts = [
        {"alg": "HS256", "typ": "JWT"},
        {"sub": subject, "exp": int(time.time()) + TOKEN_SECONDS, **claims},
    ]
    text = ".".join(_base64url(json.dumps(part, separators=(",", ":")).encode()) for part in parts)
    return f"{text}.{_base64url(hmac.digest(secret, text.encode(), hashlib.sha256))}"


def _base64url(raw: bytes) -> str:
    return base64.urlsafe_b64encode(raw).rstrip(b"=").decode()
