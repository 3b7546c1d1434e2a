"""The one guarded way out: HTTP to other machines."""

from collections.abc import AsyncIterator, Mapping
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass, field
from typing import Protocol

SET_BY_CLIENT = frozenset(
    {
        "host", "content-length", "transfer-encoding", "connection", "keep-alive", "te",
        "trailer", "upgrade", "proxy-connection", "proxy-authorization", "expect",
    }
)  # fmt: skip
"""Headers, in lower case, that no request may bring: they belong to the client alone."""


@dataclass(frozen=True, slots=True, kw_only=True)
class HttpRequest:
    """One outgoing request.

    Attributes:
        timeout: Seconds for the whole exchange, redirects included; None means the client's own.
        max_bytes: Reading stops here and `HttpResponse.truncated` is set; None means the client's.
        upstream: Keeps connections of one upstream and credential together; empty for the host.
    """

    method: str
    url: str
    headers: Mapping[str, str] = field(default_factory=dict[str, str])
    content: bytes | None = None
    timeout: float | None = None
    max_bytes: int | None = None
    follow_redirects: bool = True
    upstream: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class HttpResponse:
    """What came back, read whole.

    Attributes:
        url: The last one, after redirects.
        headers: Names in lower case; repeated ones joined by `, `.
    """

    status: int
    url: str
    headers: Mapping[str, str]
    content: bytes
    truncated: bool = False

    @property
    def media_type(self) -> str:
        """The content type without parameters, in lower case."""
        return self.headers.get("content-type", "").partition(";")[0].strip().lower()

    def retry_after(self, now: float) -> float | None:
        """Seconds to wait as the `Retry-After` header says; None when it says nothing readable.

        Args:
            now: Unix seconds, for a header that gives a date.
        """
        from email.utils import parsedate_to_datetime

        value = self.headers.get("retry-after", "").strip()
        if value.isascii() and value.isdigit():
            return float(value)
        try:
            return max(0.0, parsedate_to_datetime(value).timestamp() - now)
        except ValueError:
            return None


@dataclass(frozen=True, slots=True, kw_only=True)
class HttpStream:
    """What comes back while it is still coming.

    Attributes:
        url: The last one, after redirects.
        headers: Names in lower case; repeated ones joined by `, `.
        chunks: The body, decoded, as it arrives; iterate once. Raises
            `Unavailable` when the connection breaks.
    """

    status: int
    url: str
    headers: Mapping[str, str]
    chunks: AsyncIterator[bytes]


class HttpClient(Protocol):
    """Sends requests that the guard lets through."""

    async def send(self, request: HttpRequest) -> HttpResponse:
        """One exchange, redirects followed and checked again at each hop.

        Raises:
            InvalidRequest: The URL is malformed or not http(s), or its address is refused.
            Unavailable: The other side cannot be reached or does not answer in time.
        """
        ...

    def stream(self, request: HttpRequest) -> AbstractAsyncContextManager[HttpStream]:
        """The same with the body left to be read; the timeout is for the head alone.

        `max_bytes` of the request is not looked at: whoever reads decides when to stop.

        Raises:
            InvalidRequest: As `send`.
            Unavailable: As `send`.
        """
        ...

    async def close(self) -> None:
        """Close all connections."""
        ...
