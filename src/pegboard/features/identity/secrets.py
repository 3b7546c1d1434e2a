"""Keys, sessions and links: random texts of which only the digest is stored."""

import hmac
import re
import secrets
from hashlib import sha256
from zlib import crc32

from pegboard.core.ports.accounts.identity_store import KEY_PREFIX

_DIGITS = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
_LENGTH = 32
_KEY = re.compile(rf"{KEY_PREFIX}[0-9A-Za-z]{{{_LENGTH + 6}}}")
_MAX_SECRET = 100


def create_key() -> str:
    """A new key: the prefix, 190 random bits, and a checksum that tells it from other text."""
    body = "".join(secrets.choice(_DIGITS) for _ in range(_LENGTH))
    return f"{KEY_PREFIX}{body}{_checksum(body)}"


def is_key(text: str) -> bool:
    """Whether a text has the form of a key, its checksum included."""
    if _KEY.fullmatch(text) is None:
        return False
    body = text.removeprefix(KEY_PREFIX)
    return hmac.compare_digest(body[_LENGTH:], _checksum(body[:_LENGTH]))


def create_secret() -> str:
    """A new secret of a session or a link."""
    return secrets.token_urlsafe(32)


def digest_of(secret: str) -> str:
    """What is stored of a secret; empty for a text that cannot be one."""
    if not secret.isascii() or len(secret) > _MAX_SECRET:
        return ""
    return sha256(b"pegboard secret:" + secret.encode()).hexdigest()


def csrf_of(cookie: str) -> str:
    """What changes of a session must repeat; the cookie cannot be told from it."""
    return sha256(b"pegboard csrf:" + cookie.encode()).hexdigest()


def _checksum(body: str) -> str:
    number, digits = crc32(body.encode()), ""
    for _ in range(6):
        number, digit = divmod(number, len(_DIGITS))
        digits = _DIGITS[digit] + digits
    return digits
