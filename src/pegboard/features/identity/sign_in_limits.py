"""Limits of attempts: to sign in, by account and address, to claim a handle and to join."""

from collections.abc import Mapping
from hashlib import sha256

from pegboard.errors import RateLimited
from pegboard.features.identity.parts import IdentityParts

WINDOW = 300.0
"""Seconds in which failures are counted."""

MAX_OF_BOTH = 10
MAX_OF_ADDRESS = 50
MAX_OF_ACCOUNT = 100
MAX_OF_LINK = 20
"""Names that one link may ask for: each refusal tells that a name is taken."""
MAX_OF_MAKER = 50
"""Names that were refused to one person: to the links and for the service accounts they make."""
MAX_OF_ORGANISATION = 100
"""Names that were refused to the administrators of one organisation together."""

MAX_OF_ASKER = 20
"""Requests of one person to join organisations: each stays in the audit trail."""


class SignInLimits:
    """Counts attempts on all servers together; one that succeeds is taken back.

    An attempt counts before its password is verified, so that many at once are not many more.

    Args:
        parts: The store and the clock.
    """

    def __init__(self, parts: IdentityParts) -> None:
        self._parts = parts

    async def begin(self, login: str, address: str) -> None:
        """Count an attempt.

        Raises:
            RateLimited: There were too many; says when the next one is possible.
        """
        await self._count(dict(_limits(login, address)))

    async def begin_elsewhere(self, address: str) -> None:
        """Count an attempt of an address at an identity provider; raises as `begin`."""
        await self._count({_name("elsewhere", address): MAX_OF_ADDRESS})

    async def begin_claim(self, by: str, organisation: str, *, link: str = "") -> None:
        """Count an attempt to make an account, whose handle may be taken; raises as `begin`.

        Args:
            by: The id of who makes the account, or the link to it.
            organisation: That it belongs to; empty for none.
            link: The digest of the link, if it is made with one.
        """
        limits = dict(_limits_of_claim(by, organisation))
        if link:
            limits[_name("link", link)] = MAX_OF_LINK
        await self._count(limits, what="make an account")

    async def succeed_claim(self, by: str, organisation: str) -> None:
        """Take back an attempt that has made an account: it told of no other."""
        for name, _ in _limits_of_claim(by, organisation):
            await self._parts.store.take_back_attempt(name)

    async def begin_join(self, by: str) -> None:
        """Count a request to join an organisation, which is never taken back; raises as `begin`.

        Args:
            by: The id of who asks.
        """
        await self._count({_name("asker", by): MAX_OF_ASKER}, what="ask to join an organisation")

    async def _count(self, limits: Mapping[str, int], *, what: str = "sign in") -> None:
        wait = await self._parts.store.count_attempt(limits, at=self._parts.now(), window=WINDOW)
        if wait:
            raise RateLimited(
                f"Too many attempts to {what}: wait, then try again.", retry_after=wait
            )

    async def succeed(self, login: str, address: str) -> None:
        """Take back the attempts of this account and this address."""
        both, *others = (name for name, _ in _limits(login, address))
        await self._parts.store.forget_attempts(both)
        for name in others:
            await self._parts.store.take_back_attempt(name)


def _limits(login: str, address: str) -> tuple[tuple[str, int], ...]:
    login = login.lower()
    return (
        (_name("both", login, address), MAX_OF_BOTH),
        (_name("address", address), MAX_OF_ADDRESS),
        (_name("account", login), MAX_OF_ACCOUNT),
    )


def _limits_of_claim(by: str, organisation: str) -> tuple[tuple[str, int], ...]:
    of_maker = (_name("maker", by), MAX_OF_MAKER)
    if not organisation:
        return (of_maker,)
    return (of_maker, (_name("claims", organisation), MAX_OF_ORGANISATION))


def _name(*parts: str) -> str:
    """What is stored of them: no name that a person has mistyped."""
    return sha256("\n".join(parts).encode("utf-8", "surrogatepass")).hexdigest()
