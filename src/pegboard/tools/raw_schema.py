"""Validating arguments and outputs of tools that come with a JSON Schema of their own.

The schema is compiled once, by jsonschema-rs, and always offline: a `$ref` that points outside the
document fails, it never fetches a URL or a file.
"""

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any, Protocol, cast

from pegboard.core.context import Arguments
from pegboard.core.tool import JsonSchema
from pegboard.errors import SourceUnavailable, ToolArgumentError
from pegboard.tools import faults
from pegboard.tools.coercion import MOST_ROUNDS, UNCHANGED, mend
from pegboard.tools.documents import parsed
from pegboard.tools.json_text import Location
from pegboard.tools.problems import malformed, path_of, shortened
from pegboard.tools.whole_numbers import as_integers, names_integers

if TYPE_CHECKING:
    from jsonschema_rs import ValidationError

_MOST_STEPS = 100_000
"""Steps of a backtracking pattern; then the text counts as not matching."""


class Validator(Protocol):
    """What we use of a compiled jsonschema-rs validator."""

    def is_valid(self, instance: Any) -> bool:
        """Whether the instance fits."""
        ...

    def iter_errors(self, instance: Any) -> "Iterator[ValidationError]":
        """Every fault."""
        ...


def compiled(name: str, schema: JsonSchema) -> Validator:
    """A validator of this schema, made offline. Formats are annotations.

    Args:
        name: The tool's, for the message.
        schema: JSON Schema of any draft; 2020-12 unless it says otherwise.

    Raises:
        SourceUnavailable: The schema is broken or refers to something outside itself.
    """
    import jsonschema_rs

    try:
        return jsonschema_rs.validator_for(
            dict(schema),
            retriever=_offline,
            validate_formats=False,
            pattern_options=jsonschema_rs.FancyRegexOptions(backtrack_limit=_MOST_STEPS),
        )
    except jsonschema_rs.ValidationError as error:
        place = path_of(error.instance_path)
        reason = shortened(f"at '{place}': {error.message}" if place else error.message)
        raise SourceUnavailable(
            f"'{name}' has a broken JSON Schema: {reason}", permanent=True
        ) from error
    except (ValueError, TypeError, RecursionError) as error:
        reason = shortened(str(error).partition("\n")[0])
        raise SourceUnavailable(
            f"'{name}' has a broken JSON Schema: {reason}", permanent=True
        ) from error


def closed(schema: JsonSchema) -> dict[str, Any]:
    """The schema as it is enforced: an object that takes what it names and nothing else.

    A schema that says how it treats other properties, or is put together from others, is kept.
    """
    result: dict[str, Any] = {"type": "object", **_copied(schema)}
    if not result.keys() & _SAYS_IT_ITSELF:
        result.setdefault("properties", {})
        result["additionalProperties"] = False
    return result


def _copied(node: Any) -> Any:
    """A schema of one's own; what it is made of besides objects and lists never changes."""
    if isinstance(node, Mapping):
        return {key: _copied(item) for key, item in cast("Mapping[str, Any]", node).items()}
    if isinstance(node, list):
        return [_copied(item) for item in cast("list[Any]", node)]
    return node


_SAYS_IT_ITSELF = frozenset(
    {"additionalProperties", "unevaluatedProperties", "patternProperties", "propertyNames"}
    | {"allOf", "anyOf", "oneOf", "not", "if", "$ref", "$dynamicRef", "dependentSchemas"}
)


class SchemaArguments:
    """Reads arguments by a raw JSON Schema: the same coercion as typed tools, no defaults.

    Args:
        tool: The tool's name, for messages.
        schema: Compiled here, once.
    """

    def __init__(self, tool: str, schema: JsonSchema) -> None:
        self._tool = tool
        self._schema = schema
        self._validator = compiled(tool, schema)
        self._names_integers = names_integers(schema)

    def __call__(self, raw: Arguments) -> dict[str, Any]:
        """The arguments, valid.

        Raises:
            ToolArgumentError: They do not fit; one problem a fault.
        """
        document = parsed(self._tool, raw)
        if not self._validator.is_valid(document):
            document = self._mended(document)
        return as_integers(document, self._validator) if self._names_integers else document

    def _mended(self, document: dict[str, Any]) -> dict[str, Any]:
        done: set[Location] = set()
        for _ in range(MOST_ROUNDS + 1):
            found = list(self._validator.iter_errors(document))
            if not found:
                return document
            mended = mend(document, faults.wishes(document, found), done)
            if mended is UNCHANGED:
                raise ToolArgumentError(self._tool, faults.problems(self._schema, document, found))
            document = mended
        raise ToolArgumentError(self._tool, (malformed("texts within texts, too many times"),))


def output_problem(validator: Validator, value: Any) -> str:
    """The first thing wrong with an output, or nothing."""
    if validator.is_valid(value):
        return ""
    fault = next(iter(validator.iter_errors(value)))
    return f"{path_of(fault.instance_path) or 'output'}: {shortened(fault.message)}"


def _offline(uri: str) -> Any:
    raise ValueError(f"'{uri}' is outside the document, and schemas are read offline")
