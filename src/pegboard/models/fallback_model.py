"""A chat model with others behind it, for when its provider fails."""

import logging
from collections.abc import AsyncIterator, Sequence

from pegboard.core.model_messages import ModelPart, ModelRequest
from pegboard.core.ports.chat_model import ChatModel
from pegboard.errors import ConfigError, Unavailable

_LOG = logging.getLogger("pegboard.models")


class FallbackModel:
    """Asks its models in order, until one answers.

    The next one is asked where a provider fails before it has said anything: it is down, limits
    requests, refuses the key or does not know the model. A request that is itself refused, and an
    answer that is cut off, are not repeated elsewhere.

    Args:
        models: At least one; the first is preferred.
    """

    def __init__(self, models: Sequence[ChatModel]) -> None:
        self._models = tuple(models)
        self.name = self._models[0].name
        windows = [model.context_window for model in models if model.context_window is not None]
        self.context_window = min(windows, default=None)
        self.supports_tools = all(model.supports_tools for model in models)
        self.supports_schema = all(model.supports_schema for model in models)

    async def stream(self, request: ModelRequest) -> AsyncIterator[ModelPart]:
        """Ask the models; errors as of `ChatModel`, of the last one that was asked."""
        for model in self._models[:-1]:
            parts = model.stream(request)
            try:
                first = await anext(parts)
            except StopAsyncIteration:
                return
            except (Unavailable, ConfigError) as error:
                _LOG.warning("model: '%s' failed, the next one is asked: %s", model.name, error)
                continue
            yield first
            async for part in parts:
                yield part
            return
        async for part in self._models[-1].stream(request):
            yield part
