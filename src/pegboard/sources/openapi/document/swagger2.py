"""Reads Swagger 2.0: bodies among the parameters, and types without a schema."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from pegboard.core.text.truncate import truncate
from pegboard.sources.openapi.document.lenient_access import (
    EMPTY,
    LocatedNode,
    Node,
    mapping,
    sequence,
    text,
    texts,
)
from pegboard.sources.openapi.document.operations import (
    OperationParameter,
    OperationReader,
    RequestBody,
)
from pegboard.sources.openapi.document.references import BadReference

_NOT_OF_THE_SCHEMA = frozenset(
    {"name", "in", "required", "collectionFormat", "allowEmptyValue", "description"}
)
_COLLECTIONS: Mapping[str, tuple[str, bool]] = {
    "csv": ("form", False),
    "ssv": ("spaceDelimited", False),
    "tsv": ("tabDelimited", False),
    "pipes": ("pipeDelimited", False),
    "multi": ("form", True),
}
_MAX_DEPTH = 8
_FORMS = ("multipart/form-data", "application/x-www-form-urlencoded")


class SwaggerReader(OperationReader):
    """Reads the operations of Swagger 2.0."""

    def security_schemes(self) -> dict[str, Node]:
        """Return the `securityDefinitions` in the form of OpenAPI 3."""
        definitions = mapping(self.root.get("securityDefinitions"))
        return {
            name: {"type": "http", "scheme": "basic"} if scheme.get("type") == "basic" else scheme
            for name, scheme in ((name, mapping(node)) for name, node in definitions.items())
        }

    def parameter(self, place: LocatedNode) -> OperationParameter | None:
        """Read one parameter; None for a body or a form field."""
        node = place.fields
        if node.get("in") in ("body", "formData"):
            return None
        described = LocatedNode(node={**node, "schema": _schema_of(node)}, file=place.file)
        made = super().parameter(described)
        is_many = node.get("in") == "query"
        style, explode = _style(node)
        if not is_many and style == "form":
            style, explode = "simple", False
        fault = _fault(node, is_many=is_many)
        return made and replace(
            made, style=style, explode=explode, nested=_item_styles(node), fault=fault
        )

    def body(self, operation: LocatedNode, _item: LocatedNode) -> RequestBody | None:
        """Read the body from the parameters `in: body` and `in: formData`."""
        places = self.own_parameters(_item, operation)
        for place in places:
            if place.fields.get("in") == "body":
                return self._whole(operation, place)
        fields = [place for place in places if place.fields.get("in") == "formData"]
        return self._form(operation, fields) if fields else None

    def produces(self, operation: LocatedNode) -> tuple[str, ...]:
        """Return the content types of all responses: the operation's, else the document's."""
        own = operation.fields.get("produces")
        return texts(self.root.get("produces") if own is None else own)

    def response(
        self, place: LocatedNode, produces: Sequence[str] = ()
    ) -> tuple[tuple[str, LocatedNode], ...]:
        """Return the content types of a response with their schemas."""
        found = self.references.resolve(place)
        if "schema" not in found.fields:
            return ()
        return tuple((kind, found.at("schema")) for kind in produces or ("application/json",))

    def _whole(self, operation: LocatedNode, place: LocatedNode) -> RequestBody:
        media = LocatedNode(node={"schema": place.fields.get("schema", EMPTY)}, file=place.file)
        return RequestBody(
            media=dict.fromkeys(self._consumes(operation) or ("application/json",), media),
            required=place.fields.get("required") is True,
            description=text(place.fields.get("description")),
        )

    def _form(self, operation: LocatedNode, fields: list[LocatedNode]) -> RequestBody:
        if len({place.file for place in fields}) > 1:
            raise BadReference("the fields of its form are in several files")
        nodes = {text(place.fields.get("name")): place.fields for place in fields}
        required = [name for name, node in nodes.items() if node.get("required") is True]
        schema: dict[str, Any] = {
            "type": "object",
            "properties": {
                name: {**_schema_of(node), "description": text(node.get("description"))}
                for name, node in nodes.items()
            },
            "required": required,
        }
        encoding = {
            name: _encoding(node) for name, node in nodes.items() if node.get("type") == "array"
        }
        media = LocatedNode(node={"schema": schema, "encoding": encoding}, file=fields[0].file)
        has_file = any(map(_has_file, nodes.values()))
        consumed = [kind for kind in self._consumes(operation) if kind in _FORMS]
        kinds = (_FORMS[0],) if has_file else tuple(consumed) or (_FORMS[1],)
        return RequestBody(media=dict.fromkeys(kinds, media), required=bool(required))

    def _consumes(self, operation: LocatedNode) -> tuple[str, ...]:
        own = operation.fields.get("consumes")
        return texts(self.root.get("consumes") if own is None else own)


def _style(node: Node) -> tuple[str, bool]:
    return _COLLECTIONS.get(text(node.get("collectionFormat")), ("form", False))


def _fault(node: Node, *, is_many: bool) -> str:
    """Return what is wrong with a `collectionFormat`; empty if nothing."""
    given = node.get("collectionFormat")
    if given is None or node.get("type") != "array":
        return ""  # generators write it beside types that do not use it
    if text(given) in _COLLECTIONS and (is_many or given != "multi"):
        return ""
    return (
        f"Written with commas: the document says collectionFormat {truncate(repr(given), 40)}, "
        "which is not for this place."
    )


def _item_styles(node: Node) -> tuple[str, ...]:
    """Return the styles of nested arrays; only whole parameters can be `multi`."""
    found: list[str] = []
    items = mapping(node.get("items"))
    while items.get("type") == "array" and len(found) < _MAX_DEPTH:
        found.append(_style(items)[0])
        items = mapping(items.get("items"))
    return tuple(found)


def _encoding(node: Node) -> dict[str, Any]:
    style, explode = _style(node)
    nested = _item_styles(node)
    return {"style": style, "explode": explode, **({"nested": list(nested)} if nested else {})}


def _has_file(node: Node) -> bool:
    return "file" in (node.get("type"), mapping(node.get("items")).get("type"))


def _schema_of(node: Node) -> dict[str, Any]:
    """Return the schema of a parameter from its own keywords."""
    schema = {key: value for key, value in node.items() if key not in _NOT_OF_THE_SCHEMA}
    items = mapping(schema.get("items"))
    if items:
        schema["items"] = {key: part for key, part in items.items() if key != "collectionFormat"}
    enum = sequence(schema.get("enum"))
    return schema if enum or "enum" not in schema else {**schema, "enum": []}
