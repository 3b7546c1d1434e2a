"""Tools written as classes: the five members, and nothing to register."""

from abc import ABC, abstractmethod
from typing import Any

from pegboard.core.tool import Effect, JsonSchema


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

    `run` may be async; a sync one runs in a thread.
    """

    name: str
    description: str = ""
    category: str = "general"
    effect: Effect = Effect.WRITE
    parameters_schema: JsonSchema

    @abstractmethod
    def run(self, **arguments: Any) -> Any:
        """Do it, with arguments that fit `parameters_schema`."""
