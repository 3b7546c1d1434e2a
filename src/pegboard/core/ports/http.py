"""The HTTP client port: the one guarded way to other machines."""

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
"""Headers, in lower case, that only the client may set."""


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
    """A response whose body is read completely.

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
        """Seconds of the `Retry-After` header; None without a readable one.

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
    """A response whose body is still to be read.

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
    """Sends the requests that the guard allows."""

    async def send(self, request: HttpRequest) -> HttpResponse:
        """Send a request and read the response; redirects are checked at each hop.

        Raises:
            InvalidRequest: The URL is malformed or not http(s), or its address is refused.
            Unavailable: The server cannot be reached or does not answer in time.
        """
        ...

    def stream(self, request: HttpRequest) -> AbstractAsyncContextManager[HttpStream]:
        """Send a request and stream the body; the timeout covers the response head only.

        `max_bytes` of the request is ignored: the reader decides when to stop.

        Raises:
            InvalidRequest: As `send`.
            Unavailable: As `send`.
        """
        ...

    async def close(self) -> None:
        """Close all connections."""
        ...
