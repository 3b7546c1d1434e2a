"""What links and pictures of a text give away: the rules of `findings.py`."""

import re
from collections.abc import Iterator
from typing import NamedTuple
from urllib.parse import parse_qsl, urlsplit

_MAX_LABEL = 500
_TARGET = re.compile(
    r"\]\([ \t]{0,3}<?"
    r"(?P<address>(?:https?:)?//[^\s()<>]{1,4000}|(?:javascript|data|vbscript):[^\s()]{1,200})",
    re.IGNORECASE,
)
"""Behind the label of a link; a rule with the label before it would read on from each bracket."""
_TAG = re.compile(
    r"<(?:img|iframe|embed|source|video|audio|script|object|link)\b"
    r"[^<>]{0,500}?\b(?:src|data|href)\s{0,3}=\s{0,3}[\"']?"
    r"(?P<address>(?:https?:)?//[^\s\"'<>]{1,4000})",
    re.IGNORECASE,
)
_PLACEHOLDER = re.compile(
    r"\{\{?[^{}]{1,80}\}|%7B|\$\{|<[^<>]{1,80}>|%3C|\[[A-Za-z_ -]{2,60}\]|%5B[A-Za-z_%]+%5D"
    r"|\b(?:YOUR|INSERT|USER|SECRET|CONVERSATION|CHAT|API)[_-][A-Z_-]{2,40}\b",
)
_DATA_NAMES = frozenset((
    "data", "d", "payload", "exfil", "leak", "secret", "secrets", "conversation", "history", "chat",
    "prompt", "context", "message", "messages", "msg", "content", "body", "text", "cookie", "info",
    "cookies", "password", "passwords", "credentials", "session", "memory", "email", "user_data",
    "stolen", "c", "p", "s", "x",
))  # fmt: skip
_ENCODED = re.compile(r"[A-Za-z0-9+/_=-]{60,}$")
_SIGNATURES = re.compile(
    r"(?:x-amz-|x-goog-)?(?:sig(?:nature)?|jwt|token|credential|expires|policy|hash|hmac|key-pair-id"
    r"|security-token|sv|se|st|sp|skoid|sktid)$",
    re.IGNORECASE,
)
_HOST = re.compile(
    r"(?:https?://|www\.)((?:[\w-]{1,63}\.){1,8}[a-z]{2,24})(?:[/:?#]\S{0,500})?$", re.IGNORECASE
)


class FoundLink(NamedTuple):
    """A link or a picture in a text; one of HTML has no label."""

    start: int
    end: int
    label: str
    address: str
    is_picture: bool


def iterate_links(text: str) -> Iterator[FoundLink]:
    """The links and pictures of a text, those of Markdown first."""
    for match in _TARGET.finditer(text):
        first = max(match.start() - _MAX_LABEL - 1, 0)
        before = text[first : match.start()]
        opens_at = max(before.rfind("]"), before.rfind("\n")) + 1
        picture = before.rfind("![", opens_at)  # also inside of another bracket
        at = before.find("[", opens_at) if picture < 0 else picture + 1
        if at >= 0:
            yield FoundLink(
                first + (at if picture < 0 else picture),
                match.end(),
                before[at + 1 :],
                match["address"],
                is_picture=picture >= 0,
            )
    for match in _TAG.finditer(text):
        yield FoundLink(match.start(), match.end(), "", match["address"], is_picture=True)


def explain_link(label: str, address: str, *, is_picture: bool) -> str:
    """What is wrong with a link or a picture; empty for an ordinary one.

    Args:
        label: The text that a reader sees.
        address: Where it leads, or where the picture is.
        is_picture: Whether it is fetched when it is shown.
    """
    if address.lower().startswith(("javascript:", "vbscript:")):
        return "Its address is a script."
    if address.lower().startswith("data:"):
        return "" if address.lower().startswith("data:image/") else "Its address is a document."
    try:
        parts = urlsplit(address)
        fields = parse_qsl(parts.query, keep_blank_values=True, max_num_fields=200)
        host = (parts.hostname or "").lower()
    except ValueError:
        return "Its address cannot be read."
    if not is_picture:
        return _explain_label(label, host)
    if _PLACEHOLDER.search(address.partition("//")[2].partition("/")[2] or parts.query):
        return (
            "It is a picture whose address has a place for data, which goes there when it is shown."
        )
    for name, value in fields:
        if (name.lower() in _DATA_NAMES and len(value) >= 4) or (
            _ENCODED.match(value) and not _SIGNATURES.match(name)
        ):
            return "It is a picture whose address carries data, which goes there when it is shown."
    return ""


def _explain_label(label: str, host: str) -> str:
    """Whether the text of a link is the address of another host than it leads to.

    Names with dots alone are files and functions more often than hosts.
    """
    named = _HOST.match(label.strip())
    if named is None or not host:
        return ""
    shown = named.group(1).lower()
    if _site(shown) == _site(host) or host.endswith(shown) or shown.endswith(host):
        return ""
    return f"It names {shown}, and leads to {host}."


def _site(host: str) -> str:
    """The last two labels of a host."""
    return ".".join(host.removeprefix("www.").split(".")[-2:])
