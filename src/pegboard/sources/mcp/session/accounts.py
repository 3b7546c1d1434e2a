"""The accounts of callers at one server: each session acts with one of them, and with no other."""

from collections.abc import Callable, Sequence
from typing import Any

from pegboard.core.context import ToolContext
from pegboard.core.credential import CallCredential
from pegboard.core.principal import Principal
from pegboard.errors import CredentialMissing, SourceUnavailable
from pegboard.sources.mcp.session.pool import OPERATOR
from pegboard.sources.mcp.transport.transports import Link


class SessionAccounts:
    """Which account each session of a server acts with.

    A session belongs to one caller, one credential and one version of its value: what is rotated or
    connected again begins anew.

    Args:
        link: The server.
    """

    def __init__(self, link: Link) -> None:
        self._link = link
        self._uses: dict[str, CallCredential] = {}

    async def find_key(self, ctx: ToolContext[Any]) -> tuple[str, Sequence[str]]:
        """The key of the session for a call, and those of sessions that it takes the place of.

        Raises:
            CredentialMissing: Its caller has no account that the server accepts.
            Unavailable: The token cannot be refreshed now.
        """
        use = ctx.credential
        if use is None:  # of a resource or a prompt
            use = await self._find(ctx.principal)
        await use.reveal()
        about = use.about
        prefix = f"{ctx.principal.owner}\n{about.id}\n"
        key = f"{prefix}{about.version}"
        ended = [old for old in self._uses if old.startswith(prefix) and old != key]
        self._uses[key] = use
        return key, ended

    async def change_listing(self) -> bool:
        """Find the account with which the board lists; whether it is another than before.

        Raises:
            SourceUnavailable: There is none yet.
        """
        try:
            use = await self._find(None)
            await use.reveal()
        except CredentialMissing as error:
            where = f" Connect one at {error.link}" if error.link else ""
            raise SourceUnavailable(
                f"{self._link.title} takes the accounts of its callers: {error.reason}.{where}"
            ) from error
        before, now = self._uses.get(OPERATOR), use.about
        self._uses[OPERATOR] = use
        return before is not None and (before.about.id, before.about.version) != (
            now.id,
            now.version,
        )

    def finder(self, key: str) -> Callable[[], CallCredential] | None:
        """Gives the account of the latest call on a session; None where callers have none."""
        if not self._link.takes_caller:
            return None
        last = self._uses[key]

        def find() -> CallCredential:
            return self._uses.get(key, last)

        return find

    def forget(self, key: str) -> None:
        """Forget the account of a session that has ended."""
        if key != OPERATOR:
            self._uses.pop(key, None)

    async def _find(self, principal: Principal | None) -> CallCredential:
        found = self._link.credentials
        if found is None:
            raise CredentialMissing(self._link.name, "no credentials are stored here")
        return await found.use(self._link.name, principal=principal)


def find_missing_account(error: BaseException) -> CredentialMissing | None:
    """The error about the account of a caller that lies behind another one; None for none."""
    seen: BaseException | None = error
    for _ in range(5):
        if seen is None or isinstance(seen, CredentialMissing):
            return seen
        seen = seen.__cause__
    return None
