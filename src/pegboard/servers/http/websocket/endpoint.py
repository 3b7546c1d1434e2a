"""`/ws`: ASGI application that accepts and limits WebSocket connections."""

import logging

from starlette.requests import HTTPConnection
from starlette.responses import Response
from starlette.types import Receive, Scope, Send

from pegboard.core.principal import Principal
from pegboard.runtime import Pegboard
from pegboard.servers.http.problem_details import ProblemAnswer, problem_answer
from pegboard.servers.http.websocket.connection import Connection, ConnectionLimits
from pegboard.servers.http.websocket.subscriptions import BoardSubscriptions

MAX_CONNECTIONS = 256
_FAILED = 1011
_LATER = 1013
_LOG = logging.getLogger("pegboard.http")


class WebSocketEndpoint:
    """Serves a board over WebSockets.

    Args:
        board: The board.
        limits: Limits of each connection.
        most: Concurrent connections.
    """

    def __init__(
        self,
        board: Pegboard,
        *,
        limits: ConnectionLimits | None = None,
        most: int = MAX_CONNECTIONS,
    ) -> None:
        self._board = board
        self._limits = limits or ConnectionLimits()
        self._most = most
        self._count = 0
        self._subscriptions: BoardSubscriptions | None = None

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one connection of an authenticated caller."""
        if scope["type"] != "websocket":
            await _not_a_socket()(scope, receive, send)
            return
        await receive()  # websocket.connect
        if not self._board.is_open or self._count >= self._most:
            await refuse(_too_many(), scope, receive, send)
            return
        state = HTTPConnection(scope).state

        def name_caller() -> Principal:
            return state.principal

        self._count += 1
        try:
            await send({"type": "websocket.accept"})
            await Connection(
                receive,
                send,
                board=self._board,
                caller=name_caller,
                subscriptions=self._open_subscriptions,
                limits=self._limits,
            ).serve()
        except OSError:
            return  # the client has disconnected
        except Exception:  # noqa: BLE001 - the last resort: logged, and the client gets a close code
            _LOG.exception("ws: serving a connection failed")
            await send({"type": "websocket.close", "code": _FAILED})
        finally:
            self._count -= 1

    def _open_subscriptions(self) -> BoardSubscriptions:
        registry = self._board.registry
        if self._subscriptions is None or self._subscriptions.registry is not registry:
            self._subscriptions = BoardSubscriptions(registry)
        return self._subscriptions


async def refuse(why: ProblemAnswer, scope: Scope, receive: Receive, send: Send) -> None:
    """Refuse a handshake with a problem, or with a close code if the server supports no more."""
    if "websocket.http.response" in scope.get("extensions", {}):
        await why.response()(scope, receive, send)
    else:
        await send({"type": "websocket.close", "code": _LATER})


def _too_many() -> ProblemAnswer:
    return problem_answer(
        503,
        "Too many connections are open, or the board is not open.",
        code="overloaded",
        headers={"Retry-After": "5"},
        retryable=True,
    )


def _not_a_socket() -> Response:
    return problem_answer(
        426,
        "This path requires a WebSocket connection.",
        code="websocket_needed",
        headers={"Upgrade": "websocket"},
    ).response()
