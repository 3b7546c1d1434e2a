"""Pegboard puts every capability an AI agent can use on one board.

```python
from pegboard import ToolRegistry, tool


@tool
def letter_counter(word: str, letter: str) -> int:
    \"\"\"Count occurrences of a letter in a word.\"\"\"
    return word.lower().count(letter.lower())


registry = ToolRegistry([letter_counter])
registry.call_sync("letter_counter", '{"word": "strawberry", "letter": "r"}').unwrap()  # 3
```
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pegboard.access import CallRule, Policy
    from pegboard.core.context import Progress, ToolContext
    from pegboard.core.event import CallRecord
    from pegboard.core.principal import LOCAL, Principal
    from pegboard.core.result import Artifact, ToolResult
    from pegboard.core.tool import Limits, Retry, ToolSpec
    from pegboard.errors import (
        MCPConnectionError,
        PegboardError,
        ToolArgumentError,
        ToolFailed,
        ToolSignatureError,
        Unavailable,
    )
    from pegboard.registry import ToolRegistry
    from pegboard.runtime import Pegboard, builtin
    from pegboard.runtime.standalone.agent import Agent
    from pegboard.runtime.standalone.builtin import discover_builtin_tools
    from pegboard.runtime.standalone.mcp_client import MCPClient
    from pegboard.runtime.standalone.model import Model
    from pegboard.tools import BaseTool, SchemaTool, prompt, resource, tool

__version__ = "0.1.0"

_HOMES = {
    "LOCAL": "pegboard.core.principal",
    "Agent": "pegboard.runtime.standalone.agent",
    "Artifact": "pegboard.core.result",
    "BaseTool": "pegboard.tools",
    "CallRecord": "pegboard.core.event",
    "CallRule": "pegboard.access",
    "Limits": "pegboard.core.tool",
    "MCPClient": "pegboard.runtime.standalone.mcp_client",
    "MCPConnectionError": "pegboard.errors",
    "Model": "pegboard.runtime.standalone.model",
    "Pegboard": "pegboard.runtime",
    "PegboardError": "pegboard.errors",
    "Policy": "pegboard.access",
    "Principal": "pegboard.core.principal",
    "Progress": "pegboard.core.context",
    "Retry": "pegboard.core.tool",
    "SchemaTool": "pegboard.tools",
    "ToolArgumentError": "pegboard.errors",
    "ToolContext": "pegboard.core.context",
    "ToolFailed": "pegboard.errors",
    "ToolRegistry": "pegboard.registry",
    "ToolResult": "pegboard.core.result",
    "ToolSignatureError": "pegboard.errors",
    "ToolSpec": "pegboard.core.tool",
    "Unavailable": "pegboard.errors",
    "builtin": "pegboard.runtime",
    "discover_builtin_tools": "pegboard.runtime.standalone.builtin",
    "prompt": "pegboard.tools",
    "resource": "pegboard.tools",
    "tool": "pegboard.tools",
}

__all__ = [
    "LOCAL",
    "Agent",
    "Artifact",
    "BaseTool",
    "CallRecord",
    "CallRule",
    "Limits",
    "MCPClient",
    "MCPConnectionError",
    "Model",
    "Pegboard",
    "PegboardError",
    "Policy",
    "Principal",
    "Progress",
    "Retry",
    "SchemaTool",
    "ToolArgumentError",
    "ToolContext",
    "ToolFailed",
    "ToolRegistry",
    "ToolResult",
    "ToolSignatureError",
    "ToolSpec",
    "Unavailable",
    "builtin",
    "discover_builtin_tools",
    "prompt",
    "resource",
    "tool",
]


def __getattr__(name: str) -> Any:
    """Import a public name when it is first asked for."""
    home = _HOMES.get(name)
    if home is None:
        raise AttributeError(f"module 'pegboard' has no attribute {name!r}")
    value = globals()[name] = getattr(import_module(home), name)
    return value


def __dir__() -> list[str]:
    return [*__all__, "__version__"]
