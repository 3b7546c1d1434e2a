"""A credential of a caller: what is known of it, its value, and its use by one call."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Literal, Protocol

from msgspec import Struct

CredentialKind = Literal["bearer", "api_key", "basic", "oauth2_client", "oauth2"]
"""`oauth2_client` is a client id with its secret, `oauth2` a person's consent."""

CredentialState = Literal["ok", "reconnect"]

DEFAULT_NAME = "default"


class Credential(Struct, frozen=True, kw_only=True):
    """What is known of a credential, without its value.

    Attributes:
        owner: The id of an account, or `local`.
        source: The name of the source that it is for.
        name: The owner's name for this account of the system.
        shared: Whether everybody who may call the source acts with it who has none of their own.
        is_default: Whether calls of its owner use it, of those for this source.
        state: `reconnect` when the system no longer accepts it.
        reason: Why.
        identity: The account, as the system has confirmed it; empty while unknown.
        subject: The digest of what the system tells its accounts apart by, since two of them may
            have one name; empty where it tells nothing.
        created_at: Unix seconds.
        used_at: Unix seconds of its last use, exact to a minute; None for never.
        expires_at: Unix seconds when its value expires; None for never, or unknown.
        version: Grows with each new value.
        given_at: Unix seconds when its owner last gave another value or connected it again; 0 for
            never.
        scopes: What the next consent asks for beside the usual scopes, since a call lacked them.
        asked_at: Unix seconds when a consent began that asks for these and is not finished; 0 for
            none.
        granted: The scopes that the system has named, where the consent asked for none: another one
            that asks for further scopes asks for them too.
    """

    id: str
    owner: str
    source: str
    name: str
    kind: CredentialKind
    created_at: float
    shared: bool = False
    is_default: bool = False
    state: CredentialState = "ok"
    reason: str = ""
    identity: str = ""
    subject: str = ""
    used_at: float | None = None
    expires_at: float | None = None
    version: int = 1
    scopes: tuple[str, ...] = ()
    asked_at: float = 0.0
    granted: tuple[str, ...] = ()
    given_at: float = 0.0

    @property
    def account(self) -> str:
        """Tells the account of the system from others, also from an earlier one of this credential.

        A token that is refreshed is of the same account, and so is one that is connected again
        where the system confirms it.
        """
        if confirmed := self.subject or self.identity:
            return f"{self.id} {confirmed}"
        return f"{self.id} {self.given_at}" if self.given_at else self.id

    @property
    def label(self) -> str:
        """What records and approvals name: `github/work (octocat) of u_1`."""
        return self.describe(self.owner)

    def describe(self, owner: str) -> str:
        """The same with another name of its owner, as a handle, which people know."""
        who = f" ({self.identity})" if self.identity else ""
        return f"{self.source}/{self.name}{who} of {owner}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Secret:
    """The value of a credential.

    Attributes:
        value: A token, an API key or a password; of a client its secret.
        username: Of a password; of a client its id.
        access_token: What a token endpoint has given last.
        refresh_token: What gets the next one.
        settings: `OAuthSettings` as JSON, where they were found by discovery: the token goes to no
            other server than the one that gave it.
    """

    value: str = field(default="", repr=False)
    username: str = ""
    access_token: str = field(default="", repr=False)
    refresh_token: str = field(default="", repr=False)
    settings: str = field(default="", repr=False)

    @property
    def sent(self) -> str:
        """What a call sends: the token, the key or the password."""
        return self.access_token or self.value


class CallCredential(Protocol):
    """The credential of one call, for its tool."""

    @property
    def about(self) -> Credential:
        """What is known of it."""
        ...

    async def reveal(self) -> Secret:
        """Its value; what the call returns, logs or fails with no longer contains it.

        Raises:
            CredentialMissing: The system has ended the connection.
            Unavailable: The token cannot be refreshed now.
        """
        ...

    async def renew(self, refused: Secret) -> Secret | None:
        """Another value, after the system has refused this one (401); None where none can be had.

        Raises:
            CredentialMissing: The system has ended the connection.
            Unavailable: The token cannot be refreshed now.
        """
        ...

    async def give_up(self) -> None:
        """Report that the system has refused a renewed value too: it must be connected again.

        Raises:
            CredentialMissing: Always, for a connection of the caller; another one is not ended by
                what happens in a call of the caller.
        """
        ...

    async def extend(self, scopes: Sequence[str]) -> None:
        """Report scopes that the system asks for and the value lacks; the next consent has them.

        Raises:
            CredentialMissing: Always, for a connection of the caller by consent.
        """
        ...
