"""Validating the arguments of a Python function by its own types.

Strict JSON validation by pydantic comes first, and a right call pays for nothing else. Where it
refuses, `coercion` mends the place and strict validation has the last word, so that the schema that
is shown is the schema that is enforced.
"""

import re
from collections.abc import Iterator, Mapping
from typing import Any, cast

from pydantic import TypeAdapter, ValidationError
from pydantic_core import ErrorDetails, to_json, to_jsonable_python

from pegboard.core.context import Arguments
from pegboard.errors import Problem, ToolArgumentError
from pegboard.tools.coercion import UNCHANGED, JsonType, Location, mend
from pegboard.tools.documents import encoded, parsed
from pegboard.tools.problems import found, malformed, missing, path_of, unknown
from pegboard.tools.raw_schema import SchemaArguments

_WANTED: Mapping[str, JsonType] = {
    "int_type": "integer",
    "int_from_float": "integer",
    "float_type": "number",
    "bool_type": "boolean",
    "list_type": "array",
    "tuple_type": "array",
    "set_type": "array",
    "frozen_set_type": "array",
    "iterable_type": "array",
    "dict_type": "object",
    "mapping_type": "object",
    "model_type": "object",
    "model_attributes_type": "object",
    "dataclass_type": "object",
    "dataclass_exact_type": "object",
}
_ROUNDS = 8
_MOST_PROBLEMS = 20
_NUMERIC = re.compile(r"\s*[+-]?[\d.]+(?:[eE][+-]?\d+)?\s*")


class TypedArguments:
    """Reads arguments by a pydantic adapter of a `TypedDict` of the parameters."""

    def __init__(self, tool: str, adapter: TypeAdapter[Any], schema: Mapping[str, Any]) -> None:
        self._tool = tool
        self._schema = schema
        validator = adapter.validator
        self._validate_json = validator.validate_json
        # a model that declares itself open stays open; then the shown schema closes the others
        is_open = _has_open_object(schema)
        self._extra: Any = None if is_open else "forbid"
        self._shown = SchemaArguments(tool, schema) if is_open else None
        self._needs_second_look = _has_loose_places(schema)

    def __call__(self, raw: Arguments) -> dict[str, Any]:
        """The arguments by parameter name, each of its declared type.

        Raises:
            ToolArgumentError: They do not fit; one problem a fault.
        """
        text = raw if isinstance(raw, str) and raw else encoded(self._tool, raw)
        if self._shown is not None:
            text = to_json(self._shown(text))
        try:
            values = self._validate_json(text, strict=True, extra=self._extra)
        except ValidationError as error:
            text, values = self._mended(raw, error)
        except UnicodeError as error:
            raise ToolArgumentError(self._tool, (malformed(f"not UTF-8: {error}"),)) from error
        if self._needs_second_look:
            self._check_leaves(text, values)
        return values

    def _mended(self, raw: Arguments, error: ValidationError) -> tuple[bytes, dict[str, Any]]:
        document: Any = parsed(self._tool, raw)
        done: set[Location] = set()
        text = b""
        for _ in range(_ROUNDS):
            details = error.errors(include_url=False, include_context=False)
            mended = mend(document, list(_wishes(document, details)), done)
            if mended is UNCHANGED:
                if not done:
                    # the text was JSON to pydantic but not to us, or was encoded twice
                    text = to_json(document)
                    done.add(("",))
                else:
                    break
            else:
                document = mended
                text = to_json(document)
            try:
                return text, self._validate_json(text, strict=True, extra=self._extra)
            except ValidationError as again:
                error = again
        details = error.errors(include_url=False, include_context=False)
        raise ToolArgumentError(self._tool, self._problems(document, details))

    def _check_leaves(self, text: str | bytes, values: dict[str, Any]) -> None:
        """Refuse NaN in untyped places, and digits that a date type would read as a time stamp."""
        document = parsed(self._tool, text)
        dumped = to_jsonable_python(values, by_alias=True)
        problems = [
            Problem(path=path_of(place), message=f"expected an ISO 8601 time, found {found(value)}")
            for place, value in _reread(document, dumped, ())
        ]
        if problems:
            raise ToolArgumentError(self._tool, tuple(problems))

    def _problems(self, document: Any, details: list[ErrorDetails]) -> tuple[Problem, ...]:
        grouped: dict[Location, list[ErrorDetails]] = {}
        for detail in details:
            grouped.setdefault(_place(document, detail), []).append(detail)
        groups = list(grouped.items())[:_MOST_PROBLEMS]
        return tuple(self._problem(place, group) for place, group in groups)

    def _problem(self, place: Location, group: list[ErrorDetails]) -> Problem:
        first = group[0]
        match first["type"]:
            case "missing":
                return missing(place, self._describe(place))
            case "extra_forbidden" | "unexpected_keyword_argument":
                return unknown(place, self._known(place))
            case _:
                says = " or ".join(dict.fromkeys(_says(detail) for detail in group))
                kind = "type" if first["type"].endswith("_type") else "value"
                message = f"{says}, found {found(first['input'])}"
                return Problem(path=path_of(place), message=message, kind=kind)

    def _describe(self, place: Location) -> str:
        if len(place) != 1:
            return ""
        schema = self._schema.get("properties", {}).get(place[0], {})
        return str(schema.get("description", ""))

    def _known(self, place: Location) -> list[str]:
        node: Any = self._schema
        for step in place[:-1]:
            node = _child(self._schema, node, step)
        return list(_resolved(self._schema, node).get("properties", {}))


