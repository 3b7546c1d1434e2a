"""`TypedArguments`: validation of arguments by the types of a function.

Strict JSON validation by pydantic comes first, and a right call pays for nothing else. Where it
refuses, `coercion` mends the place and strict validation has the last word, so that the schema that
is shown is the schema that is enforced.
"""

from collections.abc import Mapping
from functools import cached_property
from typing import Any, cast

from pydantic import TypeAdapter, ValidationError
from pydantic_core import to_json

from pegboard.core.context import Arguments
from pegboard.errors import ToolArgumentError
from pegboard.schemas.coercion import MAX_ROUNDS, UNREADABLE, coerce_document
from pegboard.schemas.problems import malformation
from pegboard.schemas.strict_json import Location
from pegboard.tools.core_schema import enforcement
from pegboard.tools.pydantic_errors import find_expected_types, problems
from pegboard.tools.raw_arguments import encode_arguments, parse_arguments
from pegboard.tools.schema_arguments import SchemaArguments


class TypedArguments:
    """Validates arguments by a pydantic adapter of a `TypedDict` of the parameters."""

    def __init__(self, tool: str, adapter: TypeAdapter[Any], schema: Mapping[str, Any]) -> None:
        self._tool = tool
        self._schema = schema
        enforced = enforcement(cast("dict[str, Any]", adapter.core_schema))
        self._validate_json = enforced.validate_json
        self._is_suspicious = enforced.is_suspicious

    def __call__(self, raw: Arguments) -> dict[str, Any]:
        """The arguments by parameter name, each of its declared type.

        Raises:
            ToolArgumentError: They do not fit; one problem a fault.
        """
        text = raw if isinstance(raw, str) and raw else encode_arguments(self._tool, raw)
        if self._is_suspicious is not None and self._is_suspicious(text):
            text = to_json(self._shown(text))
        try:
            return self._validate_json(text)
        except ValidationError:
            return self._coerce(parse_arguments(self._tool, text))

    @cached_property
    def _shown(self) -> SchemaArguments:
        """The schema that is shown, for texts that pydantic reads more widely."""
        return SchemaArguments(self._tool, _without_unique(self._schema))

    def _coerce(self, document: Any) -> dict[str, Any]:
        done: set[Location] = set()
        for _ in range(MAX_ROUNDS + 1):
            text = to_json(document)
            if self._is_suspicious is not None and self._is_suspicious(text):
                document = self._shown(text)
                text = to_json(document)
            try:
                return self._validate_json(text)
            except ValidationError as error:
                faults = error.errors(include_url=False)
            mended = coerce_document(document, find_expected_types(faults), done)
            if mended is UNREADABLE:
                raise ToolArgumentError(self._tool, problems(self._schema, faults))
            document = mended
        raise ToolArgumentError(self._tool, (malformation("texts within texts, too many times"),))


def _without_unique(schema: Any) -> Any:
    """The same without `uniqueItems`: what is given twice to a set is one item of it."""
    if isinstance(schema, Mapping):
        node = cast("Mapping[str, Any]", schema)
        return {
            key: _without_unique(value)
            for key, value in node.items()
            if key != "uniqueItems" or value is not True
        }
    if isinstance(schema, list):
        return [_without_unique(item) for item in cast("list[Any]", schema)]
    return schema
