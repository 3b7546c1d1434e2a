"""The one guarded way out: HTTP to other machines."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Protocol


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


class HttpClient(Protocol):
    """Sends requests that the guard lets through."""

    async def send(self, request: HttpRequest) -> HttpResponse:
        """One exchange, redirects followed and checked again at each hop.

        Raises:
            InvalidRequest: The URL is malformed or not http(s), or its address is refused.
            Unavailable: The other side cannot be reached or does not answer in time.
        """
        ...

    async def close(self) -> None:
        """Close all connections."""
        ...
