"""Opens the accounts of a board, and learns when they begin on another server."""

import asyncio
import logging
from contextlib import AsyncExitStack
from typing import TYPE_CHECKING

from pegboard.concurrency.log_and_continue import log_and_continue
from pegboard.core.ports.audit_store import Prove
from pegboard.features.identity import Identity
from pegboard.registry import ToolRegistry
from pegboard.runtime.settings import Settings

if TYPE_CHECKING:
    from pegboard.storage import Storage

_LOG = logging.getLogger("pegboard.identity")
_LOOK_SECONDS = 1.0


async def open_identity(
    registry: ToolRegistry,
    storage: "Storage",
    settings: Settings,
    stack: AsyncExitStack,
    *,
    prove: Prove,
) -> Identity:
    """Open the accounts; where a database is shared, look until there is one.

    Raises:
        Unavailable: The storage cannot be read. A board does not open without knowing whether
            its callers need an account.
    """
    identity = Identity(
        storage.identity, lambda: registry.environment, roles=storage.roles, prove=prove
    )
    await identity.accounts.load()
    if settings.database is not None and not identity.has_accounts:
        following = asyncio.create_task(follow(identity), name="look for accounts")

        async def stop() -> None:
            following.cancel()
            await asyncio.wait([following])

        stack.push_async_callback(stop)
    return identity


async def follow(identity: Identity, *, every: float = _LOOK_SECONDS) -> None:
    """Look whether accounts have begun on another server, until they have."""
    while not identity.has_accounts:
        await asyncio.sleep(every)
        with log_and_continue(_LOG, "identity: the accounts could not be read"):
            await identity.accounts.load()
