"""Finds the authorization server of a protected server, and makes this board known there.

RFC 9728 (metadata of the protected server), RFC 8414 and OpenID Connect Discovery (metadata of the
authorization server), RFC 7591 (registration), and client id metadata documents, as MCP
authorization has them.
"""

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, cast
from urllib.parse import urlsplit

from pegboard.core.oauth_challenge import read_challenge
from pegboard.core.ports.accounts.credentials import OAuthSettings
from pegboard.core.ports.http import HttpClient, HttpRequest, HttpResponse
from pegboard.errors import PegboardError, Unavailable

TIMEOUT = 15.0
_MAX_BYTES = 256 * 1024
_MAX_CLIENTS = 1_000
_PROBE = b'{"jsonrpc":"2.0","id":1,"method":"ping"}'


class HttpOAuthDiscovery:
    """The `OAuthDiscovery` of a board.

    Args:
        http: The board's guarded client; asked at each request.
    """

    def __init__(self, http: Callable[[], HttpClient | None]) -> None:
        self._http = http
        self._clients: dict[tuple[str, str], tuple[str, str]] = {}

    async def discover(
        self,
        settings: OAuthSettings,
        *,
        redirect_uri: str,
        document: str = "",
        scopes: Sequence[str] = (),
    ) -> OAuthSettings:
        """The settings of the authorization server that a protected server names.

        Raises:
            Unavailable: A server cannot be reached, or its metadata cannot be used.
        """
        asked, resource, issuer = await self._read_named(settings.server)
        metadata = await self._read_server(issuer)
        wanted = settings.scopes or tuple(asked.get("scope", "").split())
        wanted = wanted or _texts(resource.get("scopes_supported"))
        if "offline_access" in _texts(metadata.get("scopes_supported")):
            wanted = (*wanted, "offline_access")
        found = replace(
            settings,
            authorization_url=str(metadata["authorization_endpoint"]),
            token_url=str(metadata["token_endpoint"]),
            issuer=str(metadata["issuer"]),
            requires_issuer=metadata.get("authorization_response_iss_parameter_supported") is True,
            resource=str(resource.get("resource") or settings.server),
            scopes=tuple(dict.fromkeys((*wanted, *scopes))),
            posts_secret=_posts_secret(metadata),
        )
        if found.client_id:
            return found
        if document and metadata.get("client_id_metadata_document_supported") is True:
            return replace(found, client_id=document)
        client_id, secret = await self._register(found, metadata, redirect_uri)
        return replace(found, client_id=client_id, client_secret=secret, is_registered=True)

    def forget(self, client_id: str) -> None:
        """Register another client where this one was registered."""
        self._clients = {key: it for key, it in self._clients.items() if it[0] != client_id}

    async def find_issuer(self, server: str) -> str:
        """The authorization server that a protected server names now.

        Raises:
            Unavailable: The server cannot be reached, or its metadata cannot be used.
        """
        _, _, issuer = await self._read_named(server)
        return issuer.rstrip("/")

    async def _read_named(self, server: str) -> tuple[Mapping[str, str], Mapping[str, Any], str]:
        """The challenge of a server, its metadata, and the authorization server that it names."""
        asked = await self._ask_for_challenge(server)
        resource = await self._read_resource(server, asked.get("resource_metadata", ""))
        issuer = _first_text(resource.get("authorization_servers")) or _origin_of(server)
        return asked, resource, issuer

    async def _ask_for_challenge(self, server: str) -> Mapping[str, str]:
        """The parameters of the challenge to a request without a token."""
        headers = {
            "accept": "application/json, text/event-stream",
            "content-type": "application/json",
        }
        answer = await self._send("POST", server, headers=headers, content=_PROBE)
        return read_challenge(answer.headers.get("www-authenticate", ""))

    async def _read_resource(self, server: str, named: str) -> Mapping[str, Any]:
        """The metadata of the protected server; empty where it has none."""
        for url in filter(None, (named, *_resource_urls(server))):
            found = await self._get_json(url)
            if found is None:
                continue
            resource = found.get("resource")
            if not (isinstance(resource, str) and _covers(resource, server)):
                raise _unusable(server, "its metadata is of another server")
            return found
        return {}

    async def _read_server(self, issuer: str) -> Mapping[str, Any]:
        """The metadata of an authorization server, which must be its own."""
        for url in _server_urls(issuer):
            found = await self._get_json(url)
            if found is None:
                continue
            if found.get("issuer") not in (issuer, f"{issuer}/", issuer.rstrip("/")):
                raise _unusable(issuer, "its metadata is of another issuer")
            for name in ("authorization_endpoint", "token_endpoint"):
                if not _is_address(found.get(name)):
                    raise _unusable(issuer, f"its metadata has no usable {name}")
            if "S256" not in _texts(found.get("code_challenge_methods_supported")):
                raise _unusable(issuer, "it does not support PKCE with S256")
            return found
        raise _unusable(issuer, "it has no metadata")

    async def _register(
        self, found: OAuthSettings, metadata: Mapping[str, Any], redirect_uri: str
    ) -> tuple[str, str]:
        """Register a client, once for each issuer and redirect URI."""
        key = (found.issuer, redirect_uri)
        if key in self._clients:
            return self._clients[key]
        endpoint = metadata.get("registration_endpoint")
        if not _is_address(endpoint):
            raise _unusable(
                found.issuer, "it registers no clients: configure a client_id in `auth`"
            )
        methods = _texts(metadata.get("token_endpoint_auth_methods_supported"))
        method = "client_secret_post" if _posts_secret(metadata) else "client_secret_basic"
        method = "none" if "none" in methods else method
        body = {
            "client_name": "Pegboard",
            "application_type": "web" if redirect_uri.startswith("https://") else "native",
            "redirect_uris": [redirect_uri],
            "grant_types": ["authorization_code", "refresh_token"],
            "response_types": ["code"],
            "token_endpoint_auth_method": method,
        }
        headers = {"accept": "application/json", "content-type": "application/json"}
        content = json.dumps(body).encode()
        answer = await self._send("POST", str(endpoint), headers=headers, content=content)
        about = _read_object(answer)
        if not 200 <= answer.status < 300 or not isinstance(about.get("client_id"), str):
            raise _unusable(found.issuer, f"it refuses to register a client ({answer.status})")
        client = (str(about["client_id"]), str(about.get("client_secret") or ""))
        if len(self._clients) >= _MAX_CLIENTS:
            self._clients.clear()
        self._clients[key] = client
        return client

    async def _get_json(self, url: str) -> Mapping[str, Any] | None:
        """The object at an address; None where there is none."""
        answer = await self._send("GET", url, headers={"accept": "application/json"})
        if answer.status >= 500:
            raise _unusable(url, f"it answers {answer.status}")
        return (_read_object(answer) or None) if 200 <= answer.status < 300 else None

    async def _send(
        self, method: str, url: str, *, headers: Mapping[str, str], content: bytes | None = None
    ) -> HttpResponse:
        http = self._http()
        if http is None:
            raise Unavailable("This board has no network.", nothing_done=True, permanent=True)
        request = HttpRequest(
            method=method,
            url=url,
            headers=headers,
            content=content,
            timeout=TIMEOUT,
            max_bytes=_MAX_BYTES,
            follow_redirects=False,
        )
        try:
            return await http.send(request)
        except PegboardError as error:
            raise Unavailable(
                f"'{url[:200]}' cannot be asked for its login: {error.message}",
                retry_after=error.retry_after,
                nothing_done=True,
            ) from error


