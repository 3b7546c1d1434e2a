"""The port of OAuth logins: where a person consents, and where what they got is kept."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Protocol


@dataclass(frozen=True, slots=True, kw_only=True)
class ConsentAnswer:
    """What an authorization server sent to the redirect URI.

    Attributes:
        code: To be exchanged for tokens.
        state: As it was sent.
        issuer: `iss` of RFC 9207; None where the server sends none.
    """

    code: str
    state: str | None = None
    issuer: str | None = None


class OAuthLogin(Protocol):
    """The login of one person at one server."""

    @property
    def redirect_uri(self) -> str:
        """Where the authorization server sends the answer."""
        ...

    @property
    def client_url(self) -> str:
        """The https address of our client document (CIMD); empty for none."""
        ...

    async def ask(self, url: str) -> ConsentAnswer:
        """Show a person the page of consent, and wait for the answer.

        Raises:
            PegboardError: Nobody consents; says what to do.
        """
        ...

    async def load(self) -> Mapping[str, Any]:
        """What `save` has kept; empty for nothing. It has secrets."""
        ...

    async def save(self, kept: Mapping[str, Any]) -> None:
        """Keep tokens and the registration of the client, as JSON-compatible data."""
        ...


class OAuthLogins(Protocol):
    """The logins of a board or a program."""

    def find(self, source: str, owner: str) -> OAuthLogin:
        """The login of a person at a source.

        Args:
            source: The name of the source.
            owner: `tenant/id` of the caller; empty for the board itself.
        """
        ...
