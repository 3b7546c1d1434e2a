"""Builds the request of one call; only the operator and the document decide where it goes."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, cast
from urllib.parse import quote

from pegboard.errors import InvalidRequest
from pegboard.sources.openapi.call.arguments import ArgumentPlan
from pegboard.sources.openapi.call.credentials import CredentialPart
from pegboard.sources.openapi.call.parameter_styles import (
    serialize_cookie,
    serialize_header,
    serialize_path,
    serialize_query,
)
from pegboard.sources.openapi.call.request_bodies import encode_body
from pegboard.sources.openapi.document.server_urls import has_dot_segments

_IN_PATH = re.compile(r"\{([^{}/]+)\}")
_LITERAL = "/%-._~!$&'()*+,;=:@"


@dataclass(frozen=True, slots=True, kw_only=True)
class Route:
    """The destination of an operation's requests, and the headers sent with each.

    Attributes:
        base: Scheme, host and path prefix.
        path: The path template of the document, with `{names}`.
        headers: Headers of every request, without credentials.
        credential: The parts that carry the credential.
        accept: The `Accept` header.
    """

    method: str
    base: str
    path: str
    headers: Mapping[str, str] = field(default_factory=dict[str, str], repr=False)
    credential: tuple[CredentialPart, ...] = ()
    accept: str = "*/*"


@dataclass(frozen=True, slots=True, kw_only=True)
class OutgoingRequest:
    """A complete request. Its URL may hold a credential."""

    url: str = field(repr=False)
    headers: Mapping[str, str] = field(repr=False)
    content: bytes | None = None


def build_request(route: Route, plan: ArgumentPlan, given: Mapping[str, Any]) -> OutgoingRequest:
    """Build the request for these arguments.

    Raises:
        InvalidRequest: An argument cannot be serialized for its location.
    """
    values = {**plan.values, **given} if plan.values else given
    _check_names(given, plan, route.credential)
    path, query, headers, cookies = _parameters(route.path, plan, values)
    for part in route.credential:
        if part.location == "query":
            query.append(f"{quote(part.name, safe='')}={quote(part.value, safe='')}")
        elif part.location == "cookie":
            cookies.append(f"{part.name}={part.value}")
    content_type, content = _body(plan, values)
    sent = {"accept": route.accept, **headers}
    if content_type:
        sent["content-type"] = content_type
    sent |= {name.lower(): value for name, value in route.headers.items()}
    sent |= {one.name.lower(): one.value for one in route.credential if one.location == "header"}
    if cookies:
        sent["cookie"] = "; ".join(cookies)
    literal, _, literal_query = path.partition("?")
    pieces = [piece for piece in (literal_query, *query) if piece]
    url = f"{route.base}{literal}" + (f"?{'&'.join(pieces)}" if pieces else "")
    return OutgoingRequest(url=url, headers=sent, content=content)


def _check_names(
    given: Mapping[str, Any], plan: ArgumentPlan, credential: tuple[CredentialPart, ...]
) -> None:
    """Refuse objects whose keys, written as pairs, would set what only the operator may set.

    Raises:
        InvalidRequest: A key has the name of the credential or of a hidden argument.
    """
    for argument in plan.arguments:
        value, parameter = given.get(argument.name), argument.parameter
        if not (isinstance(value, Mapping) and parameter.explode and parameter.style == "form"):
            continue
        place, shown = parameter.location, plan.schema["properties"]
        kept = {part.name.lower() for part in credential if part.location == place}
        kept |= {
            one.parameter.name.lower()
            for one in plan.arguments
            if one.parameter.location == place and one.name not in shown
        }
        for name in cast("Mapping[str, Any]", value):
            if name.lower() in kept:
                raise InvalidRequest(f"'{argument.name}' must not have '{name[:100]}'.")


def _parameters(
    template: str, plan: ArgumentPlan, values: Mapping[str, Any]
) -> tuple[str, list[str], dict[str, str], list[str]]:
    in_template: dict[str, str] = {}
    query: list[str] = []
    headers: dict[str, str] = {}
    cookies: list[str] = []
    for argument in plan.arguments:
        value, parameter = values.get(argument.name), argument.parameter
        if value is None:
            continue
        match parameter.location:
            case "path":
                in_template[parameter.name] = serialize_path(parameter, value)
            case "query":
                query.extend(serialize_query(parameter, value))
            case "header":
                headers[parameter.name.lower()] = serialize_header(parameter, value)
            case _:
                cookies.extend(serialize_cookie(parameter, value))
    return _fill_path(template, in_template), query, headers, cookies


def _fill_path(template: str, values: Mapping[str, str]) -> str:
    """Fill the path template; each argument stays inside its segment."""

    def value_of(match: re.Match[str]) -> str:
        value = values.get(match[1], "")
        if not value:
            raise InvalidRequest(f"'{match[1]}' is part of the path and must not be empty.")
        return value

    path, mark, query = template.partition("#")[0].partition("?")
    made = ""
    for segment in path.split("/")[1:]:
        filled = _IN_PATH.sub(value_of, quote(segment, safe=_LITERAL + "{}"))
        made += "/" + filled.replace("{", "%7B").replace("}", "%7D")
        if filled != segment and has_dot_segments(filled):
            # servers decode first: an encoded `../` would leave its segment
            name = ", ".join(_IN_PATH.findall(segment))
            raise InvalidRequest(f"'{name}' must not have '.' or '..' as a part of a path.")
    return made + mark + quote(query, safe=_LITERAL + "?")


def _body(plan: ArgumentPlan, values: Mapping[str, Any]) -> tuple[str, bytes | None]:
    body = plan.body
    if body is None:
        return "", None
    if body.fields is None:
        if plan.body_argument not in values:
            return "", None
        return encode_body(body, values[plan.body_argument], plan.body_argument)
    found = {one.name: values[name] for name, one in plan.fields.items() if name in values}
    if not found and not body.required:
        return "", None
    return encode_body(body, found, "body")
