"""The model of an agent, for a tool that it calls and that asks for an answer (MCP: sampling)."""

from pegboard.core.elicitation import Sample, SampleMessage, SampleRequest
from pegboard.core.model_messages import (
    AssistantMessage,
    Finish,
    Message,
    ModelRequest,
    ModelSettings,
    ModelUsage,
    SystemMessage,
    UserMessage,
)
from pegboard.core.ports.chat_model import ChatModel, complete
from pegboard.core.result import TextPart
from pegboard.graphs.call_questions import read_sample_text

MAX_TOKENS = 4_000
"""Of one answer, whatever the tool asks for."""
_REASONS: dict[Finish, str] = {"stop": "endTurn", "length": "maxTokens"}


class ModelSampler:
    """Answers the requests of one call by the model of its agent.

    The model is shown what the tool sends, and nothing of the conversation or its tools. Its costs
    are those of the caller: the model of an agent is metered.

    Args:
        model: The model.

    Attributes:
        usage: What the requests have used so far.
    """

    def __init__(self, model: ChatModel) -> None:
        self._model = model
        self.usage = ModelUsage()

    @property
    def name(self) -> str:
        """The name of the model."""
        return self._model.name

    async def sample(self, request: SampleRequest) -> Sample:
        """Ask the model.

        Raises:
            ElicitationUnavailable: The request has something other than text.
            PegboardError: As of `ChatModel`, and when a quota is used up.
        """
        system = [SystemMessage(text=request.system_prompt)] if request.system_prompt else []
        response = await complete(
            self._model,
            ModelRequest(
                messages=(*system, *map(_to_message, request.messages)),
                settings=ModelSettings(
                    max_output=max(1, min(request.max_tokens, MAX_TOKENS)),
                    temperature=request.temperature,
                    stop=request.stop_sequences,
                ),
            ),
        )
        self.usage += response.usage
        return Sample(
            content=(TextPart(text=response.message.text),),
            model=response.model or self._model.name,
            stop_reason=_REASONS.get(response.finish, response.finish),
        )


def _to_message(message: SampleMessage) -> Message:
    text = read_sample_text(message)
    return AssistantMessage(text=text) if message.role == "assistant" else UserMessage(text=text)
