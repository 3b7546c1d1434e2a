"""The authenticator port: who the caller of a request is."""

from collections.abc import Callable
from typing import Literal, Protocol

from msgspec import Struct

from pegboard.core.ports.accounts.identity_store import BrowserClient
from pegboard.core.principal import Principal

Refusal = Literal["no_token", "wrong_token", "not_local", "foreign_page", "accounts", "sign_in"]
"""Why a request has no caller: nothing was sent; it is not valid; a server without a token was
reached under a foreign name, or by a page of another origin; it was valid until accounts began;
nothing was sent, which was enough until accounts began."""


class SentCredentials(Struct, frozen=True, kw_only=True):
    """What a request says of its caller.

    Attributes:
        bearer: The token of its `Authorization` header; None without the header.
        cookies: The values of its session cookies; empty where none is accepted.
        is_local: Whether it was sent to a name of this machine.
        is_foreign_page: Whether a page of another origin opens a WebSocket with it.
        resource: The address of the MCP endpoint that was asked, the only one of a token for it;
            empty for other paths.
        makes_link: Whether it asks for a one-time link, and nothing else.
        client: Where the request came from, which its session remembers; None for no request.
    """

    bearer: str | None = None
    cookies: tuple[str, ...] = ()
    is_local: bool = False
    is_foreign_page: bool = False
    resource: str = ""
    makes_link: bool = False
    client: BrowserClient | None = None


class BrowserSession(Struct, frozen=True, kw_only=True):
    """A valid session of a browser.

    Attributes:
        cookie: The value of the cookie.
        csrf: What each change must repeat in the header `X-Pegboard-CSRF`.
        expires: When it expires, in seconds since the epoch.
    """

    cookie: str
    csrf: str
    expires: float


class AuthenticatedCaller(Struct, frozen=True, kw_only=True):
    """The caller of a request.

    Attributes:
        session: The session of the browser that sent it; None for others.
        credential: By which key or session it is the caller, for `identify_again`; no secret.
            Empty for `local`.
        expires: Until when, in seconds since the epoch; None for no end.
    """

    principal: Principal
    session: BrowserSession | None = None
    credential: str = ""
    expires: float | None = None


class Authenticator(Protocol):
    """Names the caller of a request, for every door."""

    @property
    def has_accounts(self) -> bool:
        """Whether there is an account: nobody is `local` then."""
        ...

    async def identify(self, sent: SentCredentials) -> AuthenticatedCaller | Refusal:
        """The caller, or why there is none."""
        ...

    async def identify_again(self, credential: str) -> AuthenticatedCaller | None:
        """The caller of a request that is in progress, with the rights of now; None for nobody."""
        ...

    async def redeem(self, ticket: str, *, origin: str | None) -> AuthenticatedCaller | None:
        """The caller of a WebSocket's ticket, which is used up; None if it is not valid."""
        ...

    def watch(self, listener: Callable[[], None]) -> None:
        """Call a listener whenever rights may have changed; again with the same has no effect."""
        ...
