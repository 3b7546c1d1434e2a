"""Translates HTTP failures of an MCP server into errors that say what to check."""

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
    """The server has forgotten the session; nothing was done, and a new session can begin."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Endpoint:
    """The URL of a server, and its errors.

    Attributes:
        name: The server in messages.
        credential: The name of its credential; empty for none.
        logs_in: Whether callers log in there by OAuth.
    """

    name: str
    url: str
    credential: str = ""
    logs_in: bool = False

    def unreachable_error(self, error: PegboardError) -> PegboardError:
        """The error of the guarded client, with what to check."""
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
        """The connection ended during an answer."""
        found = MCPConnectionError(f"{self.name} broke off its answer: {error.message}")
        found.__cause__ = error
        return found

    def flood_error(self, pace: str) -> PegboardError:
        """The server sent too many messages."""
        return MCPConnectionError(
            f"{self.name} sent {pace}, so its session was ended; it should answer when it is "
            "asked, or with less."
        )

    def sse_endpoint_error(self, problem: str) -> PegboardError:
        """An SSE server named no endpoint that messages may be sent to."""
        return MCPConnectionError(
            f"{self.name} {problem}: messages, and the credentials with them, go to the origin of "
            f"{self.url} alone. Write the url at which the server names an endpoint of its own "
            "origin, and check the proxy before it.",
            permanent=True,
            nothing_done=True,
        )

    def login_error(self, status: int) -> PegboardError:
        """The server refused the credentials."""
        if self.logs_in:
            advice = "the login of its caller was refused, or lacks a scope"
        elif self.credential:
            advice = f"check the credential '{self.credential}'"
        else:
            advice = "give it a credential: 'auth: {kind: bearer, token: ...}' or 'headers'"
        word = "requires authentication" if status == 401 else "denies access"
        error = MCPConnectionError(
            f"{self.name} {word} (HTTP {status}); {advice}.", permanent=True, nothing_done=True
        )
        error.is_about_caller = True
        return error

    def wrong_url_error(self, reason: str) -> PegboardError:
        """The url is not an MCP endpoint."""
        return MCPConnectionError(
            f"{self.name}: {self.url} {reason}; it is not an MCP endpoint. Check the path of the "
            "url (often /mcp, or /sse with transport: sse).",
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
    """The error of a status; None for an answer that the MCP library handles."""
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
            return RateLimited(f"{endpoint.name} reports too many requests.", retry_after=wait)
        return Unavailable(f"{endpoint.name} is not available (HTTP 503).", retry_after=wait)
    if status >= 500:
        return Unavailable(f"{endpoint.name} failed (HTTP {status}).")
    if status >= 400:
        return ToolFailed(f"{endpoint.name} refused the request (HTTP {status}).")
    if 200 <= status < 300 and media_type == "text/html":
        return endpoint.wrong_url_error("answers with a web page")
    return None
