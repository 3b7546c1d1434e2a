"""Access to the board's sandbox for the tools that run code and commands."""

from typing import Any

from pegboard.core.context import ToolContext
from pegboard.core.ports.sandbox import Sandbox
from pegboard.core.ports.services import Services
from pegboard.errors import SourceUnavailable
from pegboard.sources.builtin.service_access import services_of

_NO_SANDBOX = (
    "it needs a sandbox and there is none: use it on a board, or call it with "
    "ToolContext(deps=Services(sandbox=...))"
)


def sandbox_of(ctx: ToolContext[Any]) -> Sandbox:
    """Return the board's sandbox.

    Raises:
        SourceUnavailable: There is none.
    """
    sandbox = services_of(ctx).sandbox
    if sandbox is None:
        raise SourceUnavailable(
            f"This tool is unavailable: {_NO_SANDBOX}.", nothing_done=True, permanent=True
        )
    return sandbox


def why_no_sandbox(services: Services) -> str:
    """Return why a tool that needs a sandbox is unavailable; empty if it is available."""
    return "" if services.sandbox is not None else _NO_SANDBOX


async def why_no_code(services: Services) -> str:
    """Return why no sandbox for Python works on this machine; empty if one does."""
    return "" if services.sandbox is None else await services.sandbox.why_no_code()


async def why_no_commands(services: Services) -> str:
    """Return why no sandbox for commands works on this machine; empty if one does."""
    return "" if services.sandbox is None else await services.sandbox.why_no_commands()
