"""The validation of a tool's arguments as a call would read them, without the call."""

from dataclasses import replace

from pegboard.core.context import Arguments
from pegboard.core.principal import Principal
from pegboard.core.tool import Tool
from pegboard.errors import ToolArgumentError
from pegboard.execution.compiled_tool import CompiledTool
from pegboard.execution.environment import CallEnvironment
from pegboard.execution.steps.validate import fill_in_handles, handle_parameters, mentions_handle
from pegboard.tools.input_validation import ValidationResult, check_arguments


async def validate_input(
    tool: Tool, arguments: Arguments, environment: CallEnvironment, principal: Principal
) -> ValidationResult:
    """Validate arguments; handles in them count as the stored values of this caller.

    Raises:
        HandleNotFound: A handle is unknown, expired or owned by another caller.
    """
    name, schema = tool.spec.name, tool.spec.input_schema
    if mentions_handle(arguments):
        kept = handle_parameters(schema)
        try:
            arguments = await fill_in_handles(
                name, arguments, environment.results, principal.owner, kept=kept
            )
        except ToolArgumentError as error:
            return ValidationResult(problems=error.problems)
    found = check_arguments(CompiledTool(tool, keyed=False).read, arguments)
    redact = environment.redact
    if redact is None:
        return found
    return ValidationResult(
        problems=tuple(replace(item, message=redact(item.message)) for item in found.problems)
    )
