"""Messages for validation errors of a request, in the same words as for arguments of tools."""

from collections.abc import Collection, Mapping, Sequence
from functools import lru_cache
from typing import Any, cast

from fastapi import Request
from fastapi.routing import APIRoute
from pydantic import BaseModel, TypeAdapter

from pegboard.core.tool import JsonSchema
from pegboard.schemas.lookup import description_of, property_names
from pegboard.schemas.problems import missing_argument, unknown_argument
from pegboard.tools.pydantic_errors import describe_fault

_IN_OUR_OWN_WORDS = frozenset({"value_error", "assertion_error", "value"})
_OBJECT = "expected an object"
_MAX_NAMES = 8
Place = Sequence[str | int]


def validation_message(fault: Mapping[str, Any], place: Place, schema: JsonSchema) -> str:
    """The message for one validation error; an unknown key gets a suggestion. Values are left out.

    Args:
        fault: The error of pydantic.
        place: Its path in what was sent.
        schema: Schema of the request; empty if unknown.
    """
    at = tuple(place)
    match fault["type"]:
        case "missing":
            return missing_argument(at, description_of(schema, at) if at else "").message
        case "extra_forbidden":
            names = property_names(schema, at[:-1])
            noun = "parameter" if at[:1] == ("query",) else "key"
            if at[-1] in names:  # of another form of the request
                return f"this {noun} does not go with the others"
            return unknown_argument(at, names, noun=noun).message if names else f"unknown {noun}"
        case "union_tag_invalid":  # the part before repeats what was sent
            return str(fault["msg"]).rpartition(" found using ")[2]
        case kind if kind in _IN_OUR_OWN_WORDS:
            return str(fault["msg"]).removeprefix("Value error, ")
        case _:
            wanted = describe_fault(cast("Any", fault))
            names = property_names(schema, at) if wanted == _OBJECT else []
            more = ", …" if len(names) > _MAX_NAMES else ""
            return f"{wanted} with {', '.join(names[:_MAX_NAMES])}{more}" if names else wanted


def schema_of(request: Request) -> JsonSchema:
    """The schema of a request's body and query."""
    route = request.scope.get("route")
    return schema_of_route(route) if isinstance(route, APIRoute) else {}


def schema_of_route(route: APIRoute) -> JsonSchema:
    """The schema of the body and query of a route's requests."""
    properties: dict[str, Any] = {"query": {"properties": _queries(route)}}
    definitions: Any = {}
    if route.body_field is not None:
        body = schema_of_type(route.body_field.field_info.annotation)
        properties["body"], definitions = body, body.get("$defs", {})
    return {"properties": properties, "$defs": definitions}


def list_query_names(route: APIRoute) -> Collection[str]:
    """The names of the query parameters that a route knows."""
    return _queries(route).keys()


def _queries(route: APIRoute) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for param in route.dependant.query_params:
        wanted = param.field_info.annotation
        if isinstance(wanted, type) and issubclass(wanted, BaseModel):
            found |= schema_of_type(wanted).get("properties", {})
        else:
            found[param.alias] = {}
    return found


@lru_cache(maxsize=128)
def schema_of_type(wanted: Any) -> dict[str, Any]:
    """The JSON Schema of a type."""
    return TypeAdapter(wanted).json_schema()
