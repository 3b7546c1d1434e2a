"""Matches the configured credentials with the security requirements of operations.

A secret value never appears in an error, in a spec or in the `repr` of these objects.
"""

import base64
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Literal

from pydantic import SecretStr

from pegboard.core.credential import Secret
from pegboard.core.text.truncate import truncate
from pegboard.sources.openapi.auth import (
    ApiKeyCredential,
    Auth,
    BasicCredential,
    BearerCredential,
    CallerCredential,
    header_problem,
)
from pegboard.sources.openapi.config import OpenApiConfig
from pegboard.sources.openapi.document.lenient_access import Node, mapping, text
from pegboard.tools.call_headers import CallHeaders

_EMPTY = SecretStr("caller")  # never sent: a call fills its own in


@dataclass(frozen=True, slots=True, kw_only=True)
class CredentialPart:
    """One header, query parameter or cookie that carries a credential.

    Attributes:
        caller: How it sends the credential of the caller, which fills the value in; empty for one
            of the board.
    """

    location: str
    name: str
    value: str = field(repr=False)
    caller: Literal["", "bearer", "api_key", "basic"] = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class CredentialGrant:
    """The credentials that the requests of one operation carry.

    Attributes:
        name: The name of the credential; empty when there is none.
        problem: Which credential is missing; empty when the operation can be called.
    """

    parts: tuple[CredentialPart, ...] = ()
    name: str = ""
    problem: str = ""

    @property
    def takes_caller(self) -> bool:
        """Whether a call needs a credential of its caller."""
        return any(part.caller for part in self.parts)

    def fill(self, secret: Secret) -> tuple[CredentialPart, ...]:
        """The parts with the credential of a caller."""
        return tuple(
            replace(part, value=_write(part.caller, secret)) if part.caller else part
            for part in self.parts
        )


class ApiCredentials:
    """The credentials of one source.

    Args:
        schemes: The security schemes of the document, by name.
    """

    def __init__(self, source: str, config: OpenApiConfig, schemes: Mapping[str, Node]) -> None:
        self._source = source
        self._given = tuple(item for item in config.auth if item.kind != "none")
        self._on_purpose = any(item.kind == "none" for item in config.auth)
        self._schemes = schemes
        self.headers = CallHeaders(
            {name: value.get_secret_value() for name, value in config.headers.items()}
        )

    @property
    def secrets(self) -> tuple[str, ...]:
        """Every value that must be masked, also in the form in which it is sent."""
        parts = [part for auth in self._given if auth.kind != "caller" for part in _parts(auth, {})]
        values = [part.value.removeprefix("Basic ").removeprefix("Bearer ") for part in parts]
        values += [auth.password.get_secret_value() for auth in self._given if auth.kind == "basic"]
        values += self.headers.literals
        return tuple(value for value in dict.fromkeys(values) if len(value) >= 4)

    def grant(self, security: Sequence[object] | None) -> CredentialGrant:
        """Return the credentials for an operation with these requirements.

        Args:
            security: Alternatives, each naming schemes; None without requirements in the document.
        """
        if security is None:
            return _check_headers(self._grant_all())
        alternatives = [mapping(item) for item in security]
        anonymous = not alternatives or any(not item for item in alternatives)
        missing: list[str] = []
        for alternative in alternatives:
            found = self._match(alternative, missing)
            if alternative and found is not None:
                return _check_headers(found)
        if anonymous or self._on_purpose:
            return CredentialGrant()
        return CredentialGrant(
            problem=f"It needs a credential that the board does not have: {missing[0]}. Set auth "
            "in the source's config."
        )

    def _grant_all(self) -> CredentialGrant:
        parts = tuple(part for auth in self._given for part in _parts(auth, {}))
        return CredentialGrant(
            parts=parts, name=self._credential_name(*(auth.kind for auth in self._given))
        )

    def _match(self, alternative: Node, missing: list[str]) -> CredentialGrant | None:
        parts: list[CredentialPart] = []
        for name in alternative:
            scheme = self._schemes.get(name)
            if scheme is not None and self._has_header_for(scheme):
                continue
            auth = next((item for item in self._given if _fits(item, name, scheme)), None)
            if auth is None:
                missing.append(_describe_scheme(name, scheme))
                return None
            parts.extend(_parts(auth, scheme or {}))
        return CredentialGrant(parts=tuple(parts), name=self._credential_name(*alternative))

    def _has_header_for(self, scheme: Node) -> bool:
        name = _header_of(scheme)
        return bool(name) and name.lower() in {header.lower() for header in self.headers.names}

    def _credential_name(self, *names: str) -> str:
        return f"{self._source}/{'+'.join(names)}" if names else ""