def _resource_urls(server: str) -> Iterator[str]:
    origin, path = _origin_of(server), urlsplit(server).path.rstrip("/")
    if path:
        yield f"{origin}/.well-known/oauth-protected-resource{path}"
    yield f"{origin}/.well-known/oauth-protected-resource"


def _server_urls(issuer: str) -> Iterator[str]:
    origin, path = _origin_of(issuer), urlsplit(issuer).path.rstrip("/")
    yield f"{origin}/.well-known/oauth-authorization-server{path}"
    yield f"{origin}/.well-known/openid-configuration{path}"
    if path:
        yield f"{issuer.rstrip('/')}/.well-known/openid-configuration"


def _covers(resource: str, server: str) -> bool:
    """Whether a resource is a server, or the whole of which it is a part."""
    inner = urlsplit(server).path.rstrip("/")
    outer = urlsplit(resource).path.rstrip("/")
    is_within = inner == outer or inner.startswith(f"{outer}/")
    return _origin_of(resource) == _origin_of(server) and is_within


def _origin_of(url: str) -> str:
    try:
        parts = urlsplit(url)
        port = parts.port
    except ValueError:
        return ""
    host = parts.hostname or ""
    host = f"[{host}]" if ":" in host else host
    default = {"http": 80, "https": 443}.get(parts.scheme)
    return f"{parts.scheme}://{host}" + ("" if port in (None, default) else f":{port}")


def _is_address(value: object) -> bool:
    return isinstance(value, str) and urlsplit(value).scheme in {"http", "https"}


def _texts(value: object) -> tuple[str, ...]:
    if not isinstance(value, list):
        return ()
    return tuple(item for item in cast("list[object]", value) if isinstance(item, str))


def _posts_secret(metadata: Mapping[str, Any]) -> bool:
    """Whether a server takes the secret of a client in the form alone."""
    methods = _texts(metadata.get("token_endpoint_auth_methods_supported"))
    return "client_secret_post" in methods and "client_secret_basic" not in methods


def _first_text(value: object) -> str:
    return next(iter(_texts(value)), "")


def _read_object(response: HttpResponse) -> Mapping[str, Any]:
    try:
        found = json.loads(response.content)
    except (ValueError, RecursionError):
        return {}
    return cast("Mapping[str, Any]", found) if isinstance(found, dict) else {}


def _unusable(what: str, why: str) -> Unavailable:
    return Unavailable(
        f"The login of '{what[:200]}' cannot be used: {why}.", nothing_done=True, permanent=True
    )
