"""Builds the request of one call; only the operator and the document decide where it goes."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import quote, unquote_plus

from pegboard.errors import InvalidRequest
from pegboard.sources.openapi.call.arguments import Argument, ArgumentPlan
from pegboard.sources.openapi.call.credentials import CredentialPart
from pegboard.sources.openapi.call.parameter_styles import (
    serialize_cookie,
    serialize_header,
    serialize_path,
    serialize_query,
)
from pegboard.sources.openapi.call.piece_names import PieceNames
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
    path, query, headers, cookies = _parameters(route, plan, values)
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


def _parameters(
    route: Route, plan: ArgumentPlan, values: Mapping[str, Any]
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
                pieces = serialize_query(parameter, value)
                _check_names(pieces, argument, value, plan, route)
                query.extend(pieces)
            case "header":
                headers[parameter.name.lower()] = serialize_header(parameter, value)
            case _:
                pieces = serialize_cookie(parameter, value)
                _check_names(pieces, argument, value, plan, route)
                cookies.extend(pieces)
    return _fill_path(route.path, in_template), query, headers, cookies


def _check_names(
    pieces: list[str], argument: Argument, value: Any, plan: ArgumentPlan, route: Route
) -> None:
    """Refuse an object or array whose pieces have names that belong to something else.

    Raises:
        InvalidRequest: They have, or a plain value stands for a `deepObject` with such names.
    """
    is_plain = not isinstance(value, (Mapping, list))
    if is_plain and argument.parameter.style != "deepObject":
        return
    place = argument.parameter.location
    names = PieceNames()
    for one in plan.arguments:
        if one.parameter.location == place:
            shown = plan.schema["properties"].get(one.name)
            names.claim_parameter(one.parameter.name, shown, owner=one.name)
    for part in route.credential:
        if part.location == place:
            names.claim(part.name, owner="")
    if place == "query":
        for piece in route.path.partition("#")[0].partition("?")[2].split("&"):
            if piece:
                names.claim(unquote_plus(piece.partition("=")[0]), owner="")
    if is_plain:
        names.check_plain(owner=argument.name, name=argument.parameter.name)
    names.check(pieces, owner=argument.name, name=argument.parameter.name)


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
