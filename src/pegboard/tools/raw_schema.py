"""Validating arguments and outputs of tools that come with a JSON Schema of their own.

The schema is compiled once, by jsonschema-rs, and always offline: a `$ref` that points outside the
document fails, it never fetches a URL or a file.
"""

from collections.abc import Iterator, Mapping, Sequence
from copy import deepcopy
from typing import TYPE_CHECKING, Any, Protocol, cast, get_args

from pegboard.core.context import Arguments
from pegboard.core.tool import JsonSchema
from pegboard.errors import Problem, SourceUnavailable, ToolArgumentError
from pegboard.tools.coercion import UNCHANGED, JsonType, Location, look_up, mend
from pegboard.tools.documents import parsed
from pegboard.tools.problems import found, missing, path_of, unknown

if TYPE_CHECKING:
    from jsonschema_rs import ValidationError

_COERCIBLE: frozenset[str] = frozenset(get_args(JsonType))
_ROUNDS = 8
_MOST_PROBLEMS = 20


class Validator(Protocol):
    """What we use of a compiled jsonschema-rs validator."""

    def is_valid(self, instance: Any) -> bool:
        """Whether the instance fits."""
        ...

    def iter_errors(self, instance: Any) -> "Iterator[ValidationError]":
        """Every fault."""
        ...


def compiled(name: str, schema: JsonSchema) -> Validator:
    """A validator of this schema, made offline.

    Raises:
        SourceUnavailable: The schema is broken or refers to something outside itself.
    """
    import jsonschema_rs

    try:
        return jsonschema_rs.validator_for(dict(schema), retriever=_offline)
    except ValueError as error:
        reason = str(error).partition("\n")[0]
        raise SourceUnavailable(f"'{name}' has a broken JSON Schema: {reason}") from error


def closed(schema: JsonSchema) -> dict[str, Any]:
    """The schema as it is enforced: an object that takes what it names and nothing else.

    A schema that says how it treats other properties, or is put together from others, is kept.
    """
    result: dict[str, Any] = {"type": "object", **deepcopy(dict(schema))}
    if not result.keys() & _SAYS_IT_ITSELF:
        result.setdefault("properties", {})
        result["additionalProperties"] = False
    return result


_SAYS_IT_ITSELF = frozenset(
    {"additionalProperties", "unevaluatedProperties", "patternProperties", "propertyNames"}
    | {"allOf", "anyOf", "oneOf", "not", "if", "$ref", "$dynamicRef", "dependentSchemas"}
)


class SchemaArguments:
    """Reads arguments by a raw JSON Schema: the same coercion as typed tools, no defaults."""

    def __init__(self, tool: str, schema: JsonSchema) -> None:
        self._tool = tool
        self._schema = schema
        self._validator = compiled(tool, schema)

    def __call__(self, raw: Arguments) -> Mapping[str, Any]:
        """The arguments, valid.

        Raises:
            ToolArgumentError: They do not fit; one problem a fault.
        """
        document = parsed(self._tool, raw)
        if self._validator.is_valid(document):
            return document
        done: set[Location] = set()
        for _ in range(_ROUNDS):
            faults = list(self._validator.iter_errors(document))
            if not faults:
                return document
            mended = mend(document, list(_wishes(faults)), done)
            if mended is UNCHANGED:
                raise ToolArgumentError(self._tool, self._problems(document, faults))
            document = mended
        raise ToolArgumentError(
            self._tool, self._problems(document, list(self._validator.iter_errors(document)))
        )

    def _problems(self, document: Any, faults: "list[ValidationError]") -> tuple[Problem, ...]:
        problems: list[Problem] = []
        for fault in faults[:_MOST_PROBLEMS]:
            problems.extend(self._problem(document, fault))
        return tuple(problems)

    def _problem(self, document: Any, fault: "ValidationError") -> Iterator[Problem]:
        location: Location = tuple(fault.instance_path)
        kind: Any = fault.kind
        match kind.name:
            case "required":
                yield missing((*location, kind.property), self._describe(location, kind.property))
            case "additionalProperties" | "unevaluatedProperties":
                for name in kind.unexpected:
                    yield unknown((*location, name), self._known(fault))
            case "type":
                expected = " or ".join(_with_article(item) for item in kind.types)
                value = look_up(document, location)
                yield Problem(
                    path=path_of(location),
                    message=f"expected {expected}, found {found(value)}",
                    kind="type",
                )
            case _:
                yield Problem(path=path_of(location), message=_shortened(fault.message))

    def _known(self, fault: "ValidationError") -> list[str]:
        node = look_up(self._schema, tuple(fault.schema_path[:-1]))
        properties: Any = look_up(node, ("properties",))
        return (
            list(cast("Mapping[str, Any]", properties)) if isinstance(properties, Mapping) else []
        )

    def _describe(self, location: Location, name: str) -> str:
        if location:
            return ""
        text = look_up(self._schema, ("properties", name, "description"))
        return text if isinstance(text, str) else ""


def output_problem(validator: Validator, value: Any) -> str:
    """The first thing wrong with an output, or nothing."""
    if validator.is_valid(value):
        return ""
    fault = next(iter(validator.iter_errors(value)))
    return f"{path_of(fault.instance_path) or 'output'}: {_shortened(fault.message)}"


def _offline(uri: str) -> Any:
    raise ValueError(f"'{uri}' is outside the document, and schemas are read offline")


def _wishes(faults: "Sequence[ValidationError]") -> Iterator[tuple[Location, JsonType]]:
    for fault in faults:
        kind: Any = fault.kind
        if kind.name == "type":
            for wanted in kind.types:
                if wanted in _COERCIBLE:
                    yield tuple(fault.instance_path), wanted
        elif kind.name in {"anyOf", "oneOfNotValid", "oneOf"}:
            for branch in kind.context:
                yield from _wishes(branch)


def _with_article(json_type: str) -> str:
    if json_type == "null":
        return "null"
    return f"an {json_type}" if json_type[0] in "aio" else f"a {json_type}"


def _shortened(message: str) -> str:
    return message if len(message) <= 300 else f"{message[:299]}…"
