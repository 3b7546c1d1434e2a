"""About whose rights a caller may ask."""

from pegboard.core.ports.accounts.identity_store import User
from pegboard.core.principal import Principal
from pegboard.errors import AccountNotFound, InvalidRequest
from pegboard.features.identity.parts import IdentityParts, find_by_login
from pegboard.features.identity.rules import principal_of
from pegboard.features.permissions import PEOPLE_SCOPE


class Subjects:
    """Finds the principal of another account, to explain what it may do.

    Args:
        parts: The store.
    """

    def __init__(self, parts: IdentityParts) -> None:
        self._parts = parts

    async def find(self, person: str, *, principal: Principal) -> Principal:
        """The principal of a person, with the rights of now.

        Args:
            person: A handle or an e-mail address.
            principal: The person, an operator, or an administrator of an organisation of the
                person.

        Raises:
            AccountNotFound: There is no such person for this caller.
            InvalidRequest: The person is kept out, and calls nothing.
        """
        user = await self._find(person, principal)
        if user is None:
            raise AccountNotFound(f"There is no person '{person[:80]}'.")
        if user.disabled_at is not None:
            raise InvalidRequest(f"'{user.handle}' is kept out of this server, and calls nothing.")
        memberships = await self._parts.store.memberships(user=user.id)
        organisations = [item.organisation for item in memberships]
        own = await self._parts.roles.roles(organisations)
        return principal_of(user, memberships, own=own)

    async def _find(self, person: str, principal: Principal) -> User | None:
        """Among whom the caller may ask about, with the same work whether the person exists."""
        if principal.is_operator:
            return await self._parts.store.find_user(person)
        administered = [
            handle
            for handle in principal.organisations
            if principal.has_scope_in(handle, PEOPLE_SCOPE)
        ]
        own = await self._parts.store.user(principal.user) if principal.user else None
        found = await self._parts.find_member(person, administered)
        return find_by_login(person, () if own is None else (own,)) or found
