"""Chooses the content type of a request body, and maps the body to arguments.

A body that is an object with named properties and no others becomes separate arguments; any other
body becomes one argument.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from pegboard.core.text.truncate import truncate
from pegboard.sources.openapi.document.lenient_access import LocatedNode, Node, texts
from pegboard.sources.openapi.document.operations import RequestBody
from pegboard.sources.openapi.schema.translator import (
    Schema,
    SchemaTranslator,
    has_type,
    media_schema,
)

BodyKind = Literal["json", "form", "multipart", "text", "file"]
Coverage = Literal["names", "nothing", "open"]
FORM = "application/x-www-form-urlencoded"
_KINDS: tuple[BodyKind, ...] = ("json", "form", "multipart", "text", "file")
_TEXT = ("application/xml", "application/graphql", "application/yaml", "application/x-yaml")
_SAYS_NOTHING = frozenset(
    {
        "type", "properties", "required", "title", "description", "example", "examples", "default",
        "xml", "externalDocs", "deprecated", "nullable", "readOnly", "writeOnly", "$schema",
    }
)  # fmt: skip
_OPEN = frozenset(
    {
        "additionalProperties", "patternProperties", "unevaluatedProperties", "propertyNames",
        "discriminator", "not", "if", "dependentSchemas", "dependencies",
    }
)  # fmt: skip
_MAX_DEPTH = 8
FILE_SCHEMA: Schema = {
    "type": "object",
    "description": "A file. Give its content as `text`, or as `base64` when it is not text; either "
    "may be the handle of a stored result (`pegboard://results/...`).",
    "properties": {
        "name": {"type": "string", "maxLength": 255, "description": "The file's name"},
        "content_type": {
            "type": "string",
            "maxLength": 200,
            "pattern": "^[A-Za-z0-9!#$&^_.+-]+/[A-Za-z0-9!#$&^_.+-]+(; ?[A-Za-z0-9_.=-]+)*$",
        },
        "text": {"description": "Text; any other JSON value is sent as JSON"},
        "base64": {"type": "string"},
    },
    "oneOf": [{"required": ["text"]}, {"required": ["base64"]}],
    "additionalProperties": False,
}


@dataclass(frozen=True, slots=True, kw_only=True)
class BodyField:
    """A property of the body that is an argument of its own.

    Attributes:
        encoding: The `encoding` object of the document for this property; empty without one.
    """

    name: str
    schema: Schema
    required: bool
    encoding: Node


@dataclass(frozen=True, slots=True, kw_only=True)
class BodyPlan:
    """How a body is built from arguments.

    Attributes:
        fields: The properties that are arguments; None when the whole body is one argument.
        schema: The schema of the body as one argument.
        encodings: The `encoding` objects of the document, by property.
    """

    kind: BodyKind
    content_type: str
    required: bool
    schema: Schema
    fields: tuple[BodyField, ...] | None
    encodings: Mapping[str, Node]


def plan_body(body: RequestBody, schemas: SchemaTranslator, content_type: str) -> BodyPlan:
    """Plan the body of an operation.

    Args:
        body: The body as the document describes it.
        schemas: Translates the schemas of the document.
        content_type: The content type that the operator chose; empty or unknown means the best.
    """
    chosen = content_type if content_type in body.media else _best(body.media, schemas)
    kind, place = body_kind(chosen), media_schema(body.media[chosen])
    encoding = body.media[chosen].at("encoding")
    encodings = {name: encoding.at(name).fields for name in encoding.fields}
    fields = _fields(place, schemas, kind, encodings)
    schema: Schema = {} if fields is not None else _whole(body, place, schemas, kind)
    if fields is not None and not body.required and any(one.required for one in fields):
        schema = _described(_object_of(fields), body)
        fields = None  # the body is optional, and so are its properties
    return BodyPlan(
        kind=kind,
        content_type=_concrete(chosen, kind),
        required=body.required,
        fields=fields,
        schema=schema,
        encodings=encodings,
    )


def best_type(media: Mapping[str, Any]) -> str:
    """Return the most expressive content type: JSON before forms before text."""
    return min(media, key=lambda name: _KINDS.index(body_kind(name)))


def _best(media: Mapping[str, LocatedNode], schemas: SchemaTranslator) -> str:
    """Like `best_type`, but multipart where the chosen type would have to carry a file."""
    chosen = best_type(media)
    parts = next((name for name in media if body_kind(name) == "multipart"), "")
    if not parts or body_kind(chosen) not in ("json", "form"):
        return chosen
    return parts if _takes_file(media[chosen], schemas) else chosen


def _takes_file(media: LocatedNode, schemas: SchemaTranslator) -> bool:
    found: dict[str, LocatedNode] = {}
    _flatten(media_schema(media), schemas, found, set(), {}, 0)
    return any(_file_shape(place, schemas) for place in found.values())


def body_kind(content_type: str) -> BodyKind:
    """Return how a body of this content type is serialized."""
    name = content_type.partition(";")[0].strip().lower()
    if name in ("*/*", "application/*") or name.endswith(("/json", "+json")):
        return "json"
    if name == FORM:
        return "form"
    if name.startswith("multipart/"):
        return "multipart"
    if name.startswith("text/") or name.endswith("+xml") or name in _TEXT:
        return "text"
    return "file"


def _concrete(content_type: str, kind: BodyKind) -> str:
    if "*" not in content_type:
        return content_type
    return {"json": "application/json", "text": "text/plain"}.get(kind, "application/octet-stream")


def _whole(
    body: RequestBody, place: LocatedNode, schemas: SchemaTranslator, kind: BodyKind
) -> Schema:
    if kind == "file":
        schema = _file_alone(body)
    elif kind == "text":
        schema: Schema = {"type": "string"}
    else:
        schema = dict(schemas.translate(place))
        if _coverage(place, schemas, {}, 0) == "names":
            schema["unevaluatedProperties"] = False
    return _described(schema, body)


def _described(schema: Schema, body: RequestBody) -> Schema:
    about = body.description.strip()
    return {**schema, "description": truncate(about, 1_500)} if about else schema


def _object_of(fields: Sequence[BodyField]) -> Schema:
    """The schema of a body as one argument, with files as a part of a form takes them."""
    return {
        "type": "object",
        "properties": {one.name: one.schema for one in fields},
        "required": [one.name for one in fields if one.required],
        "additionalProperties": False,
    }


def _file_alone(body: RequestBody) -> Schema:
    """The schema of a file that is the whole body: no name, and one of the documented types."""
    properties = {key: part for key, part in FILE_SCHEMA["properties"].items() if key != "name"}
    types = [name for name in body.media if body_kind(name) == "file"]
    if not any("*" in name for name in types):
        properties["content_type"] = {"enum": types}
    return {**FILE_SCHEMA, "properties": properties}


def _fields(
    place: LocatedNode, schemas: SchemaTranslator, kind: BodyKind, encodings: Mapping[str, Node]
) -> tuple[BodyField, ...] | None:
    if kind in ("text", "file"):
        return None
    found: dict[str, LocatedNode] = {}
    required: set[str] = set()
    if not _flatten(place, schemas, found, required, {}, 0) or not found:
        return None
    shown = {name: one for name, one in found.items() if not schemas.is_hidden(one)}
    if required - found.keys():
        return None  # it requires properties that it does not describe
    return tuple(
        BodyField(
            name=name,
            schema=_field_schema(one, schemas, kind),
            required=name in required,
            encoding=encodings.get(name, {}),
        )
        for name, one in shown.items()
    )


def _flatten(
    place: LocatedNode,
    schemas: SchemaTranslator,
    found: dict[str, LocatedNode],
    required: set[str],
    seen: dict[int, Node],
    depth: int,
) -> bool:
    """Collect the properties of a plain object or an `allOf` of such; False for others."""
    place = schemas.resolve(place)
    node = place.fields
    meant = {key for key in node if not key.startswith("x-")}
    closed = node.get("additionalProperties") is False
    if closed and "allOf" not in node:
        meant.discard("additionalProperties")
    if meant - _SAYS_NOTHING - {"allOf"} or depth > _MAX_DEPTH or id(node) in seen:
        return False
    if "allOf" in node:
        seen[id(node)] = node  # a repeated part would be visited exponentially often
    if node.get("nullable") is True or node.get("type", "object") != "object":
        return False
    properties = place.at("properties")
    if properties.fields.keys() & found.keys():
        return False
    found.update((name, properties.at(name)) for name in properties.fields)
    required.update(texts(node.get("required")))
    return all(
        _flatten(part, schemas, found, required, seen, depth + 1)
        for part in place.at("allOf").items()
    )


def _field_schema(place: LocatedNode, schemas: SchemaTranslator, kind: BodyKind) -> Schema:
    if kind in ("form", "json"):
        return schemas.translate(place)
    resolved = schemas.resolve(place)
    about = resolved.fields.get("description")
    shown = {"description": about} if isinstance(about, str) and about.strip() else {}
    match _file_shape(place, schemas):
        case "file":
            more = {"description": f"{about} ({FILE_SCHEMA['description']})"} if shown else {}
            return {**FILE_SCHEMA, **more}
        case "files":
            return {"type": "array", "items": FILE_SCHEMA, **shown}
        case _:
            return schemas.translate(place)


def _file_shape(place: LocatedNode, schemas: SchemaTranslator) -> Literal["file", "files", ""]:
    """Whether a part is a file or several files; a nullable file is an alternative to null."""
    resolved = schemas.resolve(place)
    for key in ("anyOf", "oneOf"):
        parts = [schemas.resolve(part) for part in resolved.at(key).items()]
        others = [part for part in parts if not has_type(part, "null")]
        if len(others) == 1:
            resolved = others[0]
    if _is_file(resolved):
        return "file"
    if has_type(resolved, "array") and _is_file(schemas.resolve(resolved.at("items"))):
        return "files"
    return ""


def _is_file(place: LocatedNode) -> bool:
    node = place.fields
    return (
        node.get("type") == "file"
        or node.get("format") == "binary"
        or ("contentMediaType" in node and "contentEncoding" not in node)
        or node.get("contentMediaType") == "application/octet-stream"
    )


def _coverage(
    place: LocatedNode,
    schemas: SchemaTranslator,
    known: dict[int, tuple[Node, Coverage]],
    depth: int,
) -> Coverage:
    """Whether a schema names all the properties it allows, so that others can be refused."""
    place = schemas.resolve(place)
    node = place.fields
    if id(node) not in known:
        known[id(node)] = node, "open"  # a recursive schema has no end
        known[id(node)] = node, _coverage_of(place, schemas, known, depth)
    return known[id(node)][1]


def _coverage_of(
    place: LocatedNode,
    schemas: SchemaTranslator,
    known: dict[int, tuple[Node, Coverage]],
    depth: int,
) -> Coverage:
    node = place.fields
    if depth > _MAX_DEPTH or node.keys() & _OPEN or node.get("type", "object") != "object":
        return "open"
    parts = [_coverage(part, schemas, known, depth + 1) for part in place.at("allOf").items()]
    if "open" in parts:
        return "open"
    names = bool(node.get("properties")) or "names" in parts
    for key in ("oneOf", "anyOf"):
        branches: Sequence[str] = [
            _coverage(part, schemas, known, depth + 1) for part in place.at(key).items()
        ]
        if "open" in branches or ("nothing" in branches and not names):
            return "open"
        names = names or bool(branches)
    return "names" if names else "nothing"
