"""`structured_llm_call`: an answer of a model as a JSON object that fits a schema."""

from collections.abc import Callable, Iterator, Sequence
from typing import Any, Literal

from msgspec import Struct, structs

from pegboard.core.model_messages import (
    Message,
    ModelRequest,
    ModelResponse,
    ModelSettings,
    ModelUsage,
    SystemMessage,
    ToolMessage,
    UserMessage,
)
from pegboard.core.ports.chat_model import ChatModel, complete
from pegboard.core.tool import JsonSchema
from pegboard.engines.answer_schema import MAX_REPAIRS, AnswerSchema, format_problems
from pegboard.errors import ContextTooLong, InvalidRequest, ToolArgumentError, Unavailable

UsageReport = Callable[[ModelUsage], None]
SchemaMode = Literal["native", "tool", "prompted"]
"""How a model is held to a schema: by its provider, by a call of one tool, or by the prompt."""


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
    settings: ModelSettings | None = None,
    report: UsageReport | None = None,
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
        settings: How it writes an answer; None for the provider's defaults.
        report: Called with the usage of each request when it is answered, so that what a call has
            cost that fails in the end is known too.

    Raises:
        InvalidRequest: The schema is of no object; or as `ChatModel` says.
        Unavailable: No answer fits; or as `ChatModel` says.
    """
    request = ModelRequest(messages=tuple(messages), settings=settings or ModelSettings())
    talk = _Talk(model, AnswerSchema(schema), request, report)
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

    def __init__(
        self,
        model: ChatModel,
        schema: AnswerSchema,
        request: ModelRequest,
        report: UsageReport | None,
    ) -> None:
        self._report = report
        self._model = model
        self._schema = schema
        self._request = request
        self.usage = ModelUsage()

    async def run(self, mode: SchemaMode) -> SchemaAnswer:
        """Ask in one way, and again with the faults."""
        request = self._in_mode(mode)
        faults = ""
        for number in range(MAX_REPAIRS + 1):
            response = await complete(self._model, request)
            self.usage += response.usage
            if self._report is not None:
                self._report(response.usage)
            try:
                value = self._schema.read(response)
            except ToolArgumentError as error:
                faults = format_problems(error)
                told = self._ask_again(response, error, mode)
            else:
                return SchemaAnswer(
                    value=value, usage=self.usage, model=response.model, mode=mode, repairs=number
                )
            request = structs.replace(
                request, messages=(*request.messages, response.message, *told)
            )
        raise Unavailable(
            f"The model '{self._model.name}' gave no answer in the requested form, "
            f"{MAX_REPAIRS + 1} times; last:\n{faults}"
        )

    def _in_mode(self, mode: SchemaMode) -> ModelRequest:
        request = self._request
        match mode:
            case "native":
                return structs.replace(request, output_schema=self._schema.schema)
            case "tool":
                tool = self._schema.tool
                return structs.replace(request, tools=(tool,), tool_choice=tool.name)
            case "prompted":
                order = SystemMessage(text=self._schema.describe())
                return structs.replace(request, messages=_place_order(request.messages, order))

    def _ask_again(
        self, response: ModelResponse, error: ToolArgumentError, mode: SchemaMode
    ) -> Iterator[Message]:
        faults = f"This answer does not fit:\n{format_problems(error)}"
        for call in response.message.calls:
            yield ToolMessage(call_id=call.id, name=call.name, text=faults, is_error=True)
        if response.message.calls:
            return
        if mode == "tool":
            yield UserMessage(text=f"{faults}\n\nCall the tool '{self._schema.tool.name}'.")
        else:
            yield UserMessage(text=self._schema.describe_faults(error))


def _list_modes(model: ChatModel) -> list[SchemaMode]:
    modes: list[SchemaMode] = ["native"] if model.supports_schema else []
    if model.supports_tools:
        modes.append("tool")
    return [*modes, "prompted"]


def _place_order(messages: tuple[Message, ...], order: SystemMessage) -> tuple[Message, ...]:
    """The order behind the instructions, which stand first."""
    count = sum(1 for message in messages if isinstance(message, SystemMessage))
    return (*messages[:count], order, *messages[count:])
