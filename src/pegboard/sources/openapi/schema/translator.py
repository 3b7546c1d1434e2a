"""Translates the schemas of a document to standalone JSON Schemas (2020-12).

A referenced schema becomes a shared definition that is built once, so recursive schemas stay
recursive and nothing is written out twice.
"""

import hashlib
import re
import threading
from collections.abc import Mapping
from typing import Any

from pegboard.sources.openapi.document.lenient_access import LocatedNode, mapping, sequence
from pegboard.sources.openapi.document.references import BadReference, References
from pegboard.sources.openapi.schema.definitions import Definitions, attach_definitions
from pegboard.sources.openapi.schema.discriminators import Discriminator, has_discriminator
from pegboard.sources.openapi.schema.keywords import Keywords, is_pattern, make_nullable

Schema = dict[str, Any]
_LISTS = ("allOf", "anyOf", "oneOf", "prefixItems")
_ALTERNATIVES = ("anyOf", "oneOf")
_SINGLE = (
    "not", "if", "then", "else", "contains", "propertyNames", "additionalProperties",
    "unevaluatedProperties", "unevaluatedItems",
)  # fmt: skip
_HOLDS_OTHERS = frozenset({*_LISTS, *_SINGLE, "items", "properties", "patternProperties", "$ref"})
_MAX_DEPTH = 60
_MAX_PARTS = 100
_UNFIT = re.compile(r"[^a-zA-Z0-9_.-]+")


