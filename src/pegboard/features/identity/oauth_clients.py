"""Clients of our OAuth: those that describe themselves at an address, and those that registered.

https://datatracker.ietf.org/doc/draft-ietf-oauth-client-id-metadata-document/, RFC 7591, RFC 8252.
"""

from collections.abc import Mapping
from typing import Any, cast
from urllib.parse import SplitResult, urlsplit

from msgspec import DecodeError, Struct, convert, json

from pegboard.core.ports.accounts.identity_store import TemporaryRecord
from pegboard.core.ports.http import HttpClient, HttpRequest
from pegboard.errors import InvalidRequest, PegboardError
from pegboard.features.display_text import clean_display_text
from pegboard.features.identity.parts import IdentityParts

REGISTRATION_LIFETIME = 90 * 24 * 3600.0
"""Seconds for which a client that has registered is known."""

_KIND = "oauth_client"
_KEPT = 600.0
_MAX_KEPT = 200
_MAX_BYTES = 64 * 1024
_MAX_REGISTRATIONS = 60
_MAX_FETCHES = 600
_MAX_FETCHES_OF_ADDRESS = 20
_FETCH_WINDOW = 60.0
_MAX_REDIRECTS = 20
_LOOPBACK = frozenset({"localhost", "127.0.0.1", "::1"})
_UNSAFE = frozenset(
    {
        *("about", "blob", "data", "file", "filesystem", "ftp", "intent", "jar", "javascript"),
        *("mailto", "search-ms", "sms", "tel", "vbscript", "view-source", "ws", "wss"),
    }
)
"""Schemes that lead to no app of the client."""


class OAuthClient(Struct, frozen=True, kw_only=True):
    """A program that people may let act for them: a public client, which has no secret.

    Attributes:
        id: Its address, or the id that it was given.
        name: As it calls itself; nobody has verified it.
        redirects: Where people may be sent back to.
    """

    id: str
    name: str
    redirects: tuple[str, ...]


class OAuthClients:
    """Finds clients.

    Args:
        parts: The store and the clock.
        http: The guarded client; None where no address is fetched.
        registration: Whether clients may register.
    """

    def __init__(
        self, parts: IdentityParts, http: HttpClient | None, *, registration: bool
    ) -> None:
        self.registration = registration
        self._parts = parts
        self._http = http
        self._known: dict[str, tuple[float, OAuthClient]] = {}

    async def find(
        self,
        id: str,  # noqa: A002 - it is known by its id
        *,
        asked_from: str = "",
    ) -> OAuthClient | None:
        """The client of an id; None if it is none, or does not describe itself as such.

        Args:
            id: Of the client.
            asked_from: Where the request comes from, for the limit; empty for a person who has
                signed in.

        Raises:
            Unavailable: The store cannot be read.
        """
        if is_client_address(id):
            return await self._find_address(id, asked_from)
        found = await self._parts.store.record(_KIND, id, at=self._parts.now())
        if found is None or not self.registration:
            return None
        return convert(found.body, OAuthClient)

    async def register(self, client: OAuthClient) -> None:
        """Store a client that has registered.

        Raises:
            InvalidRequest: Clients may not register, or it may not send people there.
            RateLimited: Too many have registered.
        """
        if not self.registration:
            raise InvalidRequest("Clients may not register (PEGBOARD_OAUTH_REGISTRATION).")
        check_redirects(client.redirects)
        now = self._parts.now()
        limits = {"oauth registration": _MAX_REGISTRATIONS}
        if await self._parts.store.count_attempt(limits, at=now, window=_FETCH_WINDOW):
            raise InvalidRequest("Too many clients register: try again later.")
        body = {
            "id": client.id,
            "name": clean_display_text(client.name)[:100] or client.id,
            "redirects": list(client.redirects),
        }
        expires_at = now + REGISTRATION_LIFETIME
        await self._parts.store.put_record(
            TemporaryRecord(kind=_KIND, id=client.id, expires_at=expires_at, body=body)
        )

    async def _find_address(self, url: str, asked_from: str) -> OAuthClient | None:
        now = self._parts.monotonic()
        known = self._known.get(url)
        if known is not None and now < known[0]:
            return known[1]
        limits, at = {"oauth client": _MAX_FETCHES}, self._parts.now()
        if asked_from:
            limits[f"oauth client of {asked_from}"] = _MAX_FETCHES_OF_ADDRESS
        is_late = await self._parts.store.count_attempt(limits, at=at, window=_FETCH_WINDOW)
        if self._http is None or is_late:
            return None
        request = HttpRequest(
            method="GET",
            url=url,
            headers={"accept": "application/json"},
            timeout=5.0,
            max_bytes=_MAX_BYTES,
            follow_redirects=False,
            upstream="oauth clients",
        )
        try:
            response = await self._http.send(request)
        except PegboardError:
            return None
        client = read_client(url, response.content) if response.status == 200 else None
        if client is not None:
            self._known[url] = (now + _KEPT, client)
            while len(self._known) > _MAX_KEPT:
                self._known.pop(next(iter(self._known)))
        return client


