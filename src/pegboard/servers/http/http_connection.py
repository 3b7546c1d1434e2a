"""Connections of the HTTP server: their number, and a deadline for requests that are half sent."""

import asyncio
from typing import Any, cast

import h11
from uvicorn.protocols.http.flow_control import CLOSE_HEADER
from uvicorn.protocols.http.h11_impl import H11Protocol

from pegboard.servers.http.middleware.client_address import TrustedProxies

_FULL = (
    b"HTTP/1.1 503 Service Unavailable\r\n"
    b"Retry-After: 1\r\nContent-Length: 0\r\nConnection: close\r\n\r\n"
)
_TOO_SLOW = b"HTTP/1.1 408 Request Timeout\r\nContent-Length: 0\r\nConnection: close\r\n\r\n"


class OpenConnections:
    """The open connections of a server, in all and by address.

    If there is no room for a new one, the oldest without a request in progress makes it: half-sent
    requests never keep others out.

    Args:
        most: Connections in all.
        most_per_address: Connections of one client address.
        proxies: Reverse proxies, whose connections are those of many clients and count in all only.
    """

    def __init__(self, *, most: int, most_per_address: int, proxies: TrustedProxies) -> None:
        self._most = most
        self._most_per_address = most_per_address
        self._proxies = proxies
        self._all: dict[Any, BoundedConnection | None] = {}
        self._by_address: dict[str, dict[Any, BoundedConnection | None]] = {}

    def __len__(self) -> int:
        return len(self._all)

    def admit(self, transport: Any, connection: "BoundedConnection") -> bool:
        """Add a connection; False if there is no room."""
        address = _address_of(transport)
        of_address = self._by_address.get(address, {})
        is_client = not self._proxies.trust(address)
        if is_client and not _make_room(of_address, self._most_per_address):
            return False
        if not _make_room(self._all, self._most):
            return False
        self._all[transport] = connection
        self._by_address.setdefault(address, {})[transport] = connection
        return True

    def keep(self, transport: Any) -> None:
        """Never close this connection for a new one: it has become a WebSocket."""
        if transport in self._all:
            self._all[transport] = self._by_address[_address_of(transport)][transport] = None

    def remove(self, transport: Any) -> None:
        """Remove a connection that has ended; safe to call twice."""
        address = _address_of(transport)
        of_address = self._by_address.get(address, {})
        self._all.pop(transport, None)
        of_address.pop(transport, None)
        if not of_address:
            self._by_address.pop(address, None)


class BoundedConnection(H11Protocol):
    """A connection with a deadline for the headers of each request.

    uvicorn waits for the rest of a half-sent request for ever, and for a body that is not read.

    Args:
        limits: Counts the connections of the server.
        header_timeout: Seconds that a client has to send the headers of a request, and what is left
            of a request that is answered already.
    """

    def __init__(
        self, *args: Any, limits: OpenConnections, header_timeout: float, **kwargs: Any
    ) -> None:
        super().__init__(*args, **kwargs)
        self._limits = limits
        self._header_timeout = header_timeout
        self._deadline: asyncio.TimerHandle | None = None
        self._is_refused = False

    @property
    def is_idle(self) -> bool:
        """Whether no request is in progress: it has no headers yet, or is answered."""
        return not self._has_begun or self.cycle.response_complete

    @property
    def can_be_dropped(self) -> bool:
        """Whether nothing is lost with it: it is idle, and its client has read all answers."""
        return self.is_idle and not self.transport.get_write_buffer_size()

    @property
    def _has_begun(self) -> bool:
        """Whether there was a request; uvicorn has no cycle until then."""
        cycle: Any = self.cycle
        return cycle is not None

    def connection_made(self, transport: Any) -> None:
        super().connection_made(transport)
        if self._limits.admit(transport, self):
            self._watch()
            return
        self._is_refused = True
        transport.write(_FULL)
        transport.close()

    def data_received(self, data: bytes) -> None:
        if not self._is_refused:
            super().data_received(data)
            self._watch()

    def on_response_complete(self) -> None:
        super().on_response_complete()
        self._watch()

    def handle_websocket_upgrade(self, event: h11.Request) -> None:
        self._disarm()
        self._limits.keep(self.transport)
        super().handle_websocket_upgrade(event)

    def connection_lost(self, exc: Exception | None) -> None:
        self._disarm()
        self._limits.remove(self.transport)
        super().connection_lost(exc)

    def shutdown(self) -> None:
        cycle: Any = self.cycle
        if not self.is_idle and not cycle.response_started:
            cycle.default_headers = [*cycle.default_headers, CLOSE_HEADER]
        super().shutdown()

    def drop(self) -> None:
        """Close the connection for another one."""
        self._disarm()
        self._limits.remove(self.transport)
        self.transport.abort()

    def _watch(self) -> None:
        """Set a deadline while a request is half sent."""
        if self.transport.is_closing() or not self.is_idle:
            self._disarm()
        elif not self._has_begun or self._is_half_sent():
            if self._deadline is None:
                self._deadline = self.loop.call_later(self._header_timeout, self._expire)
        else:
            self._disarm()

    def _is_half_sent(self) -> bool:
        return self.conn.their_state is not h11.IDLE or bool(self.conn.trailing_data[0])

    def _disarm(self) -> None:
        if self._deadline is not None:
            self._deadline.cancel()
            self._deadline = None

    def _expire(self) -> None:
        self._deadline = None
        if not self._has_begun or self.conn.our_state is h11.IDLE:
            self.transport.write(_TOO_SLOW)
        self.transport.close()


def _make_room(connections: "dict[Any, BoundedConnection | None]", most: int) -> bool:
    """Whether there is room, if need be in place of the oldest idle connection."""
    if len(connections) < most:
        return True
    idle = (item for item in connections.values() if item is not None and item.can_be_dropped)
    oldest = next(idle, None)
    if oldest is None:
        return False
    oldest.drop()
    return True


def _address_of(transport: Any) -> str:
    peer = transport.get_extra_info("peername")
    return str(cast("Any", peer)[0]) if isinstance(peer, tuple) and peer else ""
