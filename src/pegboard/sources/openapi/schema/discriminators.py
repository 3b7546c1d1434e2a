"""Which of several schemas is meant, where a document says so by a property of the value.

A `discriminator` (OpenAPI 3.1.1, 4.8.25) names that property, and JSON Schema does not know it: the
alternatives are mostly open, so that a value of one of them fits the others too, and `oneOf` would
refuse every value.
"""

from collections.abc import Mapping
from typing import Any

from pegboard.sources.openapi.document.lenient_access import LocatedNode, Node, text
from pegboard.sources.openapi.document.references import BadReference, References

Schema = dict[str, Any]
_MAX_DEPTH = 8


def has_discriminator(node: Node) -> bool:
    """Whether a property says which of the alternatives of a schema is meant."""
    return bool(_property_of(node))


class Discriminator:
    """What has to hold of the property of a schema where one of its alternatives is meant.

    Only a mapping that the document writes down counts: without one the names of the schemas would
    be the values, and documents in the wild mean others.

    Args:
        place: The schema with the discriminator.
        references: Of the document.
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
        """What has to hold where this alternative is meant; empty for nothing more."""
        values = self._values.get(_address_of(item, self._references))
        if not values or not self._is_open(item, set(), 0):
            return {}
        return {"properties": {self._name: {"enum": list(values)}}}

    def _is_open(self, item: LocatedNode, seen: set[int], depth: int) -> bool:
        """Whether an alternative has the property and leaves its value open."""
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
    if isinstance(discriminator, str):  # an extension of Swagger 2.0's
        return discriminator
    return text(LocatedNode(node=discriminator).fields.get("propertyName"))


def _address_of(item: LocatedNode, references: References) -> str:
    try:
        return references.follow(item)[1]
    except BadReference:
        return ""


def _addresses_of(target: str, file: str, references: References) -> set[str]:
    """A mapping leads to a schema by its name, or by a reference."""
    named = f"#/components/schemas/{target.replace('~', '~0').replace('/', '~1')}"
    refs = (target, named) if target else ()
    return {
        address for ref in refs if (address := _address_of(_reference_to(ref, file), references))
    }


def _reference_to(ref: str, file: str) -> LocatedNode:
    return LocatedNode(node={"$ref": ref}, file=file)
