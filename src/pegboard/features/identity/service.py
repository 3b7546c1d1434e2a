"""`Identity`: the accounts of a board, and who its callers are."""

from collections.abc import Callable

from pegboard.core.ports.accounts.identity_store import IdentityStore
from pegboard.core.ports.accounts.role_store import RoleStore
from pegboard.core.ports.audit_store import Prove
from pegboard.core.ports.http import HttpClient
from pegboard.execution.environment import CallEnvironment
from pegboard.features.identity.accounts import Accounts
from pegboard.features.identity.api_keys import ApiKeys
from pegboard.features.identity.callers import AccountCallers
from pegboard.features.identity.oauth_clients import OAuthClients
from pegboard.features.identity.oauth_grants import OAuthGrants
from pegboard.features.identity.oidc_provider import OidcProvider
from pegboard.features.identity.oidc_sign_in import OidcSignIns
from pegboard.features.identity.organisations import Organisations
from pegboard.features.identity.own_account import OwnAccount
from pegboard.features.identity.own_roles import OwnRoles
from pegboard.features.identity.parts import IdentityParts
from pegboard.features.identity.passwords import Passwords
from pegboard.features.identity.quotas import Quotas
from pegboard.features.identity.services import ServiceAccounts
from pegboard.features.identity.sign_in import SignIns
from pegboard.features.identity.subjects import Subjects
from pegboard.features.identity.tickets import SocketTickets


class Identity:
    """The accounts of a board.

    ```python
    new = await board.identity.accounts.make_link(LinkRequest(), principal=LOCAL)
    ```

    Attributes:
        accounts: Makes accounts by links, and disables them.
        callers: Names the caller of a key or a session.
        keys: The keys of a person's programs.
        oauth: What people let OAuth clients do.
        oidc: Signs people in who an identity provider knows; None without one.
        organisations: Organisations and their members.
        own: What people change of their own account.
        parts: What these services share.
        quotas: How much accounts and organisations may use.
        services: The service accounts of organisations, and their keys.
        roles: The roles that organisations define themselves.
        sign_ins: Signs people in and out.
        subjects: About whose rights a caller may ask.
        tickets: One-time credentials of WebSockets.
        ended: Called with the id of a user, the id of a key (empty for all of the account) and the
            caller when an account or key has ended.

    Args:
        store: Stores accounts.
        environment: The clock and the listeners of the board.
        roles: Stores the roles of organisations.
        prove: Writes each change to the audit trail before it takes effect, where required.
        passwords: Hashes passwords.
        oidc: Where people sign in who have no password here; None for nowhere.
        http: Fetches the descriptions of OAuth clients; None for none.
        oauth_registration: Whether OAuth clients may register.
    """

    def __init__(
        self,
        store: IdentityStore,
        environment: Callable[[], CallEnvironment],
        *,
        roles: RoleStore,
        prove: Prove,
        passwords: Passwords | None = None,
        oidc: OidcProvider | None = None,
        http: HttpClient | None = None,
        oauth_registration: bool = False,
    ) -> None:
        self.parts = parts = IdentityParts(store, environment, roles=roles, prove=prove)
        hashing = passwords or Passwords()
        self.callers = AccountCallers(parts)
        self.accounts = Accounts(parts, self.callers, hashing)
        self.sign_ins = SignIns(parts, self.callers, hashing)
        self.own = OwnAccount(parts, self.callers, hashing)
        self.keys = ApiKeys(parts, self.callers)
        self.organisations = Organisations(parts, self.callers)
        self.oidc = OidcSignIns(parts, self.sign_ins, oidc) if oidc is not None else None
        clients = OAuthClients(parts, http, registration=oauth_registration)
        self.oauth = OAuthGrants(parts, self.keys, clients)
        self.services = ServiceAccounts(parts, self.keys)
        self.tickets = SocketTickets(parts)
        self.ended = parts.ended
        self.roles = OwnRoles(parts, self.callers)
        self.subjects = Subjects(parts)
        self.quotas = Quotas(parts)

    @property
    def has_accounts(self) -> bool:
        """Whether there is an account: the principal `local` is nobody at a door then."""
        return self.parts.has_begun
