"""Arguments that fit a schema: small, varied, the same in every run."""

import json
import random
from collections.abc import Iterator
from typing import Any

import jsonschema_rs

_WORDS = ("a", "Z9", "blue sky", "x/y", "a&b=c", "Größe", "100%", "+1", "q?#", "[0]", "~", "it's")
_BY_FORMAT = {
    "date": "2024-02-29",
    "date-time": "2024-02-29T12:30:00Z",
    "time": "12:30:00Z",
    "email": "ann@example.com",
    "uuid": "3fa85f64-5717-4562-b3fc-2c963f66afa6",
    "uri": "https://example.com/a",
    "uri-reference": "/a",
    "url": "https://example.com/a",
    "ipv4": "127.0.0.1",
    "ipv6": "::1",
    "hostname": "example.com",
    "byte": "aGVsbG8=",
}
_TYPES = ("string", "integer", "boolean", "array", "object", "number")


def arguments(schema: Any, *, count: int, seed: int = 7) -> Iterator[dict[str, Any]]:
    """Up to `count` different objects that the schema takes."""
    plain = json.loads(json.dumps(schema))
    validator = jsonschema_rs.Draft202012Validator(plain, validate_formats=True)
    seen: set[str] = set()
    for attempt in range(count * 25):
        made = _Maker(plain, random.Random(f"{seed}-{attempt}")).value(plain, 0)
        text = json.dumps(made)
        if text not in seen and isinstance(made, dict) and validator.is_valid(made):
            seen.add(text)
            yield made
        if len(seen) == count:
            return


class _Maker:
    def __init__(self, root: Any, chance: random.Random) -> None:
        self._root = root
        self._chance = chance

    def value(self, schema: Any, depth: int) -> Any:
        if depth > 12:
            return None  # what needs itself has no end
        if schema is True or not schema:
            return self._chance.choice(("any", 3, True, ["x"]))
        if "$ref" in schema:
            return self.value(self._root["$defs"][schema["$ref"].rpartition("/")[2]], depth + 1)
        if "const" in schema:
            return schema["const"]
        if "enum" in schema:
            return self._chance.choice(schema["enum"])
        for key in ("oneOf", "anyOf"):
            if key in schema:
                rest = {name: part for name, part in schema.items() if name != key}
                chosen = self._chance.choice(schema[key])
                return self._together([rest, chosen] if rest.keys() & _SAYS else [chosen], depth)
        if "allOf" in schema:
            rest = {name: part for name, part in schema.items() if name != "allOf"}
            return self._together([*schema["allOf"], rest], depth)
        return self._of_type(schema, depth)

    def _together(self, parts: list[Any], depth: int) -> Any:
        made = [self.value(part, depth + 1) for part in parts if part]
        objects = [one for one in made if isinstance(one, dict)]
        if len(objects) > 1 or (objects and len(made) == len(objects)):
            return {key: value for one in objects for key, value in one.items()}
        return made[0] if made else None

    def _of_type(self, schema: Any, depth: int) -> Any:
        kind = schema.get("type") or ("object" if "properties" in schema else None)
        if isinstance(kind, list):
            kind = self._chance.choice(kind)
        if kind is None:
            kind = "object" if "required" in schema else self._chance.choice(_TYPES[:3])
        match kind:
            case "object":
                return self._object(schema, depth)
            case "array":
                least = schema.get("minItems", 0)
                most = 0 if depth > 6 else min(schema.get("maxItems", 2), least + 2)
                items = schema.get("items", {})
                count = self._chance.randint(least, max(least, most))
                return [self.value(items, depth + 1) for _ in range(count)]
            case "string":
                return self._string(schema)
            case "boolean":
                return self._chance.random() < 0.5
            case "null":
                return None
            case _:
                return self._number(schema, whole=kind == "integer")

    def _object(self, schema: Any, depth: int) -> dict[str, Any]:
        required = schema.get("required", [])
        made = {
            name: self.value(part, depth + 1)
            for name, part in schema.get("properties", {}).items()
            if name in required or (depth < 5 and self._chance.random() < 0.5)
        }
        extra = schema.get("additionalProperties")
        if isinstance(extra, dict) and depth < 5:
            made["extra"] = self.value(extra, depth + 1)
        return made

    def _string(self, schema: Any) -> str:
        made = _BY_FORMAT.get(schema.get("format", ""), self._chance.choice(_WORDS))
        least, most = schema.get("minLength", 0), schema.get("maxLength", 10_000)
        return (
            (made * (least // max(1, len(made)) + 1))[:most] if len(made) < least else made[:most]
        )

    def _number(self, schema: Any, *, whole: bool) -> float | int:
        low = schema.get("minimum", schema.get("exclusiveMinimum", -1) + 1)
        high = schema.get("maximum", schema.get("exclusiveMaximum", low + 101) - 1)
        step = schema.get("multipleOf")
        number = self._chance.randint(int(low), max(int(low), int(high)))
        if step:
            return number // step * step
        return number if whole or self._chance.random() < 0.5 else number + 0.25


_SAYS = {"type", "properties", "required", "allOf", "oneOf", "anyOf"}
