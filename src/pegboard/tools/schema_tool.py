"""A tool that comes with a JSON Schema of its own: MCP, REST, SQL, remote."""

from collections.abc import Awaitable, Callable, Mapping
from typing import Any

from pegboard.core.context import ToolContext
from pegboard.core.tool import ToolSpec
from pegboard.tools.raw_schema import closed

Run = Callable[[Mapping[str, Any], ToolContext[Any]], Awaitable[Any]]


class SchemaTool:
    """A spec and an async function.

    An input schema that does not say how it treats unknown arguments is shown and enforced closed.

    ```python
    spec = ToolSpec(name="ping", input_schema={"type": "object", "properties": {}})
    SchemaTool(spec=spec, run=ping)
    ```
    """

    def __init__(self, *, spec: ToolSpec, run: Run) -> None:
        self.spec = spec.changed(input_schema=lambda: closed(spec.input_schema))
        self.run = run

    def __repr__(self) -> str:
        return f"SchemaTool({self.spec.name!r})"
