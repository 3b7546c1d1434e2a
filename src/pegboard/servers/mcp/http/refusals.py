"""What the door answers over HTTP before a request reaches the SDK."""

from collections.abc import Mapping

from mcp_types import ErrorData, JSONRPCError, RequestId
from starlette.responses import Response


def refusal(
    status: int,
    code: int,
    message: str,
    *,
    request_id: RequestId | None = None,
    headers: Mapping[str, str] | None = None,
) -> Response:
    """An error of JSON-RPC as the answer to one request.

    Args:
        status: Of HTTP.
        code: Of JSON-RPC.
        message: What to do.
        request_id: Of the request; None where nobody has read it.
        headers: What the answer says beside it.
    """
    error = JSONRPCError(jsonrpc="2.0", id=request_id, error=ErrorData(code=code, message=message))
    body = error.model_dump_json(by_alias=True, exclude_unset=True)
    return Response(body, status, headers, media_type="application/json")
