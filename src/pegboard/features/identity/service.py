"""`Identity`: the accounts of a board, and who its callers are."""

from collections.abc import Callable

from pegboard.core.ports.audit_store import Prove
from pegboard.core.ports.identity_store import IdentityStore
from pegboard.execution.environment import CallEnvironment
from pegboard.features.identity.accounts import Accounts
from pegboard.features.identity.api_keys import ApiKeys
from pegboard.features.identity.callers import AccountCallers
from pegboard.features.identity.organisations import Organisations
from pegboard.features.identity.parts import IdentityParts
from pegboard.features.identity.passwords import Passwords
from pegboard.features.identity.sign_in import SignIns
from pegboard.features.identity.subjects import Subjects


class Identity:
    """The accounts of a board.

    ```python
    new = await board.identity.accounts.make_link(LinkRequest(), principal=LOCAL)
    ```

    Attributes:
        accounts: Makes accounts by links, and disables them.
        callers: Names the caller of a key or a session.
        keys: The keys of a person's programs.
        organisations: Organisations and their members.
        sign_ins: Signs people in and out.
        subjects: About whose rights a caller may ask.

    Args:
        store: Stores accounts.
        environment: The clock and the listeners of the board.
        prove: Writes each change to the audit trail before it takes effect, where required.
        passwords: Hashes passwords.
    """

    def __init__(
        self,
        store: IdentityStore,
        environment: Callable[[], CallEnvironment],
        *,
        prove: Prove,
        passwords: Passwords | None = None,
    ) -> None:
        self._parts = parts = IdentityParts(store, environment, prove=prove)
        hashing = passwords or Passwords()
        self.callers = AccountCallers(parts)
        self.accounts = Accounts(parts, self.callers, hashing)
        self.sign_ins = SignIns(parts, self.callers, hashing)
        self.keys = ApiKeys(parts, self.callers)
        self.organisations = Organisations(parts, self.callers)
        self.subjects = Subjects(parts)

    @property
    def has_accounts(self) -> bool:
        """Whether there is an account: the principal `local` is nobody at a door then."""
        return self._parts.has_begun
