"""Pools of keep-alive connections by event loop, upstream and scheme, with one TLS context."""

import asyncio
import ssl
from collections.abc import Callable
from functools import cache
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from httpcore2 import AsyncConnectionPool, AsyncNetworkBackend

_MAX_POOLS = 128
_IDLE_SECONDS = 30.0
_Key = tuple[str, str]


@cache
def tls_context() -> ssl.SSLContext:
    """Return the TLS context of the process, made on first use since it takes 25 ms.

    It trusts the certificates that the system trusts; OpenSSL's `SSL_CERT_FILE` and `SSL_CERT_DIR`
    are honoured.
    """
    import httpcore2

    return httpcore2.default_ssl_context()


class ConnectionPools:
    """Connection pools by (loop, upstream, scheme).

    A connection belongs to the event loop that opened it, and one upstream's credentials never
    share a connection with another's. Above the maximum, the least recently used idle pool is
    closed.
    """

    def __init__(
        self, backend: "Callable[[], AsyncNetworkBackend]", tls: Callable[[], ssl.SSLContext]
    ) -> None:
        self._backend = backend
        self._tls = tls
        self._loops: dict[asyncio.AbstractEventLoop, dict[_Key, AsyncConnectionPool]] = {}

    async def get(self, upstream: str, scheme: str) -> "AsyncConnectionPool":
        """Return the pool of an upstream on the running loop; an empty name shares one by host."""
        pools = self._of_this_loop()
        key = (upstream, scheme)
        pool = pools.pop(key, None)
        if pool is None:
            pool = self._open_pool(shared=not upstream, scheme=scheme)
        pools[key] = pool  # last in the order: the most recently used
        if len(pools) > _MAX_POOLS:
            await _drop_idle(pools, keep=pool)
        return pool

    async def close(self) -> None:
        """Close every connection; those of other running loops are closed on their loops."""
        loops, self._loops = self._loops, {}
        for loop, pools in loops.items():
            for pool in pools.values():
                await _close_on(loop, pool)

    def _of_this_loop(self) -> "dict[_Key, AsyncConnectionPool]":
        loop = asyncio.get_running_loop()
        if loop not in self._loops:
            for dead in [item for item in list(self._loops) if item.is_closed()]:
                del self._loops[dead]
        return self._loops.setdefault(loop, {})

    def _open_pool(self, *, shared: bool, scheme: str) -> "AsyncConnectionPool":
        import httpcore2

        return httpcore2.AsyncConnectionPool(
            # Never None for https: the library would build a context for each connection.
            ssl_context=self._tls() if scheme == "https" else None,
            max_connections=100 if shared else 20,
            max_keepalive_connections=20 if shared else 10,
            keepalive_expiry=_IDLE_SECONDS,
            network_backend=self._backend(),
        )


async def _drop_idle(
    pools: "dict[_Key, AsyncConnectionPool]", *, keep: "AsyncConnectionPool"
) -> None:
    for key, pool in list(pools.items()):
        idle = all(connection.is_idle() for connection in pool.connections)
        if idle and pool is not keep:
            del pools[key]
            await pool.aclose()
            return


async def _close_on(loop: asyncio.AbstractEventLoop, pool: "AsyncConnectionPool") -> None:
    if loop is asyncio.get_running_loop():
        await pool.aclose()
    elif loop.is_running():
        closing = asyncio.run_coroutine_threadsafe(pool.aclose(), loop)
        await asyncio.wait_for(asyncio.wrap_future(closing), timeout=5)
