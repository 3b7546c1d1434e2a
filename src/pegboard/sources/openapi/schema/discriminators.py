"""Selects between alternative schemas by a property of the value (`discriminator`).

JSON Schema has no `discriminator` (OpenAPI 3.1.1, 4.8.25). The alternatives are mostly open, so a
value of one of them also matches the others, and `oneOf` would refuse every value.
"""

from collections.abc import Mapping
from typing import Any

from pegboard.sources.openapi.document.lenient_access import LocatedNode, Node, text
from pegboard.sources.openapi.document.references import BadReference, References

Schema = dict[str, Any]
_MAX_DEPTH = 8


def has_discriminator(node: Node) -> bool:
    """Whether a schema selects its alternatives by a property."""
    return bool(_property_of(node))


class Discriminator:
    """The constraint on the discriminator property for each alternative of a schema.

    Only an explicit mapping counts. Without one the schema names would be the values, and documents
    in the wild use others.

    Args:
        place: The schema with the discriminator.
        references: The references of the document.
    """

    def __init__(self, place: LocatedNode, references: References) -> None:
        self._name = _property_of(place.fields)
        self._references = references
        self._values: dict[str, list[str]] = {}
        mapping: Mapping[str, Any] = place.at("discriminator").at("mapping").fields
        for value, target in mapping.items():
            for address in _addresses_of(text(target), place.file, references):
                self._values.setdefault(address, []).append(value)

    def values_of(self, item: LocatedNode) -> Schema:
        """Return the constraint for one alternative; empty for none."""
        values = self._values.get(_address_of(item, self._references))
        if not values or not self._is_open(item, set(), 0):
            return {}
        return {"properties": {self._name: {"enum": list(values)}}}

    def _is_open(self, item: LocatedNode, seen: set[int], depth: int) -> bool:
        """Whether an alternative has the property without restricting its value."""
        references = self._references
        try:
            item = references.resolve(item)
            properties = item.at("properties")
            if self._name in properties.fields:
                own = references.resolve(properties.at(self._name)).fields
                return "enum" not in own and "const" not in own
        except BadReference:
            return False
        if depth > _MAX_DEPTH or id(item.node) in seen:
            return False
        seen.add(id(item.node))
        return any(self._is_open(part, seen, depth + 1) for part in item.at("allOf").items())


def _property_of(node: Node) -> str:
    discriminator = node.get("discriminator")
    if isinstance(discriminator, str):  # the form of Swagger 2.0
        return discriminator
    return text(LocatedNode(node=discriminator).fields.get("propertyName"))


def _address_of(item: LocatedNode, references: References) -> str:
    try:
        return references.follow(item)[1]
    except BadReference:
        return ""


def _addresses_of(target: str, file: str, references: References) -> set[str]:
    """Return the addresses of a mapping target: a schema name or a reference."""
    named = f"#/components/schemas/{target.replace('~', '~0').replace('/', '~1')}"
    refs = (target, named) if target else ()
    return {
        address for ref in refs if (address := _address_of(_reference_to(ref, file), references))
    }


def _reference_to(ref: str, file: str) -> LocatedNode:
    return LocatedNode(node={"$ref": ref}, file=file)