def is_client_address(id_: str) -> bool:
    """Whether the id of a client is an address where it describes itself."""
    parts = _split(id_)
    if parts is None:
        return False
    is_plain = not (parts.fragment or parts.username or parts.password)
    has_path = parts.path not in {"", "/"} and "/./" not in id_ and "/../" not in id_
    return parts.scheme == "https" and bool(parts.hostname) and is_plain and has_path


def read_client(url: str, content: bytes) -> OAuthClient | None:
    """The client that a document at an address describes; None if it is none of ours."""
    try:
        found: Any = json.decode(content)
    except DecodeError:
        return None
    document: Mapping[str, Any] = cast("dict[str, Any]", found) if isinstance(found, dict) else {}
    redirects: Any = document.get("redirect_uris")
    if document.get("client_id") != url or not isinstance(redirects, list):
        return None
    named = tuple(str(item) for item in cast("list[Any]", redirects))
    method = document.get("token_endpoint_auth_method", "none")
    try:
        check_redirects(named)
    except InvalidRequest:
        return None
    if method != "none" or "client_secret" in document:
        return None
    name = clean_display_text(str(document.get("client_name") or ""))[:100]
    return OAuthClient(id=url, name=name or str(urlsplit(url).hostname), redirects=named)


def check_redirects(redirects: tuple[str, ...]) -> None:
    """Check where a client wants people to be sent back to.

    Raises:
        InvalidRequest: There is none, or one is neither https, nor of this machine, nor of an app.
    """
    if not 0 < len(redirects) <= _MAX_REDIRECTS or not all(map(_is_allowed, redirects)):
        raise InvalidRequest(
            "A client sends people back to https addresses, to its own machine, or to an app."
        )


def matches_redirect(redirect: str, known: str) -> bool:
    """Whether a client has named a redirect; of one on the person's machine the port may differ."""
    if redirect == known:
        return True
    here, there = urlsplit(redirect), urlsplit(known)
    is_local = here.scheme == there.scheme == "http" and here.hostname in _LOOPBACK
    same = (here.hostname, here.path, here.query) == (there.hostname, there.path, there.query)
    return is_local and same and not here.username


def _is_allowed(redirect: str) -> bool:
    parts = _split(redirect)
    if (
        parts is None
        or parts.fragment
        or parts.username
        or parts.scheme in _UNSAFE
        or not parts.scheme
    ):
        return False
    if parts.scheme == "http":
        return parts.hostname in _LOOPBACK
    return parts.scheme != "https" or bool(parts.hostname)


def _split(url: str) -> SplitResult | None:
    """The parts of an address; None for a text that is none, as with half an IPv6 address."""
    try:
        return urlsplit(url)
    except ValueError:
        return None
