"""The functions source."""

from collections.abc import Callable, Sequence
from typing import Any

from pegboard.core.health import HEALTHY, Health
from pegboard.core.ports.services import Services
from pegboard.core.tool import Tool
from pegboard.errors import SourceUnavailable, ToolSignatureError
from pegboard.sources.functions.config import FunctionsConfig
from pegboard.sources.functions.loading import find_object, import_file, import_module, tools_in
from pegboard.tools import as_tool
from pegboard.tools.threads import POOL


class FunctionsSource:
    """Functions of this process."""

    def __init__(self, name: str, config: FunctionsConfig, services: Services) -> None:
        self.name = name
        self._config = config
        self._services = services

    async def tools(self) -> Sequence[Tool]:
        """Import and list; importing runs in a thread, so a slow module stops nobody."""
        return await POOL.run(self._list, owner=self.name)

    async def health(self) -> Health:
        """Always well: it is this process."""
        return HEALTHY

    async def close(self) -> None:
        """Nothing to give back."""

    def on_change(self, notify: Callable[[], None]) -> None:
        """Modules change when the board is reloaded, and tell nobody."""

    def _list(self) -> list[Tool]:
        config, base_dir = self._config, self._services.base_dir
        if not (config.modules or config.files or config.objects):
            raise SourceUnavailable("the configuration names no modules, files or objects")
        tools: list[Tool] = []
        for name in config.modules:
            tools += self._adopt(
                name, tools_in(import_module(name, base_dir), undecorated=config.undecorated)
            )
        for path in config.files:
            tools += self._adopt(
                path.name, tools_in(import_file(path, base_dir), undecorated=config.undecorated)
            )
        for reference in config.objects:
            tools += self._adopt(reference, [find_object(reference, base_dir)])
        return tools

    def _adopt(self, where: str, candidates: Any) -> list[Tool]:
        try:
            tools = [as_tool(item, source=self.name) for item in candidates]
        except ToolSignatureError as error:
            raise SourceUnavailable(f"'{where}': {error}") from error
        if not tools:
            raise SourceUnavailable(
                f"'{where}' has no tools: decorate functions with @tool, or say 'undecorated: true'"
            )
        return tools


async def open_functions(name: str, config: Any, services: Services) -> FunctionsSource:
    """Open; nothing is imported before the tools are listed."""
    return FunctionsSource(name, config, services)