def _wishes(document: Any, details: list[ErrorDetails]) -> Iterator[tuple[Location, JsonType]]:
    for detail in details:
        wanted = _WANTED.get(detail["type"])
        if wanted is not None:
            yield _place(document, detail), wanted


def _place(document: Any, detail: ErrorDetails) -> Location:
    """Where in the document: pydantic's location without the names of union members."""
    location = detail["loc"]
    place: list[str | int] = []
    node = document
    for step in location:
        if isinstance(node, dict) and step in node:
            node = cast("dict[str, Any]", node)[str(step)]
        elif (
            isinstance(node, list) and isinstance(step, int) and step < len(cast("list[Any]", node))
        ):
            node = cast("list[Any]", node)[step]
        else:
            continue
        place.append(step)
    if detail["type"] == "missing" and location:
        place.append(location[-1])
    return tuple(place)


def _says(detail: ErrorDetails) -> str:
    message = detail["msg"]
    message = message.replace("Input should be ", "expected ").replace("Value error, ", "")
    return message[:1].lower() + message[1:]


def _has_open_object(schema: Any) -> bool:
    """Whether a model within says that it takes other properties."""
    if isinstance(schema, Mapping):
        node = cast("Mapping[str, Any]", schema)
        extra = node.get("additionalProperties", False)
        if "properties" in node and extra not in (False, None):
            return True
        return any(_has_open_object(value) for value in node.values())
    if isinstance(schema, list):
        return any(_has_open_object(item) for item in cast("list[Any]", schema))
    return False


_SAYS_TYPE = frozenset({"type", "anyOf", "oneOf", "allOf", "$ref", "enum", "const", "not"})


def _has_loose_places(schema: Any) -> bool:
    """Whether a place takes anything, NaN included, or a time, that digits would pass for."""
    if isinstance(schema, Mapping):
        node = cast("Mapping[str, Any]", schema)
        if node.get("format") == "date-time":
            return True
        inner = [*node.get("properties", {}).values(), *node.get("prefixItems", ())]
        inner += [node[key] for key in ("items", "additionalProperties") if key in node]
        if any(
            item is True or (isinstance(item, Mapping) and not item.keys() & _SAYS_TYPE)
            for item in inner
        ):
            return True
        unions = [*node.get("anyOf", ()), *node.get("oneOf", ()), *node.get("$defs", {}).values()]
        return any(_has_loose_places(item) for item in [*inner, *unions])
    return False


def _reread(document: Any, dumped: Any, place: Location) -> Iterator[tuple[Location, str]]:
    """Numeric texts that came back as other texts: they were read as time stamps."""
    if isinstance(document, dict) and isinstance(dumped, dict):
        other = cast("dict[str, Any]", dumped)
        for key, value in cast("dict[str, Any]", document).items():
            if key in other:
                yield from _reread(value, other[key], (*place, key))
    elif isinstance(document, list) and isinstance(dumped, list):
        pairs = zip(cast("list[Any]", document), cast("list[Any]", dumped), strict=False)
        for index, (value, other) in enumerate(pairs):
            yield from _reread(value, other, (*place, index))
    elif isinstance(document, str) and _NUMERIC.fullmatch(document) and "T" in str(dumped):
        yield place, document


def _resolved(root: Mapping[str, Any], node: Any) -> dict[str, Any]:
    """The node itself, behind references and nullable unions."""
    for _ in range(20):
        if not isinstance(node, dict):
            return {}
        here = cast("dict[str, Any]", node)
        if "$ref" in here:
            definitions = cast("Mapping[str, Any]", root.get("$defs", {}))
            node = definitions.get(str(here["$ref"]).rpartition("/")[2], {})
        elif "anyOf" in here:
            members = cast("list[Any]", here["anyOf"])
            node = next((item for item in members if item != {"type": "null"}), None)
        else:
            return here
    return {}


def _child(root: Mapping[str, Any], node: Any, step: str | int) -> Any:
    here = _resolved(root, node)
    if isinstance(step, int):
        return here.get("items", {})
    return here.get("properties", {}).get(step) or here.get("additionalProperties", {})
