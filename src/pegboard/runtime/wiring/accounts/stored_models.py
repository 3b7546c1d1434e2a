"""The language models that people have added, for those who see them."""

import asyncio
import logging
from collections.abc import AsyncIterator, Callable, Iterator, Sequence
from typing import TYPE_CHECKING

from msgspec import structs

from pegboard.core.model_messages import ModelPart, ModelRequest, ModelResponse
from pegboard.core.ports.accounts.resource_store import StoredResource
from pegboard.core.ports.chat_model import ChatModel
from pegboard.core.ports.http import HttpClient
from pegboard.core.principal import Principal
from pegboard.core.wire_names import OWNER_MARK
from pegboard.errors import CredentialMissing, ModelNotConfigured, PegboardError
from pegboard.registry import ToolRegistry
from pegboard.runtime.board_file.models import Board
from pegboard.runtime.model_config import ModelConfig, read_model_config
from pegboard.runtime.wiring.services import create_http_client

if TYPE_CHECKING:
    from pegboard.features.agents import ModelChoice
    from pegboard.features.credentials import CredentialResolver

_LOG = logging.getLogger("pegboard.resources")


class StoredModels:
    """Makes the models that people have added; each run has its own, with the key of its caller.

    They are reached through a client that knows the network rules of the board file alone: an
    address of this machine or of a private network is refused unless an operator allows it there.

    Args:
        registry: Its environment knows who may see which resources.
        credentials: Finds the keys of callers, and those that owners share.
        board: The board file in force.
    """

    def __init__(
        self,
        registry: ToolRegistry,
        credentials: "CredentialResolver",
        board: Callable[[], Board],
    ) -> None:
        self._registry = registry
        self._credentials = credentials
        self._board = board
        self._client: tuple[object, HttpClient] | None = None

    def has(self, name: str, principal: Principal) -> bool:
        """Whether a name means a model that a person has added.

        One with the handle of an owner does, visible or not. A plain name, of an operator's, does
        for those who see it: for others it may be the name of a model of the provider.
        """
        index = self._registry.environment.resource_index
        row = index.find(name, "model")
        if row is None:
            return False
        return OWNER_MARK in name or index.resolve(principal, row).is_visible

    def is_foreign(self, name: str, principal: Principal) -> bool:
        """Whether another person has added it, and no operator answers for what it says."""
        index = self._registry.environment.resource_index
        row = index.find(name, "model")
        return row is not None and not index.resolve(principal, row).is_vouched_for

    def list_choices(self, principal: Principal) -> "Sequence[ModelChoice]":
        """Those that a caller may choose, by name."""
        from pegboard.features.agents import ModelChoice

        return [
            ModelChoice(name=row.name, title=_title_of(row), provider=config.provider)
            for row, config in self._list_visible(principal)
        ]

    async def create(self, name: str, *, principal: Principal, account: str = "") -> ChatModel:
        """The model of a name, with the key of a caller, else with the one that its owner shares.

        Args:
            name: Of the model.
            principal: The caller.
            account: The name of the key; empty for the default.

        Raises:
            ModelNotConfigured: There is none for this caller.
            CredentialMissing: It needs a key, and the caller has none.
            Unavailable: The key cannot be read now.
        """
        found = next((it for it in self._list_visible(principal) if it[0].name == name), None)
        if found is None:
            raise ModelNotConfigured(f"There is no model '{name[:100]}' on this board.")
        row, config = found
        key = await self._find_key(row, config, principal, account)
        return StoredModel(row.name, await self._make(config, key))

    async def close(self) -> None:
        """Close the connections to providers."""
        if self._client is not None:
            await self._client[1].close()

    def _list_visible(self, principal: Principal) -> Iterator[tuple[StoredResource, ModelConfig]]:
        index = self._registry.environment.resource_index
        of_people = self._board().models.of_people
        for row in index.list_visible(principal, "model"):
            if OWNER_MARK in row.name and not of_people:
                continue
            try:
                yield row, read_model_config(row.config)
            except PegboardError as error:  # stored by another version
                _LOG.warning("model '%s': cannot be used: %s", row.name, error.message)

    async def _find_key(
        self, row: StoredResource, config: ModelConfig, principal: Principal, account: str
    ) -> str:
        label = f"model {row.name}"
        try:
            stored = await self._credentials.find(
                row.name, label, principal=principal, account=account
            )
        except CredentialMissing:
            if config.base_url and not account:  # a server of its own may want no key
                return ""
            raise
        return (await self._credentials.reveal(stored, tool=label)).sent

    async def _make(self, config: ModelConfig, key: str) -> ChatModel:
        from pegboard.models import (
            JsonToolsModel,
            ModelEndpoint,
            ProviderModel,
            UsagePrice,
            find_context_window,
        )

        name = f"{config.provider}:{config.model}"
        window = config.context_window
        if window is None:
            window = await asyncio.to_thread(find_context_window, name)
        endpoint = ModelEndpoint(
            name=name,
            api_key=key,
            base_url=config.base_url,
            context_window=window,
            supports_tools=config.tools,
            supports_schema=config.schemas,
            price=None if config.price is None else UsagePrice(**config.price.model_dump()),
        )
        made = ProviderModel(endpoint, self._find_client())
        return made if endpoint.supports_tools else JsonToolsModel(made)

    def _find_client(self) -> HttpClient:
        network = self._board().network
        if self._client is None or self._client[0] != network:
            self._client = (network, create_http_client(network))
        return self._client[1]


def _title_of(row: StoredResource) -> str:
    """Its title with its name, which says whose it is: a title alone may be that of another."""
    return f"{row.title} ({row.name})" if row.title and row.title != row.name else row.name


class StoredModel:
    """A model of a person: what it uses is counted under its name on the board.

    Args:
        name: On the board.
        model: Is asked.
    """

    def __init__(self, name: str, model: ChatModel) -> None:
        self.name = name
        self._model = model
        self.context_window = model.context_window
        self.supports_tools = model.supports_tools
        self.supports_schema = model.supports_schema

    async def stream(self, request: ModelRequest) -> AsyncIterator[ModelPart]:
        """Ask the model; errors as of `ChatModel`."""
        async for part in self._model.stream(request):
            if isinstance(part, ModelResponse):
                yield structs.replace(part, model=self.name)
            else:
                yield part
