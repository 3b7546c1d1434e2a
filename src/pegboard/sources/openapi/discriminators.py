"""Which of several schemas is meant, where a document says so by a property of the value.

A `discriminator` (OpenAPI 3.1.1, 4.8.25) names that property, and JSON Schema does not know it: the
alternatives are mostly open, so that a value of one of them fits the others too, and `oneOf` would
refuse every value.
"""

from collections.abc import Mapping
from typing import Any

from pegboard.sources.openapi.nodes import Located, Node, text
from pegboard.sources.openapi.references import BadReference, References

Schema = dict[str, Any]
_DEEPEST = 8


def is_chosen(node: Node) -> bool:
    """Whether a property says which of the alternatives of a schema is meant."""
    return bool(_property_of(node))


def values_of(place: Located, item: Located, references: References) -> Schema:
    """What has to hold of the property where this alternative is meant; empty for nothing more.

    Only a mapping that the document writes down counts: without one the names of the schemas would
    be the values, and documents in the wild mean others.

    Args:
        place: The schema with the discriminator.
        item: One of its alternatives.
        references: Of the document.
    """
    name = _property_of(place.fields)
    address = _address_of(item, references)
    mapping: Mapping[str, Any] = place.at("discriminator").at("mapping").fields
    values = [
        value
        for value, target in mapping.items()
        if address and address in _addresses_of(text(target), item.file, references)
    ]
    if not values or not _is_open(item, name, references, 0):
        return {}
    return {"properties": {name: {"enum": values}}}


def _property_of(node: Node) -> str:
    discriminator = node.get("discriminator")
    if isinstance(discriminator, str):  # an extension of Swagger 2.0's
        return discriminator
    return text(Located(node=discriminator).fields.get("propertyName"))


def _address_of(item: Located, references: References) -> str:
    try:
        return references.follow(item)[1]
    except BadReference:
        return ""


def _addresses_of(target: str, file: str, references: References) -> set[str]:
    """A mapping leads to a schema by its name, or by a reference."""
    named = f"#/components/schemas/{target.replace('~', '~0').replace('/', '~1')}"
    refs = (target, named) if target else ()
    return {address for ref in refs if (address := _address_of(_referring(ref, file), references))}


def _referring(ref: str, file: str) -> Located:
    return Located(node={"$ref": ref}, file=file)


def _is_open(item: Located, name: str, references: References, depth: int) -> bool:
    """Whether an alternative has the property and leaves its value open."""
    try:
        item = references.resolve(item)
    except BadReference:
        return False
    properties = item.at("properties")
    if name in properties.fields:
        try:
            own = references.resolve(properties.at(name)).fields
        except BadReference:
            return False
        return "enum" not in own and "const" not in own
    if depth > _DEEPEST:
        return False
    return any(_is_open(part, name, references, depth + 1) for part in item.at("allOf").items())
