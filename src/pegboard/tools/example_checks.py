"""Examples of a tool: arguments that its input schema accepts."""

from collections.abc import Callable, Mapping
from typing import Any

from pegboard.core.context import Arguments
from pegboard.core.tool import ToolSpec
from pegboard.errors import ToolArgumentError, ToolSignatureError


def check_examples(
    spec: ToolSpec, read: Callable[[Arguments], Mapping[str, Any]] | None = None
) -> None:
    """Validate the examples of a tool as the arguments of a call.

    Args:
        spec: The tool.
        read: The tool's own reader of arguments; None for one by its input schema.

    Raises:
        ToolSignatureError: An example does not fit; names it and says why.
    """
    if not spec.examples:
        return
    if read is None:
        from pegboard.tools.schema_arguments import SchemaArguments

        read = SchemaArguments(spec.name, spec.input_schema)
    for number, example in enumerate(spec.examples):
        try:
            read(example)
        except ToolArgumentError as error:
            raise ToolSignatureError(
                f"'{spec.name}': examples[{number}] does not fit the input schema. {error.message}"
            ) from error
