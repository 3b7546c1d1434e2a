"""Who the caller of a request is: `local` by the server's token, until accounts begin."""

import hmac
from collections.abc import Callable

from pegboard.core.ports.authenticator import (
    AuthenticatedCaller,
    Refusal,
    SentCredentials,
)
from pegboard.core.principal import LOCAL
from pegboard.features.identity.secrets import is_key
from pegboard.runtime import Pegboard
from pegboard.servers.http.browser_sessions import BrowserSessions

_LOCAL = AuthenticatedCaller(principal=LOCAL)


class TokenCallers:
    """The `Authenticator` of a server with one person: each valid caller is `local`.

    Args:
        token: The token that callers must send; None accepts local callers without one.
        start_token: A token of this start of the server; None for none.
        sessions: Sessions that a browser may send instead of the token; None for none.
    """

    def __init__(
        self,
        token: str | None,
        *,
        start_token: str | None = None,
        sessions: BrowserSessions | None = None,
    ) -> None:
        self._token = None if token is None else token.encode()
        self._start_token = (start_token or "").encode()
        self._sessions = sessions

    @property
    def has_accounts(self) -> bool:
        """False: each caller is `local`."""
        return False

    async def identify(self, sent: SentCredentials) -> AuthenticatedCaller | Refusal:
        """`local`, or why the request is nobody's."""
        if self.is_token(sent.bearer):
            return _LOCAL
        if self._token is None:
            if not sent.is_local:
                return "not_local"
            return "foreign_page" if sent.is_foreign_page else _LOCAL
        return self._by_session(sent.cookies) or ("wrong_token" if sent.bearer else "no_token")

    async def identify_again(self, credential: str) -> AuthenticatedCaller | None:
        """`local`, who has no credential that ends."""
        return None if credential else _LOCAL

    async def redeem(self, ticket: str, *, origin: str | None) -> AuthenticatedCaller | None:
        """None: without a board there is no ticket."""
        del ticket, origin
        return None

    def watch(self, listener: Callable[[], None]) -> None:
        """Nothing changes what `local` may do."""
        del listener

    def is_token(self, bearer: str | None) -> bool:
        """Whether this is the token of the server, or that of its start."""
        given, token = (bearer or "").encode("latin-1"), self._token or b""
        is_servers = bool(token) and hmac.compare_digest(given, token)
        return is_servers or self.is_start_token(bearer)

    def is_start_token(self, bearer: str | None) -> bool:
        """Whether this is the token of this start of the server."""
        given = (bearer or "").encode("latin-1")
        return bool(self._start_token) and hmac.compare_digest(given, self._start_token)

    def _by_session(self, cookies: tuple[str, ...]) -> AuthenticatedCaller | None:
        """The caller of a session; an odd cookie, or one of the same name, hides none."""
        sessions = self._sessions
        found = (sessions.read(cookie) for cookie in cookies if sessions is not None)
        session = next((session for session in found if session is not None), None)
        return None if session is None else AuthenticatedCaller(principal=LOCAL, session=session)


class BoardCallers:
    """The `Authenticator` of a board: by the server's token until accounts begin, then by these.

    From then on the token of a start makes one-time links, and nothing else.

    Args:
        board: The board, which may not be open yet.
        by_token: Names `local`.
    """

    def __init__(self, board: Pegboard, by_token: TokenCallers) -> None:
        self._board = board
        self._by_token = by_token

    @property
    def has_accounts(self) -> bool:
        """Whether accounts have begun."""
        return self._board.is_open and self._board.identity.has_accounts

    async def identify(self, sent: SentCredentials) -> AuthenticatedCaller | Refusal:
        """The caller, or why there is none.

        Raises:
            Unavailable: The accounts cannot be read.
        """
        if not self.has_accounts:
            return await self._by_token.identify(sent)
        if sent.makes_link and self._by_token.is_start_token(sent.bearer):
            return _LOCAL
        found = await self._board.identity.callers.identify(sent)
        if isinstance(found, AuthenticatedCaller):
            return found
        if sent.bearer is not None and is_key(sent.bearer):  # a server without a token takes any
            return found
        was = await self._by_token.identify(sent)
        if not isinstance(was, AuthenticatedCaller):
            return found
        if was.session is not None or self._by_token.is_token(sent.bearer):
            return "accounts"
        return found if sent.bearer else "sign_in"  # without a token, each local caller was let in

    async def identify_again(self, credential: str) -> AuthenticatedCaller | None:
        """The caller of a request that is in progress; `local` until accounts begin.

        Raises:
            Unavailable: The accounts cannot be read.
        """
        if credential:
            return await self._board.identity.callers.identify_again(credential)
        return None if self.has_accounts else _LOCAL

    async def redeem(self, ticket: str, *, origin: str | None) -> AuthenticatedCaller | None:
        """The caller of a WebSocket's ticket, which is used up; None if it is not valid.

        Raises:
            Unavailable: The tickets cannot be read.
        """
        if not self._board.is_open:
            return None
        credential = await self._board.identity.tickets.redeem(ticket, origin=origin)
        return None if credential is None else await self.identify_again(credential)

    def watch(self, listener: Callable[[], None]) -> None:
        """Call a listener whenever rights may have changed."""
        if self._board.is_open:
            self._board.identity.callers.watch(listener)
