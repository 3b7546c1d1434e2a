"""`AnswerSchema`: what a model is told of the form of its answer, and whether an answer has it."""

import json
from typing import Any

from pegboard.core.model_messages import ModelResponse, ModelTool
from pegboard.core.tool import JsonSchema
from pegboard.errors import InvalidRequest, PegboardError, Problem, ToolArgumentError
from pegboard.schemas.json_in_text import find_objects
from pegboard.tools.schema_arguments import SchemaArguments

MAX_REPAIRS = 2
"""How often a model may answer again."""
_TOOL = "answer"


class AnswerSchema:
    """The JSON Schema of an answer, which is a JSON object.

    Args:
        schema: Of an object.

    Raises:
        InvalidRequest: It is of no object, or no valid schema.
    """

    def __init__(self, schema: JsonSchema) -> None:
        if schema.get("type") != "object":
            raise InvalidRequest("The schema of an answer has the type 'object'.")
        try:
            self._validate = SchemaArguments(_TOOL, schema)
        except PegboardError as error:
            raise InvalidRequest(f"The schema of the answer cannot be used: {error}") from error
        self.schema = schema
        self.tool = ModelTool(name=_TOOL, description="Give the answer.", parameters=schema)
        """A tool by whose call a model can answer."""

    @property
    def is_specific(self) -> bool:
        """Whether it names properties: a provider held to one that does not gives an empty one."""
        return bool(self.schema.get("properties"))

    def describe(self) -> str:
        """What a model is told."""
        return (
            "Answer with one JSON object and nothing else. It must fit this JSON Schema:\n"
            f"{json.dumps(self.schema, ensure_ascii=False)}"
        )

    def describe_faults(self, error: ToolArgumentError) -> str:
        """What a model is told of an answer that does not fit."""
        faults = format_problems(error)
        return f"This answer does not fit:\n{faults}\n\n{self.describe()}"

    def read(self, response: ModelResponse) -> dict[str, Any]:
        """The answer, valid, with the corrections of arguments (`"5"` for a number).

        Raises:
            ToolArgumentError: It does not fit; each fault is a problem.
        """
        if response.finish == "length":
            problem = Problem(path="", message="the answer was cut at its limit: be brief")
            raise ToolArgumentError(_TOOL, (problem,))
        for call in response.message.calls:
            if call.name == _TOOL:
                return self._validate(call.arguments)
        first: ToolArgumentError | None = None
        for text in find_objects(response.message.text):
            try:
                return self._validate(text)
            except ToolArgumentError as error:
                first = first or error
        problem = Problem(path="", message="there is no JSON object in the answer")
        raise first or ToolArgumentError(_TOOL, (problem,))


def format_problems(error: ToolArgumentError) -> str:
    """The faults of an answer, a line each."""
    return "\n".join(f"- {problem}" for problem in error.problems)
