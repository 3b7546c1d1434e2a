"""What a failing HTTP exchange with an MCP server means, and what to check."""

from collections.abc import Mapping
from dataclasses import dataclass

from pegboard.core.ports.http import HttpResponse
from pegboard.errors import (
    InvalidRequest,
    MCPConnectionError,
    PegboardError,
    RateLimited,
    ToolFailed,
    Unavailable,
)


class SessionLost(Unavailable):
    """The server has forgotten the session: a new one begins, and nothing was done."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Endpoint:
    """Where requests go.

    Attributes:
        name: How messages call the server.
        credential: The name of what it logs in with; empty for none.
    """

    name: str
    url: str
    credential: str = ""

    def unreachable_error(self, error: PegboardError) -> PegboardError:
        """What the guarded client said, as it concerns this server."""
        if isinstance(error, InvalidRequest):
            # where the guard refuses an address it says what allows it; all else is in the url
            found = MCPConnectionError(
                f"{self.name}: {error.message}{'' if error.is_guarded else ' Check the url.'}",
                permanent=True,
                nothing_done=True,
            )
            found.__cause__ = error
            return found
        nothing_done = isinstance(error, Unavailable) and error.nothing_done
        found = MCPConnectionError(
            f"{self.name}: {error.message} Check the url, and that the server runs.",
            nothing_done=nothing_done,
        )
        found.__cause__ = error
        return found

    def interruption_error(self, error: PegboardError) -> PegboardError:
        """The connection ended while an answer was on its way."""
        found = MCPConnectionError(f"{self.name} broke off its answer: {error.message}")
        found.__cause__ = error
        return found

    def flood_error(self, pace: str) -> PegboardError:
        """More came than is listened to."""
        return MCPConnectionError(
            f"{self.name} sent {pace}, so its session was ended; it should answer when it is "
            "asked, or with less."
        )

    def sse_endpoint_error(self, problem: str) -> PegboardError:
        """An SSE server says nowhere that messages may go."""
        return MCPConnectionError(
            f"{self.name} {problem}: messages, and the credentials with them, go to the origin of "
            f"{self.url} alone. Write the url at which the server names an endpoint of its own "
            "origin, and check the proxy before it.",
            permanent=True,
            nothing_done=True,
        )

    def login_error(self, status: int) -> PegboardError:
        """The server wants other credentials."""
        if self.credential:
            advice = f"check the credential '{self.credential}'"
        else:
            advice = "give it a credential: 'auth: {kind: bearer, token: ...}' or 'headers'"
        word = "does not know who asks" if status == 401 else "forbids it"
        return MCPConnectionError(
            f"{self.name} {word} (HTTP {status}); {advice}.", permanent=True, nothing_done=True
        )

    def wrong_url_error(self, reason: str) -> PegboardError:
        """What answers is no MCP server."""
        return MCPConnectionError(
            f"{self.name}: {self.url} {reason}; it is no MCP endpoint. Check the path of the url "
            "(often /mcp, or /sse with transport: sse).",
            permanent=True,
            nothing_done=True,
        )


def status_error(  # noqa: PLR0911 - one line for each thing that a status can mean
    endpoint: Endpoint,
    method: str,
    status: int,
    media_type: str,
    *,
    headers: Mapping[str, str],
    is_jsonrpc: bool,
    in_session: bool,
) -> PegboardError | None:
    """What is wrong; None for an answer that the MCP library understands by itself."""
    if status in (401, 403):
        return endpoint.login_error(status)
    if status == 404 and in_session and method != "DELETE":
        return SessionLost(f"{endpoint.name} has forgotten the session.", nothing_done=True)
    if is_jsonrpc or method == "DELETE" or (method == "GET" and status == 405):
        return None
    if status in (404, 405):
        return endpoint.wrong_url_error(f"answers {method} with HTTP {status}")
    if status in (429, 503):
        answer = HttpResponse(status=status, url=endpoint.url, headers=headers, content=b"")
        wait = answer.retry_after(0.0)
        if status == 429:
            return RateLimited(f"{endpoint.name} asks for fewer calls.", retry_after=wait)
        return Unavailable(f"{endpoint.name} is not available (HTTP 503).", retry_after=wait)
    if status >= 500:
        return Unavailable(f"{endpoint.name} failed (HTTP {status}).")
    if status >= 400:
        return ToolFailed(f"{endpoint.name} refused the request (HTTP {status}).")
    if 200 <= status < 300 and media_type == "text/html":
        return endpoint.wrong_url_error("answers with a web page")
    return None
