"""Gets OAuth 2 tokens through the board's HTTP client."""

import json
from base64 import b64encode
from collections.abc import Callable, Mapping, Sequence
from hashlib import sha256
from typing import Any, cast
from urllib.parse import quote, urlencode

from pegboard.core.ports.accounts.credentials import (
    AccountIdentity,
    OAuthSettings,
    TokenAnswer,
    TokenRefusal,
)
from pegboard.core.ports.http import HttpClient, HttpRequest, HttpResponse
from pegboard.errors import PegboardError, Unavailable

TIMEOUT = 15.0
"""Seconds for one request; a claim to refresh lasts longer."""
_MAX_BYTES = 256 * 1024
_REFUSALS = frozenset({"invalid_grant", "invalid_client", "unauthorized_client", "invalid_scope"})
_SYNONYMS = {
    "bad_refresh_token": "invalid_grant",
    "bad_verification_code": "invalid_grant",
    "incorrect_client_credentials": "invalid_client",
}
"""What GitHub answers, with the status 200, for the errors of RFC 6749."""
_NAMES = ("preferred_username", "login", "email", "name", "sub", "id")
_SUBJECTS = ("sub", "id")
_MAX_NAME = 200
_MAX_SCOPE = 2_000


class HttpTokenEndpoint:
    """The `TokenEndpoint` of a board.

    Args:
        http: The board's guarded client; asked at each request.
    """

    def __init__(self, http: Callable[[], HttpClient | None]) -> None:
        self._http = http

    async def exchange_code(
        self, settings: OAuthSettings, *, code: str, verifier: str, redirect_uri: str
    ) -> TokenAnswer | TokenRefusal:
        """The tokens of a consent.

        Raises:
            Unavailable: It cannot be reached, or fails.
        """
        form = {
            "grant_type": "authorization_code",
            "code": code,
            "code_verifier": verifier,
            "redirect_uri": redirect_uri,
        } | _resource_of(settings)
        return await self._request(settings, form, settings.client_id, settings.client_secret)

    async def refresh(
        self, settings: OAuthSettings, *, refresh_token: str
    ) -> TokenAnswer | TokenRefusal:
        """New tokens for a consent that stands.

        Raises:
            Unavailable: It cannot be reached, or fails.
        """
        form = {"grant_type": "refresh_token", "refresh_token": refresh_token}
        form |= _resource_of(settings)
        return await self._request(settings, form, settings.client_id, settings.client_secret)

    async def request_for_client(
        self, settings: OAuthSettings, *, client_id: str, client_secret: str
    ) -> TokenAnswer | TokenRefusal:
        """A token for a client itself.

        Raises:
            Unavailable: It cannot be reached, or fails.
        """
        form = {"grant_type": "client_credentials"}
        if settings.scopes:
            form["scope"] = " ".join(settings.scopes)
        return await self._request(settings, form, client_id, client_secret)

    async def identify(self, settings: OAuthSettings, *, access_token: str) -> AccountIdentity:
        """The account of a token, as far as the system tells it."""
        if not settings.userinfo_url:
            return AccountIdentity()
        request = HttpRequest(
            method="GET",
            url=settings.userinfo_url,
            headers={"authorization": f"Bearer {access_token}", "accept": "application/json"},
            timeout=TIMEOUT,
            max_bytes=_MAX_BYTES,
            follow_redirects=False,
        )
        try:
            response = await self._send(request)
        except PegboardError:  # the connection works without it
            return AccountIdentity()
        if not 200 <= response.status < 300:
            return AccountIdentity()
        about = _json_of(response)
        name, subject = _first_text(about, _NAMES)[:_MAX_NAME], _first_text(about, _SUBJECTS)
        return AccountIdentity(
            name=name if name.isprintable() else "",
            subject=sha256(subject.encode("utf-8", "surrogatepass")).hexdigest() if subject else "",
        )

    async def _request(
        self, settings: OAuthSettings, form: Mapping[str, str], client_id: str, client_secret: str
    ) -> TokenAnswer | TokenRefusal:
        headers = {
            "content-type": "application/x-www-form-urlencoded",
            "accept": "application/json",
        }
        body = dict(form)
        if client_secret and settings.posts_secret:
            body |= {"client_id": client_id, "client_secret": client_secret}
        elif client_secret:  # RFC 6749, section 2.3.1: both parts are form-encoded first
            pair = f"{quote(client_id, safe='')}:{quote(client_secret, safe='')}"
            headers["authorization"] = f"Basic {b64encode(pair.encode()).decode()}"
        else:
            body["client_id"] = client_id
        request = HttpRequest(
            method="POST",
            url=settings.token_url,
            headers=headers,
            content=urlencode(body).encode(),
            timeout=TIMEOUT,
            max_bytes=_MAX_BYTES,
            follow_redirects=False,
        )
        return _read_tokens(await self._send(request))

    async def _send(self, request: HttpRequest) -> HttpResponse:
        http = self._http()
        if http is None:
            raise Unavailable("This board has no network.", nothing_done=True, permanent=True)
        return await http.send(request)


def _first_text(about: Mapping[str, Any], names: Sequence[str]) -> str:
    told = (about.get(name) for name in names)
    return next((str(it) for it in told if it and isinstance(it, str | int)), "")


def _resource_of(settings: OAuthSettings) -> dict[str, str]:
    return {"resource": settings.resource} if settings.resource else {}


def _read_tokens(response: HttpResponse) -> TokenAnswer | TokenRefusal:
    about = _json_of(response)
    error = about.get("error")
    if isinstance(error, str) and response.status < 500:
        error = _SYNONYMS.get(error, error)
        if error in _REFUSALS:
            return TokenRefusal(error=error)
    if not 200 <= response.status < 300:
        is_lasting = 400 <= response.status < 500 and response.status not in {408, 425, 429}
        raise Unavailable(
            f"The authorization server answered {response.status}.", permanent=is_lasting
        )
    token, kind = about.get("access_token"), str(about.get("token_type", "bearer"))
    if not isinstance(token, str) or not token or not _is_sendable(token):
        raise Unavailable("The authorization server answered without an access token.")
    if kind.lower() != "bearer":
        raise Unavailable("The authorization server gives no bearer tokens.", permanent=True)
    scope = about.get("scope")
    refresh, seconds = about.get("refresh_token"), about.get("expires_in")
    return TokenAnswer(
        access_token=token,
        refresh_token=refresh if isinstance(refresh, str) else "",
        lifetime=_read_seconds(seconds),
        scopes=tuple(scope[:_MAX_SCOPE].split()) if isinstance(scope, str) else (),
    )


def _read_seconds(value: object) -> float | None:
    try:
        seconds = float(cast("Any", value))
    except (TypeError, ValueError):
        return None
    return seconds if 0 <= seconds < 10**9 else None


def _is_sendable(token: str) -> bool:
    return token.isascii() and token.isprintable() and " " not in token


def _json_of(response: HttpResponse) -> Mapping[str, Any]:
    try:
        value = json.loads(response.content)
    except (ValueError, RecursionError):
        return {}
    return cast("Mapping[str, Any]", value) if isinstance(value, dict) else {}
