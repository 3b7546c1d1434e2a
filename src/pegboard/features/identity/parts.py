"""What the services of accounts share: the store, the clock, and the audit trail."""

from collections.abc import AsyncGenerator, Awaitable, Callable, Iterable
from contextlib import asynccontextmanager
from typing import Any

from pegboard.access.roles import ROLES
from pegboard.core.event import BoardChanged
from pegboard.core.ports.accounts.identity_store import IdentityStore, User
from pegboard.core.ports.accounts.role_store import RoleStore
from pegboard.core.ports.audit_store import Prove
from pegboard.core.principal import Principal
from pegboard.execution.audit_first import record_in_audit
from pegboard.execution.environment import CallEnvironment
from pegboard.execution.limits.quotas import QuotaMeter

_DONE = {
    "invite": "invited",
    "link": "linked",
    "join": "joined",
    "sign_in": "signed_in",
    "disable": "disabled",
    "enable": "enabled",
    "name_operator": "named_operator",
    "dismiss_operator": "dismissed_operator",
    "make_service": "made_service",
    "act_for": "acts_for",
    "change_account": "changed_account",
    "change_password": "changed_password",
    "end_session": "ended_session",
    "link_identity": "linked_identity",
    "let_in": "let_in",
    "make_key": "made_key",
    "revoke_key": "revoked_key",
    "found": "founded",
    "ask_to_join": "asked_to_join",
    "approve": "approved",
    "remove": "removed",
    "define_role": "defined_role",
    "remove_role": "removed_role",
    "set_quota": "set_quota",
    "remove_quota": "removed_quota",
}

_IDS_AT_ONCE = 500


OnEnd = Callable[[str, str, Principal], Awaitable[None]]
"""Called with the ids of a user and of a key, and with the caller who has ended them."""


def find_by_login(login: str, users: Iterable[User]) -> User | None:
    """The account of a handle or an e-mail address among these."""
    name = login.lower()
    return next((user for user in users if name in {user.handle, user.email} - {""}), None)


class IdentityParts:
    """Shared by the services of accounts.

    Args:
        store: Stores accounts.
        roles: Stores the roles of organisations.
        environment: The clock and the listeners of the board.
        prove: Writes each change to the audit trail before it takes effect, where required.
    """

    def __init__(
        self,
        store: IdentityStore,
        environment: Callable[[], CallEnvironment],
        *,
        roles: RoleStore,
        prove: Prove,
    ) -> None:
        self.store = store
        self.roles = roles
        self._environment = environment
        self._prove = prove
        self.has_begun = False
        """Whether there is an account: nobody is `local` at a door then."""
        self.ended: list[OnEnd] = []

    async def read_people(self, ids: Iterable[str]) -> dict[str, User]:
        """The accounts of these ids, where there are some."""
        wanted = sorted({id_ for id_ in ids if id_})
        return {
            user.id: user
            for start in range(0, len(wanted), _IDS_AT_ONCE)
            for user in await self.store.users(wanted[start : start + _IDS_AT_ONCE])
        }

    async def find_member(self, login: str, organisations: Iterable[str]) -> User | None:
        """An approved member of these organisations, by handle or e-mail address.

        All members are read for every login, so that the time of the search does not tell whether
        the login is that of an account elsewhere.
        """
        members = {
            member.user
            for organisation in sorted(organisations)
            for member in await self.store.memberships(organisation=organisation)
            if member.state == "approved"
        }
        return find_by_login(login, (await self.read_people(members)).values())

    async def list_role_names(self, organisation: str) -> tuple[str, ...]:
        """The roles that a member of an organisation may have."""
        own = await self.roles.roles([organisation]) if organisation else ()
        return (*ROLES, *(role.name for role in own))

    @property
    def meter(self) -> QuotaMeter | None:
        """Counts what accounts use; None where nothing is counted."""
        return self._environment().quotas

    def now(self) -> float:
        """Unix seconds."""
        return self._environment().now()

    def monotonic(self) -> float:
        """Seconds that only grow."""
        return self._environment().monotonic()

    async def report_end(self, user: str, *, key: str = "", by: Principal) -> None:
        """Report that an account, or one of its keys, has ended."""
        for listener in self.ended:
            await listener(user, key, by)

    @asynccontextmanager
    async def record(
        self, action: str, subject: str, principal: Principal, **detail: Any
    ) -> AsyncGenerator[None]:
        """Make a change in the body, and report it; first to an audit trail that is required.

        Args:
            action: One of the verbs above.
            subject: A handle, or the id of a key.
            principal: The caller.
            detail: Never a secret.

        Raises:
            AuditUnavailable: The trail cannot be written: the body does not run.
        """
        environment = self._environment()

        def change(action: str = action) -> BoardChanged:
            return BoardChanged(
                kind="identity",
                action=action,
                at=environment.now(),
                subject=subject,
                by=principal.id,
                tenant=principal.tenant,
                detail=detail,
            )

        async with record_in_audit(self._prove, change, environment=environment):
            yield
        environment.emitter.emit(change(_DONE[action]))
