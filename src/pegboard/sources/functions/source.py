"""The source of Python functions."""

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from pegboard.concurrency.thread_pool import POOL
from pegboard.core.health import HEALTHY, Health
from pegboard.core.ports.services import Services
from pegboard.core.resources_and_prompts import Prompt, Resource
from pegboard.core.tool import Tool
from pegboard.errors import SourceUnavailable, ToolSignatureError
from pegboard.sources.functions.config import FunctionsConfig
from pegboard.sources.functions.tools import offers_in, tools_in
from pegboard.tools import as_tool
from pegboard.tools.import_objects import find_object, import_file, import_module, module_files
from pegboard.tools.resources_and_prompts import FunctionPrompt, FunctionResource, offer_of


class FunctionsSource:
    """Functions of this process."""

    def __init__(self, name: str, config: FunctionsConfig, services: Services) -> None:
        self.name = name
        self._config = config
        self._services = services
        self._offers: list[FunctionResource | FunctionPrompt] = []

    async def tools(self) -> Sequence[Tool]:
        """Import the modules and list their tools; the import runs in a thread."""
        return await POOL.run(self._list, owner=self.name)

    async def resources(self) -> Sequence[Resource]:
        """The functions with `@resource`, as of the last listing."""
        return [item for item in self._offers if isinstance(item, FunctionResource)]

    async def prompts(self) -> Sequence[Prompt]:
        """The functions with `@prompt`, as of the last listing."""
        return [item for item in self._offers if isinstance(item, FunctionPrompt)]

    def on_update(self, notify: Callable[[str], None]) -> None:
        """Do nothing: functions do not report when their contents change."""

    async def health(self) -> Health:
        """Always healthy: the functions run in this process."""
        return HEALTHY

    async def close(self) -> None:
        """Do nothing: there is nothing to release."""

    def on_change(self, notify: Callable[[], None]) -> None:
        """Do nothing: modules change only when the board is reloaded."""

    def files(self) -> Sequence[Path]:
        """The files of its modules; modules that these import are not among them."""
        config, base_dir = self._config, self._services.base_dir
        names = (*config.modules, *(item.partition(":")[0] for item in config.objects))
        return [
            *(path for name in names for path in module_files(name, base_dir)),
            *(base_dir / path for path in config.files),
        ]

    def _list(self) -> list[Tool]:
        config, base_dir = self._config, self._services.base_dir
        if not (config.modules or config.files or config.objects):
            raise SourceUnavailable("the configuration names no modules, files or objects")
        tools: list[Tool] = []
        offers: list[FunctionResource | FunctionPrompt] = []
        modules = [(name, import_module(name, base_dir)) for name in config.modules]
        modules += [(path.name, import_file(path, base_dir)) for path in config.files]
        for name, module in modules:
            offered = [item.in_source(self.name) for item in offers_in(module)]
            found = tools_in(module, undecorated=config.undecorated)
            tools += self._adopt(name, found, may_be_empty=bool(offered))
            offers += offered
        for reference in config.objects:
            found = find_object(reference, base_dir)
            offer = offer_of(found)
            if offer is None:
                tools += self._adopt(reference, [found])
            else:
                offers.append(offer.in_source(self.name))
        self._offers = offers
        return tools

    def _adopt(self, where: str, candidates: Any, *, may_be_empty: bool = False) -> list[Tool]:
        try:
            tools = [as_tool(item, source=self.name) for item in candidates]
        except ToolSignatureError as error:
            raise SourceUnavailable(f"'{where}': {error}") from error
        if not tools and not may_be_empty:
            raise SourceUnavailable(
                f"'{where}' has no tools: decorate functions with @tool, or say 'undecorated: true'"
            )
        return tools


async def open_functions(name: str, config: Any, services: Services) -> FunctionsSource:
    """Open a source; modules are imported when the tools are listed."""
    return FunctionsSource(name, config, services)
