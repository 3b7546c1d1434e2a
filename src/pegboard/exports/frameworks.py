"""Export tools as objects of other frameworks; their calls go through the registry."""

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from pegboard.core.context import ToolContext
from pegboard.core.principal import LOCAL, Principal
from pegboard.errors import ConfigError
from pegboard.registry import ToolRegistry

if TYPE_CHECKING:
    from langchain_core.runnables import RunnableConfig
    from langchain_core.tools import BaseTool
    from pydantic_ai import RunContext
    from pydantic_ai.toolsets import AbstractToolset


def langchain_tools(
    registry: ToolRegistry,
    *,
    ctx: "ToolContext[Any] | Callable[[RunnableConfig], ToolContext[Any]] | None" = None,
    raise_errors: bool = False,
) -> "list[BaseTool]":
    """The tools that this caller may see, as LangChain tools.

    `tool.invoke` also calls async tools, on an event loop of Pegboard's own. The artifact of an
    answer is the tool's value; where a large result was stored, it names the handle.

    ```python
    from pegboard import exports

    tools = exports.langchain_tools(registry)
    ```

    Args:
        registry: The tools.
        ctx: The caller: a context, or a function that makes one for each call from LangChain's
            config; it is called once with an empty config to decide what is visible. None for the
            local user.
        raise_errors: Whether a failed call raises `ToolException`. Otherwise its text is the
            answer, in a message with status `error` where a model called, and the run goes on.

    Raises:
        ConfigError: LangChain is not installed.
    """
    try:
        from pegboard.exports.langchain_tool import RegistryTool
    except ImportError as error:
        raise ConfigError(
            "LangChain tools need an extra: pip install 'pegboard[langchain]'"
        ) from error
    known = ctx({}) if callable(ctx) else ctx
    principal = (known or ToolContext()).principal
    return [
        RegistryTool.of(tool.spec, registry, ctx=ctx, raise_errors=raise_errors)
        for tool in registry.visible_to_models(principal)
    ]


def pydantic_ai_toolset(
    registry: ToolRegistry,
    *,
    ctx: "ToolContext[Any] | Callable[[RunContext[Any]], ToolContext[Any]] | None" = None,
    id: str | None = None,  # noqa: A002 - what Pydantic AI calls it
    max_retries: int = 2,
    defer_approvals: bool | None = None,
    approver: Principal = LOCAL,
) -> "AbstractToolset[Any]":
    """The tools that the caller may see, as a Pydantic AI toolset; listed anew at each step.

    ```python
    from pegboard import exports
    from pydantic_ai import Agent

    agent = Agent("openai:gpt-5", toolsets=[exports.pydantic_ai_toolset(registry)])
    ```

    A tool's value is given as it is; the handle of a result that was stored is in the metadata of
    the return. Invalid arguments are returned to the model with the reason (`ModelRetry`); every
    other failure is returned with its safe text (`ToolFailed`). A call that a person must approve
    ends the run with `DeferredToolRequests`, if that is among the agent's output types; a run with
    the approval makes exactly that call.

    Args:
        registry: The tools.
        ctx: The caller: a context, or a function that makes one from Pydantic AI's run context.
            None for the local user.
        id: Unique among the toolsets of an agent; needed for durable execution.
        max_retries: How often in a row a model may give invalid arguments for a tool.
        defer_approvals: Whether calls that need an approval are deferred. None looks at the
            agent's output types; say True where only the run has `DeferredToolRequests` among its
            own, or a handler of deferred calls.
        approver: Who approves, for records, where Pydantic AI is given an approval.

    Raises:
        ConfigError: Pydantic AI is not installed.
    """
    try:
        from pegboard.exports.pydantic_ai import RegistryToolset
    except ImportError as error:
        raise ConfigError(
            "A toolset of Pydantic AI needs it: pip install 'pydantic-ai-slim>=2.60'"
        ) from error
    return RegistryToolset(
        registry,
        ctx=ctx,
        id=id,
        max_retries=max_retries,
        defer_approvals=defer_approvals,
        approver=approver,
    )
