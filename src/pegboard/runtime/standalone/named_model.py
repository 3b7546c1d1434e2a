"""A language model that is known by its name, as programs without a board use it."""

from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager

from pegboard.core.model_messages import ModelPart, ModelRequest
from pegboard.core.ports.chat_model import ChatModel
from pegboard.runtime.settings import Settings, environ


class NamedModel:
    """A `ChatModel` by its name; keys and addresses are those of the environment.

    Args:
        name: `provider:name`; empty for the model of the settings.
    """

    supports_tools = True
    supports_schema = True
    context_window: int | None = None

    def __init__(self, name: str = "") -> None:
        self.name = name

    async def stream(self, request: ModelRequest) -> AsyncIterator[ModelPart]:
        """Ask the model, over a connection of its own; errors as of `ChatModel`."""
        async with open_model(self) as model:
            async for part in model.stream(request):
                yield part


@asynccontextmanager
async def open_model(model: ChatModel | str) -> AsyncGenerator[ChatModel]:
    """The model to ask; the connections of one that is given by its name are closed at the end.

    Raises:
        ModelNotConfigured: There is none of this name.
        ConfigError: There is no such provider.
    """
    if not isinstance(model, str | NamedModel):
        yield model
        return
    from pegboard.runtime.wiring.models import BoardModels

    async with AsyncExitStack() as stack:
        models = BoardModels(Settings.from_environment(), environ=environ(), stack=stack)
        yield await models.get(model if isinstance(model, str) else model.name)