class SchemaTranslator:
    """Translates the schemas of a document; each definition is built once for all tools.

    The name of a definition does not depend on which tool needs it first, since it is shown to
    models and compared with earlier versions. Any thread may use it.

    Args:
        references: The references of the document.
        sending: Whether the schemas describe requests (without `readOnly` properties) or responses
            (without `writeOnly` ones).
        siblings: Whether keywords beside a `$ref` apply, as they do since OpenAPI 3.1.
    """

    def __init__(self, references: References, *, sending: bool, siblings: bool) -> None:
        self._references = references
        self._hidden = "readOnly" if sending else "writeOnly"
        self._siblings = siblings
        self._names: dict[str, str] = {}
        self._taken: set[str] = set()
        self._met: set[str] = set()
        self._definitions = Definitions()
        self._waiting: list[tuple[str, LocatedNode]] = []
        self._lock = threading.RLock()
        for address in references.schema_addresses():
            self._claim_name(address, _legible(address))

    def translate(self, place: LocatedNode) -> Schema:
        """Translate a schema; its `$ref`s refer to definitions that `make_standalone` adds."""
        with self._lock:
            return self._schema(place, 0)

    def make_standalone(self, schema: Schema) -> Schema:
        """Return the schema with the definitions it needs, without loops and bounded in size."""
        with self._lock:
            while self._waiting:
                name, place = self._waiting.pop()
                self._definitions.schemas[name] = self._schema(place, 0)
            return attach_definitions(schema, self._definitions)

    def resolve(self, place: LocatedNode) -> LocatedNode:
        """Resolve the references of a part; empty if they cannot be resolved."""
        try:
            return self._references.resolve(place)
        except BadReference:
            return LocatedNode(node={})

    def is_hidden(self, place: LocatedNode) -> bool:
        """Whether a property is sent in the other direction only."""
        return self.resolve(place).fields.get(self._hidden) is True

    def _schema(self, place: LocatedNode, depth: int) -> Schema:
        if place.node is False:
            return {"not": {}}
        if not isinstance(place.node, dict):
            return {}
        if depth > _MAX_DEPTH:
            return {"$comment": "What is nested deeper here is not checked."}
        if isinstance(place.fields.get("$ref"), str):
            return self._reference(place, depth)
        return self._own(place, depth)

    def _reference(self, place: LocatedNode, depth: int) -> Schema:
        try:
            target, address = self._references.follow(place)
        except BadReference as error:
            return {"$comment": f"Not checked: {error}."}
        if isinstance(target.node, dict) and not target.fields.keys() & _HOLDS_OTHERS:
            made = self._schema(target, depth)  # a plain value is shorter than a reference to it
        else:
            made = {"$ref": f"#/$defs/{self._name(address, target)}"}
        rest = {key: value for key, value in place.fields.items() if key != "$ref"}
        if not self._siblings:
            rest = {key: rest[key] for key in ("description", "nullable") if key in rest}
        if not rest:
            return made
        beside = LocatedNode(node=rest, file=place.file)
        if rest.get("nullable") is True:
            about = Keywords({"description": rest.get("description")}).made
            return {**make_nullable(made), **about}
        own = self._own(beside, depth)
        if own.keys() & made.keys() - {"description", "title", "examples", "default", "$comment"}:
            return {"allOf": [made, own]}
        return {**made, **own}

    def _own(self, place: LocatedNode, depth: int) -> Schema:
        words = Keywords(place.fields)
        made = words.made
        self._objects(place, made, words.lost, depth)
        self._arrays(place, made, depth)
        for key in _SINGLE:
            value = place.fields.get(key)
            if isinstance(value, (dict, bool)):
                made[key] = (
                    value if isinstance(value, bool) else self._schema(place.at(key), depth + 1)
                )
        self._lists(place, made, depth)
        if words.lost:
            made["$comment"] = f"Not checked, for it is broken: {', '.join(words.lost)}."
        return make_nullable(made) if words.nullable else made

    def _lists(self, place: LocatedNode, made: Schema, depth: int) -> None:
        chosen = has_discriminator(place.fields)
        # a response may be of a kind that the document does not list yet
        is_sent = chosen and self._hidden == "readOnly"
        by = Discriminator(place, self._references) if is_sent else None
        for key in _LISTS:
            parts = [
                self._alternative(item, depth, by if key in _ALTERNATIVES else None)
                for item in place.at(key).items()
                if isinstance(item.node, (dict, bool))
            ]
            if parts:
                # alternatives that only a discriminator distinguishes all match in JSON Schema
                loose = chosen and key == "oneOf" and "anyOf" not in made
                made["anyOf" if loose else key] = parts
        if "allOf" in made:
            self._drop_hidden_requirements(place, made)

    def _drop_hidden_requirements(self, place: LocatedNode, made: Schema) -> None:
        """Remove hidden properties from `required` in every part of an `allOf`."""
        hidden = self._find_hidden_properties(place)
        for part in (made, *made["allOf"]):
            if hidden and "required" in part:
                part["required"] = [name for name in part["required"] if name not in hidden]

    def _find_hidden_properties(self, place: LocatedNode) -> set[str]:
        """Return the hidden properties, including those in all parts of an `allOf`."""
        found: set[str] = set()
        seen: set[int] = set()
        waiting = [place]
        while waiting and len(seen) < _MAX_PARTS:
            part = self.resolve(waiting.pop())
            if id(part.node) in seen:
                continue
            seen.add(id(part.node))
            properties = part.at("properties")
            found |= {name for name in properties.fields if self.is_hidden(properties.at(name))}
            waiting.extend(part.at("allOf").items())
        return found

    def _alternative(self, item: LocatedNode, depth: int, by: Discriminator | None) -> Schema:
        made = self._schema(item, depth + 1)
        values = {} if by is None else by.values_of(item)
        return {"allOf": [made, values]} if values else made

    def _objects(self, place: LocatedNode, made: Schema, lost: list[str], depth: int) -> None:
        properties = place.at("properties")
        shown: dict[str, Schema] = {}
        hidden: set[str] = set()
        for name in properties.fields:
            if self.is_hidden(properties.at(name)):
                hidden.add(name)
            else:
                shown[name] = self._schema(properties.at(name), depth + 1)
        if properties.fields:
            made["properties"] = shown
        if hidden and "required" in made:
            made["required"] = [name for name in made["required"] if name not in hidden]
        patterns = place.at("patternProperties")
        lost.extend(
            f"patternProperties {name!r}" for name in patterns.fields if not is_pattern(name)
        )
        kept = {
            name: self._schema(patterns.at(name), depth + 1)
            for name in patterns.fields
            if is_pattern(name)
        }
        if kept:
            made["patternProperties"] = kept
        depending = {
            name: self._schema(place.at(key).at(name), depth + 1)
            for key in ("dependentSchemas", "dependencies")
            for name, value in place.at(key).fields.items()
            if isinstance(value, dict)
        }
        if depending:
            made["dependentSchemas"] = depending

    def _arrays(self, place: LocatedNode, made: Schema, depth: int) -> None:
        items = place.fields.get("items")
        if isinstance(items, list):
            parts = [self._schema(item, depth + 1) for item in place.at("items").items()]
            if parts:
                made["prefixItems"] = parts
        elif isinstance(items, (dict, bool)):
            made["items"] = self._schema(place.at("items"), depth + 1)

    def _name(self, address: str, target: LocatedNode) -> str:
        name = self._names.get(address)
        if name is None:
            digest = hashlib.sha256(address.encode("utf-8", "surrogatepass")).hexdigest()
            name = self._claim_name(address, f"{_legible(address)}_{digest[:8]}")
        if name not in self._met:
            self._met.add(name)
            self._waiting.append((name, target))
        return name

    def _claim_name(self, address: str, wanted: str) -> str:
        name, count = wanted, 1
        while name in self._taken:
            count += 1
            name = f"{wanted}_{count}"
        self._taken.add(name)
        self._names[address] = name
        return name


def _legible(address: str) -> str:
    return _UNFIT.sub("_", address.rpartition("/")[2]).strip("_") or "schema"


def media_schema(media: LocatedNode) -> LocatedNode:
    """Return the schema of a media type; a missing one accepts anything."""
    return (
        media.at("schema")
        if mapping(media.node).get("schema") is not None
        else LocatedNode(node={})
    )


def has_type(place: LocatedNode, kind: str) -> bool:
    """Whether a resolved schema declares this type."""
    given = place.fields.get("type")
    return given == kind or kind in sequence(given)


def accepts_anything(schema: Mapping[str, Any]) -> bool:
    """Whether a translated schema has no constraints."""
    return not schema.keys() - {"title", "description", "examples", "default", "$comment"}
