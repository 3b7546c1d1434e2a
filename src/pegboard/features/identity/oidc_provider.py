"""An OpenID Connect provider: its addresses, its keys, and its tokens checked.

https://openid.net/specs/openid-connect-core-1_0.html, RFC 7636 (PKCE), RFC 9207 (`iss`).
"""

import logging
import re
from base64 import urlsafe_b64encode
from collections.abc import Callable, Mapping
from hashlib import sha256
from types import MappingProxyType
from typing import Any, cast
from urllib.parse import urlencode, urlsplit

from msgspec import DecodeError, Struct, convert, json, structs

from pegboard.core.ports.http import HttpClient, HttpRequest
from pegboard.errors import InvalidRequest, SignInRefused, Unavailable

_LOG = logging.getLogger("pegboard.identity")
_FAILED = "identity: a sign-in through the identity provider failed"
_ERROR = re.compile(r"[a-z_]{1,60}")

ALGORITHMS = ("RS256", "PS256", "ES256", "EdDSA")
"""Algorithms of a signature; never those of a shared secret, nor none."""

_KEPT = 600.0
_LOOK_AGAIN = 10.0
_LEEWAY = 30.0
_MAX_BYTES = 1_000_000
_NO_HEADERS: Mapping[str, str] = MappingProxyType({})


class OidcSettings(Struct, frozen=True, kw_only=True):
    """How people sign in at an identity provider.

    Attributes:
        issuer: The provider's address.
        domains: Whose verified e-mail addresses may make an account; empty for any.
        organisation: That newcomers ask to join; empty to let in nobody new.
    """

    issuer: str
    client_id: str
    client_secret: str = ""
    domains: tuple[str, ...] = ()
    organisation: str = ""


class OidcMetadata(Struct, frozen=True, kw_only=True):
    """What the provider says of itself."""

    issuer: str
    authorization_endpoint: str
    token_endpoint: str
    jwks_uri: str
    userinfo_endpoint: str | None = None
    authorization_response_iss_parameter_supported: bool = False
    token_endpoint_auth_methods_supported: tuple[str, ...] = ("client_secret_basic",)


class SignedInPerson(Struct, frozen=True, kw_only=True):
    """The person who has signed in, as the provider's token names them.

    Attributes:
        claims: Those of the token, which the provider has signed.
        access_token: To ask the provider for further claims; empty for none.
    """

    claims: Mapping[str, Any]
    access_token: str = ""

    def __repr__(self) -> str:
        """Without the token."""
        return f"SignedInPerson(subject={self.claims.get('sub')!r})"


