"""Tools written as classes: the five members, and nothing to register."""

import inspect
from abc import ABC, abstractmethod
from collections.abc import Mapping
from functools import partial
from typing import Any

from pegboard.concurrency.thread_pool import POOL
from pegboard.core.context import ToolContext
from pegboard.core.tool import Effect, JsonSchema, ToolSpec
from pegboard.errors import ToolSignatureError
from pegboard.tools.schema_tool import SchemaTool
from pegboard.tools.tool_options import read_options


class BaseTool(ABC):
    """A tool as a class: name, description, category, parameters_schema, run.

    ```python
    class Shout(BaseTool):
        name = "shout"
        description = "Say it loudly."
        parameters_schema = {
            "type": "object",
            "properties": {"text": {"type": "string"}},
            "required": ["text"],
        }

        def run(self, text: str) -> str:
            return text.upper()
    ```

    `run` may be async; a sync one runs in a thread. A registry takes an instance, or the class, of
    which it makes one.
    """

    name: str
    description: str = ""
    category: str = "general"
    effect: Effect = Effect.WRITE
    parameters_schema: JsonSchema

    @abstractmethod
    def run(self, **arguments: Any) -> Any:
        """Do it, with arguments that fit `parameters_schema`."""


def make_instance(kind: type[BaseTool]) -> BaseTool:
    """Make an instance of a tool class.

    Raises:
        ToolSignatureError: It needs arguments, or has no `run`.
    """
    try:
        return kind()
    except TypeError as error:
        raise ToolSignatureError(
            f"the tool class {kind.__name__} cannot be made without arguments ({error}); give an "
            "instance of it"
        ) from error


def tool_of_class(instance: BaseTool) -> SchemaTool:
    """The `Tool` that an instance is.

    Raises:
        ToolSignatureError: A member is missing or of the wrong type; names class and member.
    """
    where = type(instance).__name__
    for member in ("name", "parameters_schema"):
        if not hasattr(instance, member):
            raise ToolSignatureError(f"the tool class {where} has no '{member}'")
    said = {key: getattr(instance, key) for key in ("name", "description", "category", "effect")}
    options = read_options(where, said)
    spec = ToolSpec(
        **options, action=options["name"], input_schema=lambda: instance.parameters_schema
    )

    async def run(arguments: Mapping[str, Any], _ctx: ToolContext[Any]) -> Any:
        if inspect.iscoroutinefunction(instance.run):
            return await instance.run(**arguments)
        return await POOL.run(partial(instance.run, **arguments), owner=spec.name)

    return SchemaTool(spec=spec, run=run)
