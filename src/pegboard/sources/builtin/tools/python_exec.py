"""`python_exec`: runs Python code in a sandboxed interpreter."""

from typing import Annotated, Any

from pydantic import Field
from typing_extensions import TypedDict

from pegboard.core.context import ToolContext
from pegboard.core.ports.sandbox import CodeJob, CodeOutcome, SandboxLimits
from pegboard.core.ports.services import Services
from pegboard.errors import InvalidRequest
from pegboard.sources.builtin.sandbox_access import sandbox_of
from pegboard.sources.builtin.sandbox_access import why_no_code as probe
from pegboard.sources.builtin.sandbox_access import why_no_sandbox as availability
from pegboard.tools import tool

__all__ = ["availability", "probe", "python_exec"]

_MEMORY = 128 << 20
_MAX_OUTPUT = 1_000_000  # of the value; the board stores and pages large ones
_MAX_PRINTED = 20_000
_MAX_PRINTED_WITH_AN_ERROR = 2_000


class PythonResult(TypedDict):
    """The value of the last expression, and the printed output."""

    value: Any
    printed: str
    printed_truncated: bool


# It has the effects of the tools that it calls, so it counts as writing; without `call_tool` it
# would be pure.
@tool(
    effect="write",
    category="computation",
    trusted=False,
    open_world=False,
    timeout=65,
    tags=("python", "code"),
    capabilities=("run_code",),
)
async def python_exec(
    code: Annotated[str, Field(min_length=1, max_length=100_000)],
    ctx: ToolContext[Services],
    *,
    inputs: Annotated[dict[str, Any], Field(max_length=100)] | None = None,
    timeout_seconds: Annotated[float, Field(gt=0, le=60)] = 10,
) -> PythonResult:
    """Run Python code in a sandbox and return the value of its last expression.

    For calculations, for shaping data, and for calling several tools with logic between them.
    There are no files, no network and no packages; of the standard library there are json, re,
    math, decimal, datetime, collections, itertools, functools, random, csv, dataclasses, base64,
    hashlib and a few more. There is no `yield` and no `del`. The value must be JSON: text, numbers,
    lists, dicts. Nothing is kept between runs.

    `call_tool("name", {"argument": 1})` calls another tool, with the caller's own rights, and
    returns its result; do not await it. A tool that fails raises a RuntimeError.

    Args:
        code: The code, such as "rows = call_tool('db__query', {'sql': s}); len(rows)".
        ctx: Has the sandbox.
        inputs: Values that the code finds as variables, such as {"s": "SELECT 1"}.
        timeout_seconds: When to stop it.
    """
    given = inputs or {}
    for name in given:
        if not name.isidentifier():
            raise InvalidRequest(f"'{name}' in 'inputs' is not a name that code can use.")

    async def call_tool(name: str, arguments: dict[str, Any] | None = None) -> Any:
        result = await ctx.call(name, arguments or {})
        value = result.unwrap()
        return result.text if isinstance(value, tuple) else value  # parts of types other than text

    outcome = await sandbox_of(ctx).run_code(
        CodeJob(
            code=code,
            inputs=given,
            functions={"call_tool": call_tool} if ctx.caller is not None else {},
            limits=SandboxLimits(
                timeout=timeout_seconds, memory_bytes=_MEMORY, output_bytes=_MAX_OUTPUT
            ),
        )
    )
    if outcome.error or outcome.stopped:
        raise InvalidRequest(_problem(outcome, timeout_seconds))
    return PythonResult(
        value=outcome.value,
        printed=outcome.printed[:_MAX_PRINTED],
        printed_truncated=len(outcome.printed) > _MAX_PRINTED,
    )


def _problem(outcome: CodeOutcome, timeout: float) -> str:
    stopped = {
        "": f"The code failed: {outcome.error}",
        "memory": f"The code was stopped: it needs more than {_MEMORY >> 20} MB.",
    }
    text = stopped.get(outcome.stopped, f"The code was stopped: it took more than {timeout:g} s.")
    if outcome.printed:
        text += f"\nBefore that it printed:\n{outcome.printed[-_MAX_PRINTED_WITH_AN_ERROR:]}"
    return text
