"""Sends requests to the API through the board's HTTP client, and translates its errors."""

from collections.abc import Callable, Mapping, Sequence

from pegboard.core.health import HEALTHY, Health, HealthStatus
from pegboard.core.ports.http import HttpClient, HttpRequest, HttpResponse
from pegboard.errors import InvalidRequest, PegboardError, SourceUnavailable
from pegboard.sources.openapi.call.error_responses import is_error, to_error
from pegboard.sources.openapi.call.request_builder import OutgoingRequest

_PING_SECONDS = 3.0


class ApiClient:
    """Sends the requests of one source.

    Args:
        name: The name of the source, for messages and for its own connections.
        now: Unix seconds.
        secrets: Values to mask, in case the API repeats them.
    """

    def __init__(
        self,
        name: str,
        http: HttpClient | None,
        *,
        now: Callable[[], float],
        secrets: Sequence[str] = (),
        timeout: float = 30.0,
        max_bytes: int = 5 * 2**20,
    ) -> None:
        self._name = name
        self._http = http
        self._now = now
        self._secrets = secrets
        self._timeout = timeout
        self._max_bytes = max_bytes

    async def send(
        self,
        method: str,
        outgoing: OutgoingRequest,
        *,
        credential: str = "",
        seconds: float | None = None,
    ) -> HttpResponse:
        """Send a request and return its response.

        Args:
            method: The method, in upper or lower case.
            outgoing: The request to send.
            credential: The name of the credential in the request, for messages.
            seconds: The timeout; None means the one of the source.

        Raises:
            PegboardError: The API answered with an error, or cannot be reached.
        """
        if self._http is None:
            raise SourceUnavailable("This board has no network.", permanent=True)
        request = HttpRequest(
            method=method.upper(),
            url=outgoing.url,
            headers=outgoing.headers,
            content=outgoing.content,
            timeout=self._timeout if seconds is None else seconds,
            max_bytes=self._max_bytes,
            upstream=f"{self._name}/{credential}",
        )
        response = await self._http.send(request)
        if is_error(response.status):
            raise to_error(
                response,
                api=self._name,
                credential=credential,
                now=self._now(),
                secrets=self._secrets,
            )
        return response

    async def reach(self, base: str) -> Health:
        """Check that the base URL responds, by a HEAD request without credentials."""
        if self._http is None:
            return Health(status=HealthStatus.UNHEALTHY, reason="This board has no network.")
        request = HttpRequest(
            method="HEAD",
            url=base,
            timeout=_PING_SECONDS,
            max_bytes=1024,
            follow_redirects=False,
            upstream=self._name,
        )
        try:
            response = await self._http.send(request)
        except PegboardError as error:
            return Health(status=HealthStatus.UNHEALTHY, reason=str(error))
        if response.status in (502, 503, 504):
            reason = f"{self._name} answers {response.status}: it is reachable, but does not work."
            return Health(status=HealthStatus.UNHEALTHY, reason=reason)
        return HEALTHY


def check_hidden_arguments(arguments: Mapping[str, object], hidden: Mapping[str, object]) -> None:
    """Refuse hidden arguments, also where a call did not pass the schema.

    Raises:
        InvalidRequest: A hidden argument is given.
    """
    for name in hidden:
        if name in arguments:
            raise InvalidRequest(f"'{name}' is set by the operator; leave it out.")