class OidcProvider:
    """Asks one provider; every answer is foreign.

    Args:
        settings: The client that Pegboard is there.
        http: The guarded client.
        monotonic: Seconds that only grow.
    """

    def __init__(
        self, settings: OidcSettings, http: HttpClient, *, monotonic: Callable[[], float]
    ) -> None:
        self.settings = settings
        self._http = http
        self._monotonic = monotonic
        self._metadata: OidcMetadata | None = None
        self._keys: Mapping[str, Any] = {}
        self._read_at = 0.0
        self._keys_at = float("-inf")

    async def read_metadata(self) -> OidcMetadata:
        """The addresses of the provider, read again after some minutes.

        Raises:
            Unavailable: It cannot be reached, or its answer is not that of this issuer.
        """
        now = self._monotonic()
        if self._metadata is not None and now < self._read_at + _KEPT:
            return self._metadata
        issuer = self.settings.issuer
        url = f"{issuer.rstrip('/')}/.well-known/openid-configuration"
        found = await self._get(url)
        try:
            metadata = convert(found, OidcMetadata)
        except ValueError as error:
            raise Unavailable("The identity provider describes itself wrongly.") from error
        places = [metadata.authorization_endpoint, metadata.token_endpoint, metadata.jwks_uri]
        if metadata.issuer != issuer:
            raise Unavailable(
                f"The identity provider's name of itself is '{metadata.issuer[:200]}', and "
                f"PEGBOARD_OIDC_ISSUER is '{issuer}': they must be the same."
            )
        if not all(is_safe_address(place) for place in places):
            raise Unavailable("The identity provider has an address that is not https.")
        if metadata.userinfo_endpoint and not is_safe_address(metadata.userinfo_endpoint):
            _LOG.warning("identity: the UserInfo endpoint is not asked, since it is not https")
            metadata = structs.replace(metadata, userinfo_endpoint=None)
        self._metadata, self._read_at = metadata, now
        return metadata

    def authorization_url(
        self, metadata: OidcMetadata, *, redirect: str, state: str, nonce: str, verifier: str
    ) -> str:
        """Where a browser signs in."""
        query = {
            "response_type": "code",
            "client_id": self.settings.client_id,
            "redirect_uri": redirect,
            "scope": "openid email profile",
            "state": state,
            "nonce": nonce,
            "code_challenge": _encode(sha256(verifier.encode()).digest()),
            "code_challenge_method": "S256",
        }
        joint = "&" if urlsplit(metadata.authorization_endpoint).query else "?"
        return f"{metadata.authorization_endpoint}{joint}{urlencode(query)}"

    async def exchange(
        self, metadata: OidcMetadata, code: str, *, redirect: str, verifier: str, nonce: str
    ) -> SignedInPerson:
        """The person who has signed in.

        Raises:
            SignInRefused: The code is not valid, or its token is not for this sign-in.
            Unavailable: The provider cannot be reached.
        """
        form = {
            "grant_type": "authorization_code",
            "code": code,
            "redirect_uri": redirect,
            "code_verifier": verifier,
        }
        tokens = await self._post_form(metadata, form)
        claims = await self._verify(metadata, str(tokens["id_token"]))
        if claims.get("nonce") != nonce:
            raise SignInRefused("The identity provider's token is not for this sign-in.")
        access = tokens.get("access_token")
        return SignedInPerson(claims=claims, access_token=access if isinstance(access, str) else "")

    async def read_claims(
        self, metadata: OidcMetadata, person: SignedInPerson
    ) -> Mapping[str, Any]:
        """The claims of a person with those that the token leaves out.

        Providers may tell name and e-mail address at the UserInfo endpoint alone (OpenID Connect
        Core, 5.4). Where that does not answer, the claims of the token have to do.

        Raises:
            SignInRefused: The endpoint answers about another person.
        """
        claims, url = person.claims, metadata.userinfo_endpoint
        if "email" in claims or not (url and person.access_token):
            return claims
        headers = {"authorization": f"Bearer {person.access_token}", "accept": "application/json"}
        try:
            told = await self._get(url, headers=headers, follow_redirects=False)
        except Unavailable as error:
            _LOG.warning("identity: the UserInfo endpoint has told nothing: %s", error)
            return claims
        if told.get("sub") != claims["sub"]:
            raise SignInRefused("The identity provider has told about another person.")
        # who names the address says whether it is verified
        signed = {name: it for name, it in claims.items() if name != "email_verified"}
        return {**told, **signed}

    async def _verify(self, metadata: OidcMetadata, token: str) -> Mapping[str, Any]:
        import jwt

        try:
            header = jwt.get_unverified_header(token)
            if str(header.get("typ", "JWT")).upper() != "JWT":
                raise SignInRefused("The identity provider's token is not valid.")
            key = await self._find_key(metadata, str(header.get("kid", "")))
            claims: dict[str, Any] = jwt.decode(
                token,
                key,
                algorithms=list(ALGORITHMS),
                audience=self.settings.client_id,
                issuer=metadata.issuer,
                leeway=_LEEWAY,
                options={"require": ["exp", "iat", "iss", "aud", "sub"]},
            )
        except jwt.PyJWTError as error:
            _LOG.warning("%s: %s", _FAILED, error)
            raise SignInRefused("The identity provider's token is not valid.") from error
        is_for_several = (
            isinstance(claims["aud"], list) and len(cast("list[Any]", claims["aud"])) > 1
        )
        party = claims.get("azp", "" if is_for_several else self.settings.client_id)
        if party != self.settings.client_id or not claims["sub"]:
            raise SignInRefused("The identity provider's token is not for this server.")
        return claims

    async def _find_key(self, metadata: OidcMetadata, name: str) -> Any:
        kept = _KEPT if name in self._keys else _LOOK_AGAIN
        if self._monotonic() >= self._keys_at + kept:
            import jwt

            self._keys_at = self._monotonic()
            found = jwt.PyJWKSet.from_dict(dict(await self._get(metadata.jwks_uri)))
            self._keys = {key.key_id or "": key for key in found.keys}
        if name not in self._keys:
            raise SignInRefused("The identity provider's token has a key that it does not publish.")
        return self._keys[name]

    async def _post_form(
        self, metadata: OidcMetadata, form: Mapping[str, str]
    ) -> Mapping[str, Any]:
        headers = {
            "content-type": "application/x-www-form-urlencoded",
            "accept": "application/json",
        }
        fields = {**form, "client_id": self.settings.client_id}
        secret = self.settings.client_secret
        if secret and "client_secret_basic" in metadata.token_endpoint_auth_methods_supported:
            headers["authorization"] = _basic(self.settings.client_id, secret)
        elif secret:
            fields["client_secret"] = secret
        response = await self._http.send(
            HttpRequest(
                method="POST",
                url=metadata.token_endpoint,
                headers=headers,
                content=urlencode(fields).encode(),
                max_bytes=_MAX_BYTES,
                follow_redirects=False,
                upstream="oidc",
            )
        )
        if response.status >= 500:
            raise Unavailable(f"The identity provider answered {response.status}.")
        found = _read_object(response.content)
        if response.status != 200 or not isinstance(found.get("id_token"), str):
            _LOG.warning("%s: %s", _FAILED, _describe_refusal(response.status, found))
            raise SignInRefused("The identity provider has refused the sign-in.")
        return found

    async def _get(
        self, url: str, *, headers: Mapping[str, str] = _NO_HEADERS, follow_redirects: bool = True
    ) -> Mapping[str, Any]:
        request = HttpRequest(
            method="GET",
            url=url,
            headers=headers,
            max_bytes=_MAX_BYTES,
            follow_redirects=follow_redirects,
            upstream="oidc",
        )
        try:
            response = await self._http.send(request)
        except InvalidRequest as error:
            raise Unavailable("The identity provider's address is refused.") from error
        found = _read_object(response.content)
        if response.status != 200 or not found:
            raise Unavailable(f"The identity provider answered {response.status}.")
        return found


def is_safe_address(url: str) -> bool:
    """Whether an address is https, or of this machine."""
    parts = urlsplit(url)
    is_here = parts.hostname in {"localhost", "127.0.0.1", "::1"}
    return parts.scheme == "https" or (parts.scheme == "http" and is_here)


def _read_object(content: bytes) -> Mapping[str, Any]:
    try:
        found = json.decode(content)
    except DecodeError:
        return {}
    return cast("dict[str, Any]", found) if isinstance(found, dict) else {}


def _describe_refusal(status: int, found: Mapping[str, Any]) -> str:
    """Why there is no token, in no words that could repeat what was sent."""
    error = found.get("error")
    if isinstance(error, str) and _ERROR.fullmatch(error):
        return error
    return "it answers without an ID token" if status == 200 else f"it answers {status}"


def _basic(name: str, secret: str) -> str:
    from base64 import b64encode
    from urllib.parse import quote

    text = f"{quote(name, safe='')}:{quote(secret, safe='')}"
    return f"Basic {b64encode(text.encode()).decode()}"


def _encode(data: bytes) -> str:
    return urlsafe_b64encode(data).decode().rstrip("=")
