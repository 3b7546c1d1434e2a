"""About whose rights a caller may ask."""

from pegboard.core.principal import Principal
from pegboard.errors import AccountNotFound, InvalidRequest
from pegboard.features.identity.parts import IdentityParts
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
        user = await self._parts.store.find_user(person)
        memberships = () if user is None else await self._parts.store.memberships(user=user.id)
        may_ask = user is not None and (
            principal.is_operator
            or user.id == principal.user
            or any(
                item.state == "approved" and principal.has_scope_in(item.organisation, PEOPLE_SCOPE)
                for item in memberships
            )
        )
        if user is None or not may_ask:
            raise AccountNotFound(f"There is no person '{person[:80]}'.")
        if user.disabled_at is not None:
            raise InvalidRequest(f"'{user.handle}' is kept out of this server, and calls nothing.")
        organisations = [item.organisation for item in memberships]
        own = await self._parts.roles.roles(organisations)
        return principal_of(user, memberships, own=own)
