"""JSON bodies: strict decoding of requests, and encoding of responses that never fails."""

import asyncio
import json
from collections.abc import Callable, Coroutine, Iterable, Mapping
from typing import Any, cast

from fastapi import Request, Response
from fastapi.routing import APIRoute
from msgspec import DecodeError
from msgspec import json as fast
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect

from pegboard.errors import InvalidRequest
from pegboard.schemas.strict_json import has_more_values, replace_not_finite

JSON = "application/json"
MAX_DEPTH = 100
_LARGE = 100_000
_BULK = "/tools/bulk"
_BULK_FACTOR = 10
_CONTAINERS = frozenset({dict, list})
CLIENT_CLOSED = 499
"""Status of a response to a client that has disconnected (as in nginx); it is never read."""

Handler = Callable[[Request], Coroutine[Any, Any, Response]]


class JsonResponse(Response):
    """A JSON response."""

    media_type = JSON

    def render(self, content: Any) -> bytes:
        """Encode as JSON; NaN and infinities become null."""
        return encode_json(content)


class JsonRoute(APIRoute):
    """A route that accepts only a JSON body."""

    def get_route_handler(self) -> Handler:
        """The route handler, after strict decoding of the body."""
        handle = super().get_route_handler()
        if self.body_field is None:
            return handle

        async def read(request: Request) -> Response:
            _check_declared(request)
            try:
                body = await request.body()
            except ClientDisconnect:
                return Response(status_code=CLIENT_CLOSED)
            value = decode_json(body, max_values=_max_values(request))
            if len(body) > _LARGE:
                await asyncio.sleep(0)  # decoding has blocked the loop for a while
            return await self.answer(request, value) or await handle(_Read(request, body, value))

        return read

    async def answer(self, request: Request, value: Any) -> Response | None:
        """Answer without FastAPI's validation and dependencies; None leaves the request to them.

        Args:
            request: The request; its body has been read.
            value: The decoded body, of any type.
        """


def encode_json(content: Any) -> bytes:
    """Encode any content as JSON; NaN and infinities become null."""
    try:
        return fast.encode(content, enc_hook=_plain)
    except UnicodeEncodeError:  # a lone surrogate can only be written as an escape
        return json.dumps(replace_not_finite(fast_builtins(content))).encode()


def _max_values(request: Request) -> int:
    """The bound of a request; higher for `POST /tools/bulk`, which works in small portions."""
    most: int = request.app.state.board.settings.max_request_values
    return most * _BULK_FACTOR if request.scope["path"].endswith(_BULK) else most


def _check_declared(request: Request) -> None:
    headers = request.headers
    if headers.get("content-type", "").partition(";")[0].strip().lower() != JSON:
        raise HTTPException(415, f"The body must be {JSON}.")
    if headers.get("content-encoding", "identity").lower() != "identity":
        raise HTTPException(415, "The body must not be compressed.")


class _Read(Request):
    """A request whose body has been decoded."""

    def __init__(self, request: Request, body: bytes, value: Any) -> None:
        super().__init__(request.scope, request.receive)
        self._bytes = body
        self._value = value

    async def body(self) -> bytes:
        """The bytes; never empty, so that FastAPI asks for the value."""
        return self._bytes or b" "

    async def json(self) -> Any:
        """The value."""
        return self._value


def decode_json(body: bytes, *, max_values: int) -> Any:
    """Decode JSON; of a duplicate key the last value counts.

    Args:
        body: The JSON text.
        max_values: Arrays, objects, and their items; each takes some microseconds to validate.

    Raises:
        InvalidRequest: The body is not JSON by RFC 8259 (which has no NaN), not UTF-8, nested
            too deeply, or has too many values.
    """
    if has_more_values(body, max_values):
        raise InvalidRequest(
            f"The body has more than {max_values} values (PEGBOARD_MAX_REQUEST_VALUES)."
        )
    try:
        value = fast.decode(body)
    except (DecodeError, UnicodeDecodeError) as error:
        raise InvalidRequest(f"The body is not valid JSON: {error}") from error
    except RecursionError as error:
        raise _too_deep() from error
    if body.count(b"[") + body.count(b"{") > MAX_DEPTH and _is_deep(value):
        raise _too_deep()
    return value


def _is_deep(value: Any) -> bool:
    level: list[Any] = [value] if type(value) in _CONTAINERS else []
    for _ in range(MAX_DEPTH):
        level = [
            inner
            for item in level
            for inner in cast("Iterable[Any]", item.values() if type(item) is dict else item)
            if type(inner) in _CONTAINERS
        ]
        if not level:
            return False
    return True


def _too_deep() -> InvalidRequest:
    return InvalidRequest(f"The body is nested deeper than {MAX_DEPTH} levels.")


def fast_builtins(content: Any) -> Any:
    """The value as built-in types that JSON can represent."""
    from msgspec import to_builtins

    return to_builtins(content, enc_hook=_plain, str_keys=True)


def _plain(value: Any) -> Any:
    return dict(cast("Mapping[str, Any]", value)) if isinstance(value, Mapping) else str(value)
