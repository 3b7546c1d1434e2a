"""`structured_llm_call`: an answer of a model as a JSON object that fits a schema."""

import json
from collections.abc import Iterator, Sequence
from typing import Any, Literal

from msgspec import Struct, structs

from pegboard.core.model_messages import (
    Message,
    ModelRequest,
    ModelResponse,
    ModelTool,
    ModelUsage,
    SystemMessage,
    ToolMessage,
    UserMessage,
)
from pegboard.core.ports.chat_model import ChatModel, complete
from pegboard.core.tool import JsonSchema
from pegboard.errors import ContextTooLong, InvalidRequest, Problem, ToolArgumentError, Unavailable
from pegboard.schemas.json_in_text import find_objects
from pegboard.tools.schema_arguments import SchemaArguments

SchemaMode = Literal["native", "tool", "prompted"]
"""How a model is held to a schema: by its provider, by a call of one tool, or by the prompt."""

_REPAIRS = 2
_TOOL = "answer"


class SchemaAnswer(Struct, frozen=True, kw_only=True):
    """An answer that fits its schema.

    Attributes:
        value: The JSON object.
        usage: Of all requests, repairs included.
        model: The provider's name of the model that answered.
        mode: How the model was held to the schema.
        repairs: How often it had to answer again.
    """

    value: dict[str, Any]
    usage: ModelUsage
    model: str
    mode: SchemaMode
    repairs: int = 0


async def structured_llm_call(
    model: ChatModel,
    messages: Sequence[Message],
    schema: JsonSchema,
    *,
    max_output: int | None = None,
    temperature: float | None = None,
) -> SchemaAnswer:
    """Ask a model for a JSON object that fits a schema.

    The provider holds the model to the schema where it can, else the model must call a tool with
    that schema, else it is told to; a provider that refuses one way is asked the next. The answer
    is validated in each case, with the corrections of arguments (`"5"` for a number). An answer
    that does not fit goes back with its faults, at most twice.

    Args:
        model: Is asked; it is streamed, but nothing of it is shown.
        messages: What it is asked, as for any request.
        schema: JSON Schema of an object.
        max_output: Tokens of one answer, at most.
        temperature: None for the provider's default.

    Raises:
        InvalidRequest: The schema is of no object; or as `ChatModel` says.
        Unavailable: No answer fits; or as `ChatModel` says.
    """
    if schema.get("type") != "object":
        raise InvalidRequest("The schema of an answer has the type 'object'.")
    request = ModelRequest(messages=tuple(messages), max_output=max_output, temperature=temperature)
    talk = _Talk(model, schema, request)
    modes = _list_modes(model)
    for mode in modes:
        try:
            return await talk.run(mode)
        except ContextTooLong:
            raise
        except InvalidRequest:
            if talk.usage.requests or mode == modes[-1]:
                raise
    raise AssertionError("the last mode returns or raises")


class _Talk:
    """One structured call: requests until an answer fits."""

    def __init__(self, model: ChatModel, schema: JsonSchema, request: ModelRequest) -> None:
        self._model = model
        self._schema = schema
        self._request = request
        self._validate = SchemaArguments(_TOOL, schema)
        self.usage = ModelUsage()

    async def run(self, mode: SchemaMode) -> SchemaAnswer:
        """Ask in one way, and again with the faults."""
        request = self._in_mode(mode)
        faults = ""
        for number in range(_REPAIRS + 1):
            response = await complete(self._model, request)
            self.usage += response.usage
            try:
                value = self._read(response)
            except ToolArgumentError as error:
                faults = "\n".join(f"- {problem}" for problem in error.problems)
            else:
                return SchemaAnswer(
                    value=value, usage=self.usage, model=response.model, mode=mode, repairs=number
                )
            told = self._ask_again(response, faults, mode)
            request = structs.replace(
                request, messages=(*request.messages, response.message, *told)
            )
        raise Unavailable(
            f"The model '{self._model.name}' gave no answer in the requested form, "
            f"{_REPAIRS + 1} times; last:\n{faults}"
        )

    def _in_mode(self, mode: SchemaMode) -> ModelRequest:
        request = self._request
        match mode:
            case "native":
                return structs.replace(request, output_schema=self._schema)
            case "tool":
                tool = ModelTool(
                    name=_TOOL, description="Give the answer.", parameters=self._schema
                )
                return structs.replace(request, tools=(tool,), tool_choice=_TOOL)
            case "prompted":
                order = SystemMessage(text=self._describe())
                return structs.replace(request, messages=_place_order(request.messages, order))

    def _describe(self) -> str:
        return (
            "Answer with one JSON object and nothing else. It must fit this JSON Schema:\n"
            f"{json.dumps(self._schema, ensure_ascii=False)}"
        )

    def _read(self, response: ModelResponse) -> dict[str, Any]:
        """The answer, valid.

        Raises:
            ToolArgumentError: It does not fit.
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

    def _ask_again(
        self, response: ModelResponse, faults: str, mode: SchemaMode
    ) -> Iterator[Message]:
        for call in response.message.calls:
            yield ToolMessage(
                call_id=call.id,
                name=call.name,
                text=f"The answer does not fit:\n{faults}",
                is_error=True,
            )
        if not response.message.calls:
            order = "Call the tool 'answer'." if mode == "tool" else self._describe()
            yield UserMessage(text=f"This answer does not fit:\n{faults}\n\n{order}")


def _list_modes(model: ChatModel) -> list[SchemaMode]:
    modes: list[SchemaMode] = ["native"] if model.supports_schema else []
    if model.supports_tools:
        modes.append("tool")
    return [*modes, "prompted"]


def _place_order(messages: tuple[Message, ...], order: SystemMessage) -> tuple[Message, ...]:
    """The order behind the instructions, which stand first."""
    count = sum(1 for message in messages if isinstance(message, SystemMessage))
    return (*messages[:count], order, *messages[count:])
