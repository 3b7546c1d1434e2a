"""Sign-in of browsers: a signed cookie in exchange for the server's token."""

import hmac
import secrets
import time
from base64 import urlsafe_b64encode
from collections.abc import Callable

from pegboard.core.ports.authenticator import BrowserSession

COOKIE = "pegboard_session"
CSRF_HEADER = "x-pegboard-csrf"
LIFETIME = 7 * 24 * 3600.0
"""Seconds from sign-in until a session expires."""

_MAX_LENGTH = 200


class BrowserSessions:
    """Makes and checks sessions; they are signed and not stored, and so outlive a restart.

    ```python
    sessions = BrowserSessions("the server's token")
    session = sessions.begin()
    sessions.read(session.cookie)  # the session; None once it has ended or expired
    ```

    A session is valid on all servers with the same token. One that is ended stays invalid on this
    server alone, until it expires: the browser has deleted its cookie then.

    Args:
        token: The server's token, from which the key is derived: a new token ends all sessions.
        lifetime: Seconds until a session expires.
        now: The wall clock.
    """

    def __init__(
        self,
        token: str,
        *,
        lifetime: float = LIFETIME,
        now: Callable[[], float] = time.time,
    ) -> None:
        self._key = hmac.digest(token.encode(), b"pegboard browser session", "sha256")
        self.lifetime = lifetime
        self._now = now
        self._ended: dict[str, float] = {}

    def begin(self) -> BrowserSession:
        """Make a session."""
        expires = int(self._now() + self.lifetime)
        head = f"{expires}.{secrets.token_urlsafe(18)}"
        return self._session(f"{head}.{self._sign('cookie', head)}", expires)

    def read(self, cookie: str) -> BrowserSession | None:
        """The session of a cookie; None if it is forged, has expired or was ended."""
        head, _, signature = cookie.rpartition(".")
        if len(cookie) > _MAX_LENGTH or not cookie.isascii():
            return None
        if not hmac.compare_digest(signature, self._sign("cookie", head)):
            return None
        expires = int(head.partition(".")[0])
        if expires <= self._now() or cookie in self._ended:
            return None
        return self._session(cookie, expires)

    def end(self, session: BrowserSession) -> None:
        """End a session."""
        now = self._now()
        self._ended = {key: until for key, until in self._ended.items() if until > now}
        self._ended[session.cookie] = session.expires

    def _session(self, cookie: str, expires: int) -> BrowserSession:
        return BrowserSession(cookie=cookie, csrf=self._sign("csrf", cookie), expires=expires)

    def _sign(self, purpose: str, text: str) -> str:
        digest = hmac.digest(self._key, f"{purpose}:{text}".encode(), "sha256")
        return urlsafe_b64encode(digest).decode().rstrip("=")
