"""One hop of a request as it is sent, and the next hop after a redirect."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, replace

from pegboard.core.ports.http import SET_BY_CLIENT, HttpRequest
from pegboard.errors import InvalidRequest
from pegboard.network.response_body import accept_encoding
from pegboard.network.strict_url import Target, parse_url

_TOKEN = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z-]+")
_BREAK = re.compile(r"[\x00-\x08\x0a-\x1f\x7f]")
_OF_THE_BODY = frozenset({"content-type", "content-encoding", "content-language"})
# RFC 9110, 15.4 asks to remove headers that are meant for the first origin only. An API key may be
# in any header, so another origin gets only the headers of this list.
_FOR_ANYONE = frozenset(
    {"accept", "accept-language", "accept-encoding", "user-agent", "range", "cache-control"}
)
_REDIRECTS = frozenset({301, 302, 303, 307, 308})


@dataclass(frozen=True, slots=True, kw_only=True)
class Hop:
    """One request as it is sent.

    Attributes:
        headers: Names in lower case, without the headers that the client sets itself.
    """

    method: str
    target: Target
    headers: Mapping[str, str]
    content: bytes | None

    def wire_headers(self) -> list[tuple[bytes, bytes]]:
        """Return all headers, `Host` first."""
        headers = {"host": self.target.authority, "accept-encoding": accept_encoding()}
        headers |= {"user-agent": "pegboard", "accept": "*/*"} | dict(self.headers)
        if self.content is not None or self.method in ("POST", "PUT", "PATCH"):
            headers["content-length"] = str(len(self.content or b""))
        return [(name.encode("ascii"), value.encode()) for name, value in headers.items()]

    def after_redirect(self, status: int, location: str) -> "Hop":
        """Return the next hop.

        Raises:
            InvalidRequest: The URL is not allowed, or the body would go to another origin.
        """
        target = self.target.join(location)
        hop = replace(self, target=target)
        if _becomes_get(status, self.method):
            hop = replace(
                hop,
                method="HEAD" if self.method == "HEAD" else "GET",
                content=None,
                headers=_without(hop.headers, _OF_THE_BODY),
            )
        if target.origin == self.target.origin:
            return hop
        if hop.content:
            raise InvalidRequest(
                f"{self.target.origin} redirects the request and its body to {target.origin}; "
                "send it there directly if that is meant."
            )
        kept = {name: value for name, value in hop.headers.items() if name in _FOR_ANYONE}
        return replace(hop, headers=kept)


def first_hop(request: HttpRequest) -> Hop:
    """Check a request and return its first hop.

    Raises:
        InvalidRequest: Its method, its URL or a header is not valid.
    """
    method = request.method.upper()
    if not _TOKEN.fullmatch(method) or method == "CONNECT":
        raise InvalidRequest(f"{request.method!r} is not a method that this client sends.")
    return Hop(
        method=method,
        target=parse_url(request.url),
        headers=_check_headers(request.headers),
        content=request.content,
    )


def is_redirect(status: int, headers: Mapping[str, str]) -> bool:
    """Whether a response redirects the request."""
    return status in _REDIRECTS and "location" in headers


def _check_headers(headers: Mapping[str, str]) -> dict[str, str]:
    checked: dict[str, str] = {}
    for given, value in headers.items():
        name = given.lower()
        if not _TOKEN.fullmatch(name):
            raise InvalidRequest(f"{given!r} is not a header name.")
        if name in SET_BY_CLIENT:
            raise InvalidRequest(f"The header '{given}' is set by the client; leave it out.")
        if _BREAK.search(value):
            raise InvalidRequest(f"The header '{given}' has a line break or control character.")
        checked[name] = value.strip(" \t")
    return checked


def _becomes_get(status: int, method: str) -> bool:
    """RFC 9110, 15.4.2 to 15.4.4: after 303 always, after 301 and 302 for POST as browsers do."""
    return status == 303 or (status in (301, 302) and method == "POST")


def _without(headers: Mapping[str, str], names: frozenset[str]) -> dict[str, str]:
    return {name: value for name, value in headers.items() if name not in names}
