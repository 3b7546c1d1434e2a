"""What the services of credentials share: the store, the keys, and what sources take."""

import json
import secrets
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import asdict
from typing import Any

from msgspec import Struct
from msgspec import json as fast

from pegboard.core.credential import Credential, Secret
from pegboard.core.event import BoardChanged
from pegboard.core.ports.accounts.credential_store import (
    CredentialStore,
    SealedSecret,
    StoredCredential,
)
from pegboard.core.ports.accounts.credentials import (
    CallerAuth,
    OAuthDiscovery,
    OAuthSettings,
    SecretSealer,
    TokenEndpoint,
)
from pegboard.core.ports.audit_store import Prove
from pegboard.core.principal import Principal
from pegboard.execution.audit_first import record_in_audit
from pegboard.execution.environment import CallEnvironment

_DONE = {
    "add": "added",
    "change": "changed",
    "remove": "removed",
    "connect": "connected",
    "rotate": "rotated",
}


class CredentialTarget(Struct, frozen=True, kw_only=True):
    """A source that takes credentials of its callers.

    Attributes:
        source: Its name.
        auth: What it takes; None where it takes nothing of its callers.
        owner: The id of its owner; empty for one of the operators.
        is_vetted: Whether an operator answers for what it is, as for those of the board file and
            those that are global.
    """

    source: str
    auth: CallerAuth | None
    owner: str = ""
    is_vetted: bool = True

    def may_share(self, principal: Principal) -> bool:
        """Whether a caller may let all callers of the source act with its credential."""
        return principal.is_operator or (bool(self.owner) and self.owner == owner_of(principal))


FindTarget = Callable[[str], CredentialTarget | None]
MayLend = Callable[[str, str], Awaitable[bool]]
"""Whether an owner, by id, may still let others act with its credential for a source."""


def owner_of(principal: Principal) -> str:
    """The owner of a caller's credentials: the id of its account, or `local`."""
    return principal.owner.removeprefix("/")


def context_of(about: Credential) -> str:
    """What the value of a credential is bound to."""
    return f"credential\n{about.id}\n{about.owner}"


class CredentialParts:
    """Shared by the services of credentials.

    Args:
        store: Stores credentials.
        sealer: Encrypts and decrypts values.
        endpoint: Gets OAuth 2 tokens.
        discovery: Finds out where servers get their tokens.
        targets: The source of a name; None where there is none.
        may_lend: Whether a credential that was shared still is: its owner may have lost the right.
        environment: The clock and the listeners of the board.
        prove: Writes each change to the audit trail before it takes effect, where required.
    """

    def __init__(
        self,
        store: CredentialStore,
        sealer: SecretSealer,
        endpoint: TokenEndpoint,
        *,
        discovery: OAuthDiscovery,
        targets: FindTarget,
        may_lend: MayLend,
        environment: Callable[[], CallEnvironment],
        prove: Prove,
    ) -> None:
        self.store = store
        self.sealer = sealer
        self.endpoint = endpoint
        self.discovery = discovery
        self.find_target = targets
        self.may_lend = may_lend
        self._environment = environment
        self._prove = prove

    def now(self) -> float:
        """Unix seconds."""
        return self._environment().now()

    def monotonic(self) -> float:
        """Seconds that only grow."""
        return self._environment().monotonic()

    def hides(self, principal: Principal, source: str) -> bool:
        """Whether a caller may not know of a source."""
        return self._environment().resource_index.hides(principal, source)

    def seal(self, secret: Secret, about: Credential) -> SealedSecret:
        """Encrypt the value of a credential.

        Raises:
            Unavailable: There is no master key, and none can be made.
        """
        plain = json.dumps({name: text for name, text in asdict(secret).items() if text})
        return self.sealer.seal(plain.encode(), context=context_of(about))

    def open(self, stored: StoredCredential) -> Secret:
        """Decrypt the value of a credential.

        Raises:
            Unavailable: The master key is missing, or the value was changed.
        """
        plain = self.sealer.open(stored.sealed, context=context_of(stored.about))
        return Secret(**json.loads(plain))

    def emit(self, event: BoardChanged) -> None:
        """Report an event."""
        self._environment().emitter.emit(event)

    @asynccontextmanager
    async def record(
        self, action: str, about: Credential, principal: Principal, **detail: Any
    ) -> AsyncGenerator[None]:
        """Make a change in the body, and report it; first to an audit trail that is required.

        Args:
            action: One of the verbs above.
            about: The credential.
            principal: The caller.
            detail: Never a secret.

        Raises:
            AuditUnavailable: The trail cannot be written: the body does not run.
        """
        environment = self._environment()
        told = {"source": about.source, "name": about.name, "owner": about.owner, **detail}

        def change(action: str = action) -> BoardChanged:
            return BoardChanged(
                kind="credential",
                action=action,
                at=environment.now(),
                subject=about.id,
                by=principal.id,
                tenant=principal.tenant,
                detail=told,
            )

        async with record_in_audit(self._prove, change, environment=environment):
            yield
        environment.emitter.emit(change(_DONE[action]))


def settings_in(secret: Secret) -> OAuthSettings | None:
    """What discovery found for a credential; None where its source is configured."""
    return fast.decode(secret.settings, type=OAuthSettings) if secret.settings else None


def new_id() -> str:
    """The id of a new credential."""
    return f"cred_{secrets.token_hex(8)}"