def _check_headers(grant: CredentialGrant) -> CredentialGrant:
    """Return the grant, or a problem where the document names a header that cannot be sent."""
    for part in grant.parts:
        reason = header_problem(part.name) if part.location == "header" else ""
        if reason:
            return CredentialGrant(
                problem=f"Its key would go into the header '{truncate(part.name, 100)}': "
                f"{reason}. Set 'scheme', 'in' and 'name' of the api_key in auth to where the "
                "API reads it."
            )
    return grant


def _fits(auth: Auth, name: str, scheme: Node | None) -> bool:
    if auth.kind == "none":
        return False
    if auth.scheme:
        return auth.scheme in ("*", name)
    if scheme is None:
        return True  # the document does not describe the scheme
    kind, way = text(scheme.get("type")), text(scheme.get("scheme")).lower()
    is_header = _header_of(scheme).lower() == "authorization"
    match auth:
        case CallerCredential():
            return _fits(_shape(auth), name, scheme)
        case BearerCredential():
            return kind in ("oauth2", "openIdConnect") or (is_header and way != "basic")
        case BasicCredential():
            return is_header and way in ("", "basic")
        case ApiKeyCredential():
            return (
                kind == "apiKey"
                and auth.name.lower() in ("", text(scheme.get("name")).lower())
                and auth.location in (None, scheme.get("in"))
            )


def _header_of(scheme: Node) -> str:
    """Return the header that a scheme uses; empty if it uses none."""
    kind = scheme.get("type")
    if kind in ("http", "oauth2", "openIdConnect"):
        return "Authorization"
    return text(scheme.get("name")) if kind == "apiKey" and scheme.get("in") == "header" else ""


def _parts(auth: Auth, scheme: Node) -> tuple[CredentialPart, ...]:
    match auth:
        case CallerCredential():
            parts = _parts(_shape(auth), scheme)
            return tuple(replace(part, value="", caller=auth.sends) for part in parts)
        case BearerCredential():
            value = f"Bearer {auth.token.get_secret_value()}"
        case BasicCredential():
            pair = f"{auth.username}:{auth.password.get_secret_value()}"
            value = f"Basic {base64.b64encode(pair.encode()).decode()}"
        case ApiKeyCredential():
            is_key = scheme.get("type") == "apiKey"
            location = auth.location or (text(scheme.get("in")) if is_key else "") or "header"
            name = auth.name or (text(scheme.get("name")) if is_key else "") or "X-API-Key"
            return (
                CredentialPart(location=location, name=name, value=auth.key.get_secret_value()),
            )
        case _:
            return ()
    return (CredentialPart(location="header", name="Authorization", value=value),)


def _shape(auth: CallerCredential) -> Auth:
    """The credential of a board that is sent in the same way."""
    match auth.sends:
        case "bearer":
            return BearerCredential(kind="bearer", scheme=auth.scheme, token=_EMPTY)
        case "basic":
            return BasicCredential(kind="basic", scheme=auth.scheme, username="", password=_EMPTY)
        case "api_key":
            return ApiKeyCredential(
                kind="api_key",
                scheme=auth.scheme,
                key=_EMPTY,
                name=auth.name,
                location=auth.location,
            )


def _write(way: str, secret: Secret) -> str:
    """How a credential of a caller is sent."""
    if way == "bearer":
        return f"Bearer {secret.sent}"
    if way == "basic":
        pair = f"{secret.username}:{secret.value}"
        return f"Basic {base64.b64encode(pair.encode()).decode()}"
    return secret.sent


def _describe_scheme(name: str, scheme: Node | None) -> str:
    """Describe a scheme as the credential that an operator would write for it."""
    if scheme is None:
        return f"'{name}', which the document does not describe"
    kind, way = text(scheme.get("type")), text(scheme.get("scheme")).lower()
    if kind == "apiKey":
        return (
            f"'{name}', {{kind: api_key, in: {scheme.get('in')}, name: {scheme.get('name')}, "
            "key: ...}"
        )
    if kind in ("oauth2", "openIdConnect") or way == "bearer":
        return f"'{name}', {{kind: bearer, token: ...}}"
    if way == "basic":
        return f"'{name}', {{kind: basic, username: ..., password: ...}}"
    described = " ".join(word for word in (kind, way) if word) or "of no known kind"
    return f"'{name}' ({described}), which this source cannot send"
