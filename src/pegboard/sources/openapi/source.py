"""A REST API as a source of tools."""

import asyncio
from collections.abc import Callable, Sequence
from importlib import import_module

from pegboard.concurrency.thread_pool import POOL
from pegboard.core.health import Health, HealthStatus
from pegboard.core.ports.services import Services
from pegboard.core.ports.source import Source
from pegboard.core.tool import Tool
from pegboard.errors import SourceUnavailable
from pegboard.sources.openapi.client import ApiClient
from pegboard.sources.openapi.config import OpenApiConfig
from pegboard.sources.openapi.document.loader import ApiDocument, DocumentLoader
from pegboard.sources.openapi.document.refresh import DocumentRefresh


async def open_source(name: str, config: OpenApiConfig, services: Services) -> Source:
    """Open a source for one API; its document is read at the first listing.

    Raises:
        SourceUnavailable: The board has no network.
    """
    check_network(services)
    _import_readers()
    return OpenApiSource(name, config, services)


def _import_readers() -> None:
    """Import the readers before threads use them, so that no two import them at once."""
    import_module("pegboard.sources.openapi.tools")


def check_network(services: Services) -> None:
    """Refuse to open a source on a board without network.

    Raises:
        SourceUnavailable: The board has no network.
    """
    if services.http is None:
        raise SourceUnavailable("REST APIs need the network, and this board has none.")


class OpenApiSource:
    """The tools of one API.

    ```python
    config = OpenApiConfig.model_validate({"document": "orders.yaml"})
    source = await KIND.open("orders", config, Services(http=client))
    [tool.spec.name for tool in await source.tools()]
    ```
    """

    def __init__(self, name: str, config: OpenApiConfig, services: Services) -> None:
        from pegboard.sources.openapi.call.credentials import ApiCredentials

        self._name = name
        self._config = config
        self._client = ApiClient(
            name,
            services.http,
            now=services.clock.time,
            secrets=ApiCredentials(name, config, {}).secrets,
            timeout=config.timeout,
            max_bytes=config.max_answer_bytes,
        )
        self._loader = None
        if config.document is not None:
            self._loader = DocumentLoader(
                config.document,
                owner=name,
                base_dir=services.base_dir,
                http=services.http,
                max_bytes=config.max_document_bytes,
            )
        self._loading = asyncio.Lock()
        self._refreshing = DocumentRefresh(
            name, every=config.refresh, has_changed=self._has_changed
        )
        self._read: ApiDocument | None = None
        self._made: Sequence[Tool] | None = None
        self._base = config.base_url
        self._note = ""

    @property
    def name(self) -> str:
        """The name of the source, the first part of its tools' wire names."""
        return self._name

    async def tools(self) -> Sequence[Tool]:
        """Return a tool for each selected operation, rebuilt when the document changes.

        Raises:
            SourceUnavailable: The document cannot be read, or the configuration does not fit it.
        """
        document = await self._document()
        made = self._made
        if made is None or document is not self._read:
            if document is None:  # actions are few: faster here than in a thread
                made = self.manual_tools()
            else:
                made = await POOL.run(lambda: self._tools_of(document), owner=self._name)
            self._read, self._made = document, made
        self._refreshing.start()
        return made

    def manual_tools(self) -> Sequence[Tool]:
        """Return the tools of its actions, for a source without a document."""
        return self._tools_of(None)

    @property
    def problems(self) -> Sequence[str]:
        """What the configuration names and the document does not have."""
        return [self._note] if self._note else []

    async def health(self) -> Health:
        """Check whether the API responds and the configuration matches the document."""
        if not self._base:
            reason = "The document has not been read yet, so the URL of the API is unknown."
            return Health(status=HealthStatus.UNKNOWN, reason=reason)
        health = await self._client.reach(self._base)
        if health.status is HealthStatus.HEALTHY and self._note:
            return Health(status=HealthStatus.DEGRADED, reason=self._note)
        return health

    async def close(self) -> None:
        """Stop refreshing; connections belong to the board's client."""
        await self._refreshing.close()

    def on_change(self, notify: Callable[[], None]) -> None:
        """Set the callback for a change of the document.

        The document is read again at every listing, and checked every `refresh` seconds.
        """
        self._refreshing.on_change(notify)

    async def _document(self) -> ApiDocument | None:
        if self._loader is None:
            return None
        async with self._loading:  # a refresh and a listing at once would read it twice
            return await self._loader.load()

    async def _has_changed(self) -> bool:
        return await self._document() is not self._read

    def _tools_of(self, document: ApiDocument | None) -> Sequence[Tool]:
        from pegboard.sources.openapi.api import build_api
        from pegboard.sources.openapi.operation_selection import select_operations
        from pegboard.sources.openapi.tools import ApiTools

        api = build_api(document, self._config)
        operations, self._note = select_operations(self._name, api.operations, self._config)
        self._base = api.base
        return ApiTools(self._name, api, self._config, self._client).build(operations)
