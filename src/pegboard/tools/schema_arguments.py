"""`SchemaArguments`: validation of arguments by a raw JSON Schema."""

from collections.abc import Mapping
from typing import Any, cast

from pegboard.core.context import Arguments
from pegboard.core.tool import JsonSchema
from pegboard.errors import Problem, ToolArgumentError
from pegboard.schemas import jsonschema_errors
from pegboard.schemas.coercion import MAX_ROUNDS, UNREADABLE, coerce_document
from pegboard.schemas.problems import malformation
from pegboard.schemas.strict_json import Location
from pegboard.schemas.validator import (
    TOO_MANY_ERRORS,
    allows_integers,
    compile_schema,
    restore_integers,
)
from pegboard.tools.raw_arguments import parse_arguments

_SAYS_IT_ITSELF = frozenset(
    {"additionalProperties", "unevaluatedProperties", "patternProperties", "propertyNames"}
    | {"allOf", "anyOf", "oneOf", "not", "if", "$ref", "$dynamicRef", "dependentSchemas"}
)


class SchemaArguments:
    """Validates arguments by a raw JSON Schema, with the same coercion as typed tools.

    Args:
        tool: The tool's name, for messages.
        schema: Compiled here, once.
    """

    def __init__(self, tool: str, schema: JsonSchema) -> None:
        self._tool = tool
        self._schema = schema
        self._validator = compile_schema(tool, schema)
        self._names_integers = allows_integers(schema)

    def __call__(self, raw: Arguments) -> dict[str, Any]:
        """The arguments, valid.

        Raises:
            ToolArgumentError: They do not fit; one problem a fault.
        """
        document = parse_arguments(self._tool, raw)
        if not self._validator.is_valid(document):
            document = self._coerce(document)
        return restore_integers(document, self._validator) if self._names_integers else document

    def _coerce(self, document: dict[str, Any]) -> dict[str, Any]:
        done: set[Location] = set()
        for _ in range(MAX_ROUNDS + 1):
            found = self._validator.list_errors(document)
            if found is None:
                problem = Problem(path="", message=TOO_MANY_ERRORS)
                raise ToolArgumentError(self._tool, (problem,))
            if not found:
                return document
            mended = coerce_document(
                document, jsonschema_errors.find_expected_types(document, found), done
            )
            if mended is UNREADABLE:
                raise ToolArgumentError(
                    self._tool, jsonschema_errors.problems(self._schema, document, found)
                )
            document = mended
        raise ToolArgumentError(self._tool, (malformation("texts within texts, too many times"),))


def close_schema(schema: JsonSchema) -> dict[str, Any]:
    """Close a schema: an object without properties that it does not name.

    A schema that declares how it treats other properties, or has combinators, stays as it is.
    """
    result: dict[str, Any] = {"type": "object", **_copy(schema)}
    if not result.keys() & _SAYS_IT_ITSELF:
        result.setdefault("properties", {})
        result["additionalProperties"] = False
    return result


def _copy(node: Any) -> Any:
    """A schema of one's own; what it is made of besides objects and lists never changes."""
    if isinstance(node, Mapping):
        return {key: _copy(item) for key, item in cast("Mapping[str, Any]", node).items()}
    if isinstance(node, list):
        return [_copy(item) for item in cast("list[Any]", node)]
    return node
