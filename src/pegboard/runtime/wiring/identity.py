"""Opens the accounts of a board, and follows what other servers change of them."""

import asyncio
import logging
from contextlib import AsyncExitStack
from typing import TYPE_CHECKING

from pegboard.concurrency.log_and_continue import log_and_continue
from pegboard.core.ports.audit_store import Prove
from pegboard.features.identity import Identity
from pegboard.features.identity.passwords import Passwords
from pegboard.registry import ToolRegistry
from pegboard.runtime.settings import Settings

if TYPE_CHECKING:
    from pegboard.storage import Storage

_LOG = logging.getLogger("pegboard.identity")
_LOOK_SECONDS = 0.5


async def open_identity(
    registry: ToolRegistry,
    storage: "Storage",
    settings: Settings,
    stack: AsyncExitStack,
    *,
    prove: Prove,
) -> Identity:
    """Open the accounts; where a database is shared, follow those of other servers.

    Raises:
        Unavailable: The storage cannot be read. A board does not open without knowing whether
            its callers need an account.
    """
    identity = Identity(
        storage.identity,
        lambda: registry.environment,
        prove=prove,
        passwords=Passwords(memory=settings.password_memory),
    )
    await identity.accounts.load()
    await identity.callers.look()
    if settings.database is not None:
        following = asyncio.create_task(follow(identity), name="follow the accounts")

        async def stop() -> None:
            following.cancel()
            await asyncio.wait([following])

        stack.push_async_callback(stop)
    return identity


async def follow(identity: Identity, *, every: float = _LOOK_SECONDS) -> None:
    """Follow what other servers change of accounts; while the store fails, try again."""
    while True:
        await asyncio.sleep(every)
        with log_and_continue(_LOG, "identity: the accounts could not be read"):
            had_begun = identity.has_accounts
            await identity.accounts.load()
            await identity.callers.look()
            if identity.has_accounts and not had_begun:
                identity.callers.forget()
