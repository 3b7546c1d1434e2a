"""`SchemaTool`: a tool with a raw JSON Schema (MCP, REST, SQL, remote)."""

from collections.abc import Awaitable, Callable, Collection, Mapping
from typing import Any

from pegboard.core.context import Arguments, ToolContext
from pegboard.core.tool import ToolSpec
from pegboard.core.wire_names import is_wire_name, wire_name
from pegboard.errors import SourceUnavailable, ToolSignatureError
from pegboard.tools.input_validation import ValidationResult, check_arguments

Run = Callable[[Mapping[str, Any], ToolContext[Any]], Awaitable[Any]]


class SchemaTool:
    """A spec and an async function.

    An input schema that does not say how it treats unknown arguments is shown and enforced closed.

    ```python
    spec = ToolSpec(name="ping", input_schema={"type": "object", "properties": {}})
    SchemaTool(spec=spec, run=ping)
    ```

    Args:
        spec: What it is.
        run: Does it.
        upstream: The definition of the upstream without the operator's overrides, which is pinned.
            None for a tool without an upstream.
        overridden: The fields of the spec that the operator overrides, also with an equal value.

    Raises:
        ToolSignatureError: The name is not one that a model provider accepts.
    """

    def __init__(
        self,
        *,
        spec: ToolSpec,
        run: Run,
        upstream: ToolSpec | None = None,
        overridden: Collection[str] = (),
    ) -> None:
        if not is_wire_name(spec.name):
            raise ToolSignatureError(
                f"'{spec.name}' is not a tool name: at most 64 letters, digits, '_' and '-'"
            )
        self._given = spec
        self.spec = spec.replace(input_schema=lambda: _close(spec))
        self.run = run
        self.overridden = frozenset(overridden)
        self.upstream: ToolSpec | None = None
        if upstream is not None:
            self.upstream = upstream.replace(input_schema=lambda: _close(upstream))

    def in_source(self, source: str) -> "SchemaTool":
        """The same as a tool of this source."""
        if source == self.spec.source:
            return self
        action = self.spec.action or self.spec.name
        name = wire_name(source, action)
        changed = self.spec.replace(name=name, action=action, source=source)
        return SchemaTool(
            spec=changed, run=self.run, upstream=self.upstream, overridden=self.overridden
        )

    def validate_input(self, arguments: Arguments) -> ValidationResult:
        """Validate arguments as a call does, without the call."""
        from pegboard.tools.schema_arguments import SchemaArguments

        read = SchemaArguments(self.spec.name, self.spec.input_schema)
        return check_arguments(read, arguments)

    def check_schemas(self) -> None:
        """Check the schemas that were given as such; a function that makes one is not called.

        Raises:
            ToolSignatureError: A schema is broken, refers to something outside itself, or has too
                many alternatives.
        """
        from pegboard.schemas.validator import compile_schema

        for schema in self._given.list_built_schemas():
            try:
                compile_schema(self.spec.name, schema)
            except SourceUnavailable as error:
                raise ToolSignatureError(error.message) from error

    def __repr__(self) -> str:
        return f"SchemaTool({self.spec.name!r})"


def _close(spec: ToolSpec) -> Mapping[str, Any]:
    from pegboard.tools.schema_arguments import close_schema

    return close_schema(spec.input_schema)
