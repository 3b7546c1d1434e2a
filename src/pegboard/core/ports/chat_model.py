"""The chat model port: a language model that answers messages and asks for calls of tools."""

from collections.abc import AsyncIterator
from typing import Protocol

from pegboard.core.model_messages import ModelPart, ModelRequest, ModelResponse
from pegboard.errors import Unavailable


class ChatModel(Protocol):
    """A language model.

    Errors are ours: `Unavailable` when a later try may help (rate limits, outages, a stream that
    was cut), with `retry_after` where the provider says it; `InvalidRequest` when the request
    cannot be served as it is (too long, refused); `ConfigError` when the configuration is wrong
    (key, name). No message carries a secret or the provider's own text.
    """

    @property
    def name(self) -> str:
        """`provider:model`."""
        ...

    @property
    def context_window(self) -> int | None:
        """Tokens of input and output together; None when it is not known."""
        ...

    @property
    def supports_tools(self) -> bool:
        """Whether requests may carry tools."""
        ...

    @property
    def supports_schema(self) -> bool:
        """Whether its provider holds an answer to `output_schema`.

        A provider that does not, against expectation, ends in `InvalidRequest`.
        """
        ...

    def stream(self, request: ModelRequest, /) -> AsyncIterator[ModelPart]:
        """Ask the model: parts of its answer as they come, and last the whole `ModelResponse`."""
        ...


async def complete(model: ChatModel, request: ModelRequest) -> ModelResponse:
    """The whole answer of a model.

    Raises:
        Unavailable: The stream ended without an answer, or as `ChatModel` says.
    """
    response: ModelResponse | None = None
    async for part in model.stream(request):
        if isinstance(part, ModelResponse):
            response = part
    if response is None:
        raise Unavailable(f"The model '{model.name}' ended without an answer.")
    return response
