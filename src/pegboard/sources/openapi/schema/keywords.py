"""Translates the keywords of one schema that hold no other schema to JSON Schema 2020-12.

OpenAPI 3.0 and Swagger 2.0 have their own dialect (`nullable`, `exclusiveMinimum: true`), and
documents in the wild have mistakes. Keywords that cannot be kept are named in `$comment`.
"""

import re
import sys
from functools import lru_cache
from typing import Any

import msgspec

from pegboard.core.text.truncate import truncate
from pegboard.sources.openapi.document.lenient_access import Node, mapping, sequence, texts

_TYPES = frozenset({"string", "number", "integer", "boolean", "array", "object", "null"})
_MEANT: dict[str, str] = {
    "int": "integer", "int32": "integer", "int64": "integer", "long": "integer",
    "float": "number", "double": "number", "decimal": "number", "bool": "boolean",
    "str": "string", "text": "string", "date": "string", "datetime": "string",
    "date-time": "string", "uuid": "string", "file": "string", "binary": "string",
    "dict": "object", "map": "object", "list": "array",
}  # fmt: skip
_COUNTS = (
    "minLength", "maxLength", "minItems", "maxItems", "minProperties", "maxProperties",
    "minContains", "maxContains",
)  # fmt: skip
# keywords that may refuse null whatever else the schema has
_ELSEWHERE = frozenset({"const", "$ref", "allOf", "anyOf", "oneOf"})
_MAX_DESCRIPTION = 1_500
_MAX_VALUE = 1_000
_MAX_NUMBER = sys.float_info.max
_MAX_COUNT = 2**53
_WHOLE = re.compile(r"-?[0-9]{1,30}")
_DECIMAL = re.compile(r"-?[0-9]{1,15}\.[0-9]{1,15}")


class Keywords:
    """The keywords of one schema that hold no other schema.

    Attributes:
        made: The translated keywords.
        lost: The keywords that were dropped, for a message.
    """

    def __init__(self, node: Node) -> None:
        self.made: dict[str, Any] = {}
        self.lost: list[str] = []
        self._node = node
        self._types()
        self._values()
        self._bounds()
        self._texts()
        self._rest()

    @property
    def nullable(self) -> bool:
        """Whether OpenAPI 3.0's `nullable` adds null."""
        return self._node.get("nullable") is True or self._node.get("x-nullable") is True

    def _types(self) -> None:
        given = self._node.get("type")
        if given is None:
            return
        names = [given] if isinstance(given, str) else list(sequence(given))
        known: list[str] = []
        for name in names:
            lower = name.lower() if isinstance(name, str) else ""
            meant = lower if lower in _TYPES else _MEANT.get(lower)
            if meant is None:
                self.lost.append(f"type {_json(name)}")
                return
            known.append(meant)
        known = list(dict.fromkeys(known))
        if known:
            self.made["type"] = known[0] if len(known) == 1 else known

    def _values(self) -> None:
        if "const" in self._node:
            self.made["const"] = self._node["const"]
        values = sequence(self._node.get("enum"))
        if not values:
            return
        names = sequence(kind := self.made.get("type"))
        if len(others := [name for name in names if name != "null"]) == 1:
            kind = others[0]
        unique = {_json(value): value for value in (_as_meant(item, kind) for item in values)}
        self.made["enum"] = list(unique.values())

    def _bounds(self) -> None:
        node, made = self._node, self.made
        for end, exclusive in (("minimum", "exclusiveMinimum"), ("maximum", "exclusiveMaximum")):
            bound = self._number(end)
            if node.get(exclusive) is True:
                end = exclusive  # noqa: PLW2901 # the bound moves to the other keyword
            elif not isinstance(node.get(exclusive), bool):
                other = self._number(exclusive)
                if other is not None:
                    made[exclusive] = other
            if bound is not None:
                made[end] = bound
        step = self._number("multipleOf")
        if step is not None and step > 0:
            made["multipleOf"] = step
        for key in _COUNTS:
            count = self._number(key)
            if count is not None and 0 <= count <= _MAX_COUNT and float(count).is_integer():
                made[key] = int(count)
        if node.get("uniqueItems") is True:
            made["uniqueItems"] = True

    def _number(self, key: str) -> float | int | None:
        value = self._node.get(key)
        if value is None or isinstance(value, bool):
            return None
        if isinstance(value, str):
            try:
                value = int(value) if value.strip().lstrip("+-").isdigit() else float(value)
            except ValueError:
                value = None
        if not isinstance(value, (int, float)) or not abs(value) <= _MAX_NUMBER:
            self.lost.append(key)
            return None
        return value

    def _texts(self) -> None:
        pattern = self._node.get("pattern")
        if isinstance(pattern, str):
            if is_pattern(pattern):
                self.made["pattern"] = pattern
            else:
                self.lost.append(f"pattern {_json(truncate(pattern, 200))}")
        for key in ("format", "title", "contentEncoding", "contentMediaType"):
            if isinstance(value := self._node.get(key), str) and value:
                self.made[key] = value
        description = self._node.get("description")
        if isinstance(description, str) and description.strip():
            self.made["description"] = truncate(description.strip(), _MAX_DESCRIPTION)

    def _rest(self) -> None:
        node, made = self._node, self.made
        if "default" in node and len(_json(node["default"])) <= _MAX_VALUE:
            made["default"] = node["default"]
        examples = sequence(node.get("examples")) or (
            [node["example"]] if node.get("example") is not None else []
        )
        if examples and len(_json(examples[0])) <= _MAX_VALUE // 10:
            made["examples"] = [examples[0]]
        if node.get("deprecated") is True:
            made["deprecated"] = True
        required = texts(node.get("required"))
        if required:
            made["required"] = list(required)
        depending: dict[str, Any] = {
            name: list(names)
            for key in ("dependentRequired", "dependencies")
            for name, value in mapping(node.get(key)).items()
            if (names := texts(value))
        }
        if depending:
            made["dependentRequired"] = depending


def make_nullable(schema: dict[str, Any]) -> dict[str, Any]:
    """Return the schema extended by null."""
    if schema.keys() & _ELSEWHERE:
        return {"anyOf": [schema, {"type": "null"}]}
    made = dict(schema)
    kinds = made.get("type")
    if kinds is not None:
        names: list[str] = [kinds] if isinstance(kinds, str) else list(kinds)
        made["type"] = names if "null" in names else [*names, "null"]
    if "enum" in made and None not in made["enum"]:
        made["enum"] = [*made["enum"], None]
    return made


@lru_cache(maxsize=4096)
def is_pattern(pattern: str) -> bool:
    """Whether the validator can use this regular expression."""
    import jsonschema_rs

    try:
        jsonschema_rs.validator_for({"type": "string", "pattern": pattern})
    except (jsonschema_rs.ValidationError, ValueError):
        return False
    return True


def _as_meant(value: Any, kind: object) -> Any:
    """Convert an enum value to its declared type: YAML reads `[1, 2]` as numbers."""
    if kind == "string" and isinstance(value, (bool, int, float)):
        return str(value).lower() if isinstance(value, bool) else str(value)
    if isinstance(value, str):
        if kind in ("integer", "number") and _WHOLE.fullmatch(value):
            return int(value)
        if kind == "number" and _DECIMAL.fullmatch(value):
            return float(value)
        if kind == "boolean" and value in ("true", "false"):
            return value == "true"
    return value


def _json(value: object) -> str:
    return msgspec.json.encode(value).decode()
