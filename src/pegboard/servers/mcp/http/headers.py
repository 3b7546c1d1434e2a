"""What the headers of a request must say: refused in words, where the SDK would say nothing."""

from mcp.server.streamable_http import LAST_EVENT_ID_HEADER, check_accept_headers
from mcp.shared.inbound import MCP_PROTOCOL_VERSION_HEADER
from mcp_types import INVALID_REQUEST
from mcp_types.version import HANDSHAKE_PROTOCOL_VERSIONS
from starlette.datastructures import Headers
from starlette.requests import Request
from starlette.responses import Response
from starlette.types import Scope

from pegboard.servers.mcp.http.refusals import refusal

_JSON = "application/json"
_POST_ALONE = (
    "There are no sessions in this version of the protocol: only POST is possible here, and "
    "subscriptions/listen is for what changes"
)
_CONTENT_TYPE = f"The header Content-Type must be {_JSON}"
_COMPRESSED = "The body must not be compressed"
_ACCEPT = f"The header Accept must name both {_JSON} and text/event-stream"


def stands_alone(scope: Scope) -> bool:
    """Whether a request belongs to no session, by the version that it names."""
    version = Headers(scope=scope).get(MCP_PROTOCOL_VERSION_HEADER)
    return version is not None and version not in HANDSHAKE_PROTOCOL_VERSIONS


def unfit(scope: Scope) -> Response | None:
    """The answer to a request whose headers do not fit; None where they do."""
    if scope["method"] != "POST":
        if stands_alone(scope):
            return refusal(405, INVALID_REQUEST, _POST_ALONE, headers={"Allow": "POST"})
        return None
    headers = Headers(scope=scope)
    if headers.get("content-type", "").partition(";")[0].strip().lower() != _JSON:
        return refusal(415, INVALID_REQUEST, _CONTENT_TYPE)
    if headers.get("content-encoding", "identity").lower() != "identity":
        return refusal(415, INVALID_REQUEST, _COMPRESSED)
    if not all(check_accept_headers(Request(scope))):
        return refusal(406, INVALID_REQUEST, _ACCEPT)
    return None


def from_now_on(scope: Scope) -> Scope:
    """A request for a stream without the event that it would go on from.

    No event of ours has an id, so that nobody can have read one; the SDK would not answer at all.
    """
    name = LAST_EVENT_ID_HEADER.encode()
    return {**scope, "headers": [item for item in scope["headers"] if item[0] != name]}
