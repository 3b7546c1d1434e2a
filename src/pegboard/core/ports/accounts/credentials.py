"""The ports of credentials: what a source takes from its caller, and who keeps the values."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Protocol

from pegboard.core.credential import CallCredential, CredentialKind, Secret
from pegboard.core.ports.accounts.credential_store import SealedSecret, StoredCredential
from pegboard.core.principal import Principal


@dataclass(frozen=True, slots=True, kw_only=True)
class OAuthSettings:
    """How a source gets OAuth 2 tokens.

    Attributes:
        authorization_url: Where a person consents; empty where no one does.
        client_id: Ours; empty where each credential has its own.
        issuer: What `iss` of an answer must be; empty where the server sends none.
        userinfo_url: Tells whose account it is; empty for an unknown one.
        server: The protected server whose metadata tells all this; empty where it is configured.
        resource: What tokens are asked for (RFC 8707); empty for none.
        requires_issuer: Whether an answer without `iss` is refused where `issuer` is known.
        posts_secret: Whether the secret of the client stands in the form, and in no header.
        is_registered: Whether the client was registered by discovery: the authorization server may
            forget it, and then another one is registered.
    """

    token_url: str = ""
    authorization_url: str = ""
    client_id: str = ""
    client_secret: str = field(default="", repr=False)
    scopes: tuple[str, ...] = ()
    issuer: str = ""
    userinfo_url: str = ""
    server: str = ""
    resource: str = ""
    requires_issuer: bool = True
    posts_secret: bool = False
    is_registered: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class CallerAuth:
    """What a source takes from its callers.

    Attributes:
        kinds: The kinds of credentials that fit.
        oauth: How it gets tokens; None without OAuth.
    """

    kinds: tuple[CredentialKind, ...]
    oauth: OAuthSettings | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class TokenAnswer:
    """What a token endpoint has answered.

    Attributes:
        refresh_token: A new one; empty where the old one stays valid.
        lifetime: Seconds; None where the server does not say.
        scopes: Of the token; empty where the server does not say.
    """

    access_token: str = field(repr=False)
    refresh_token: str = field(default="", repr=False)
    lifetime: float | None = None
    scopes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class TokenRefusal:
    """A token endpoint refuses what was sent.

    Attributes:
        error: Its code, as `invalid_grant`.
    """

    error: str


@dataclass(frozen=True, slots=True, kw_only=True)
class AccountIdentity:
    """Whose account a token is for, as the system tells it.

    Attributes:
        name: For display; empty where the system tells none.
        subject: As of `Credential.subject`.
    """

    name: str = ""
    subject: str = ""


class TokenEndpoint(Protocol):
    """Gets tokens from OAuth 2 servers.

    Each method raises `Unavailable` when the server cannot be reached or fails.
    """

    async def exchange_code(
        self, settings: OAuthSettings, *, code: str, verifier: str, redirect_uri: str
    ) -> TokenAnswer | TokenRefusal:
        """The tokens of a consent."""
        ...

    async def refresh(
        self, settings: OAuthSettings, *, refresh_token: str
    ) -> TokenAnswer | TokenRefusal:
        """New tokens for a consent that stands."""
        ...

    async def request_for_client(
        self, settings: OAuthSettings, *, client_id: str, client_secret: str
    ) -> TokenAnswer | TokenRefusal:
        """A token for a client itself."""
        ...

    async def identify(self, settings: OAuthSettings, *, access_token: str) -> AccountIdentity:
        """The account of a token, as far as the system tells it."""
        ...


class OAuthDiscovery(Protocol):
    """Finds out how a protected server gets its tokens."""

    async def find_issuer(self, server: str) -> str:
        """The authorization server that a protected server names now.

        Raises:
            Unavailable: The server cannot be reached, or its metadata cannot be used.
        """
        ...

    async def discover(
        self,
        settings: OAuthSettings,
        *,
        redirect_uri: str,
        document: str = "",
        scopes: Sequence[str] = (),
    ) -> OAuthSettings:
        """The settings of an authorization server that the protected server names.

        Args:
            settings: With `server`, and a client where one is registered already.
            redirect_uri: Where the consent sends its answer.
            document: The address of our client document (CIMD); empty for none.
            scopes: Further scopes to ask for.

        Raises:
            Unavailable: A server cannot be reached, or its metadata cannot be used.
        """
        ...

    def forget(self, client_id: str) -> None:
        """Register another client instead of this one, which its server may not know any more."""
        ...


class SecretSealer(Protocol):
    """Encrypts and decrypts values; each is bound to its context."""

    def seal(self, plain: bytes, *, context: str) -> SealedSecret:
        """Encrypt a value; the first one makes a key where none is configured.

        Raises:
            Unavailable: There is no key, and none can be made.
        """
        ...

    def open(self, sealed: SealedSecret, *, context: str) -> bytes:
        """Decrypt a value.

        Raises:
            Unavailable: Its key is missing, or it was changed or moved.
        """
        ...

    def reseal(self, sealed: SealedSecret, *, context: str) -> SealedSecret | None:
        """Encrypt its data key with the newest key; None where it is already.

        Raises:
            Unavailable: As `open`.
        """
        ...


class SourceCredentials(Protocol):
    """Finds credentials for a source that sends them itself, on sessions of its own."""

    async def use(self, source: str, *, principal: Principal | None) -> CallCredential:
        """The credential of a caller, or the one with which the source lists its tools.

        Args:
            source: The source.
            principal: The caller; None for the board itself.

        Raises:
            CredentialMissing: There is none that the system accepts.
        """
        ...


class CallerCredentials(Protocol):
    """Finds the credential of a call: the caller's own, else one that is shared."""

    async def find(
        self, source: str, tool: str, *, principal: Principal, account: str = ""
    ) -> StoredCredential:
        """The credential that a call of this source acts with.

        Args:
            source: The source.
            tool: The tool, for messages.
            principal: The caller.
            account: The name of the credential; empty for the default.

        Raises:
            CredentialMissing: There is none that the system accepts.
        """
        ...

    async def reveal(self, stored: StoredCredential, *, tool: str) -> Secret:
        """Its value, with a token that is valid now; the same for calls at the same time.

        Raises:
            CredentialMissing: The system has ended the connection.
            Unavailable: The token cannot be refreshed now.
        """
        ...

    async def renew(self, stored: StoredCredential, refused: Secret, *, tool: str) -> Secret | None:
        """Another token than the one that the system has refused; None for what is no OAuth token.

        Raises:
            CredentialMissing: The system has ended the connection.
            Unavailable: The token cannot be refreshed now.
        """
        ...

    async def end(self, stored: StoredCredential, *, tool: str, principal: Principal) -> None:
        """Mark a connection of the caller whose tokens the system refuses.

        Raises:
            CredentialMissing: It has to be connected again. Nothing is raised for a connection of
                another person, which nothing is marked of either.
        """
        ...

    async def extend(
        self, stored: StoredCredential, scopes: Sequence[str], *, tool: str, principal: Principal
    ) -> None:
        """Note the scopes that a connection of the caller lacks, for the next consent.

        Raises:
            CredentialMissing: It has to be connected again, as in `end`.
        """
        ...
