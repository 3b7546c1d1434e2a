"""Opens the accounts of a board, and follows what other servers change of them."""

import asyncio
import logging
from collections.abc import Callable
from contextlib import AsyncExitStack
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from pegboard.concurrency.log_and_continue import log_and_continue
from pegboard.core.ports.audit_store import Prove
from pegboard.errors import ConfigError
from pegboard.features.identity import Identity
from pegboard.features.identity.oidc_provider import OidcProvider, OidcSettings
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
    from pegboard.network import GuardedClient

    http = GuardedClient()
    stack.push_async_callback(http.close)
    identity = Identity(
        storage.identity,
        lambda: registry.environment,
        roles=storage.roles,
        prove=prove,
        passwords=Passwords(memory=settings.password_memory),
        http=http,
        oauth_registration=settings.oauth_registration,
        oidc=create_oidc(settings, stack, monotonic=registry.environment.monotonic),
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


def create_oidc(
    settings: Settings, stack: AsyncExitStack, *, monotonic: Callable[[], float]
) -> OidcProvider | None:
    """The identity provider of the settings; None without one.

    Raises:
        ConfigError: The id of the client is missing.
    """
    if not settings.oidc_issuer:
        return None
    if not settings.oidc_client_id:
        raise ConfigError(
            "PEGBOARD_OIDC_CLIENT_ID is missing: set it to the client id of this server at the "
            "identity provider"
        )
    from pegboard.network import GuardedClient, SsrfPolicy

    parts = urlsplit(settings.oidc_issuer)
    port = parts.port or (443 if parts.scheme == "https" else 80)
    host = f"[{parts.hostname}]" if ":" in (parts.hostname or "") else parts.hostname
    http = GuardedClient(policy=SsrfPolicy(allow_hosts=(f"{host}:{port}",)))
    stack.push_async_callback(http.close)
    secret = settings.oidc_client_secret
    names = settings.oidc_domains.lower().split(",")
    return OidcProvider(
        OidcSettings(
            issuer=settings.oidc_issuer,
            client_id=settings.oidc_client_id,
            client_secret="" if secret is None else secret.get_secret_value(),
            domains=tuple(filter(None, (name.strip() for name in names))),
            organisation=settings.oidc_organisation,
        ),
        http,
        monotonic=monotonic,
    )


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
