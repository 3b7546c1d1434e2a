"""The source of LangChain tools."""

import importlib.util
import inspect
from collections.abc import Callable, Iterator, Sequence
from typing import Any, cast

from pegboard.concurrency.thread_pool import POOL
from pegboard.core.health import HEALTHY, Health
from pegboard.core.ports.services import Services
from pegboard.core.tool import Tool
from pegboard.errors import ConfigError, SourceUnavailable, ToolSignatureError
from pegboard.sources.langchain.client import translate_build_errors
from pegboard.sources.langchain.config import LangChainConfig
from pegboard.sources.langchain.tools import adapt
from pegboard.tools.import_objects import find_object

_EXTRA = "LangChain tools need an extra: pip install 'pegboard[langchain]'"


async def open_langchain(name: str, config: Any, services: Services) -> "LangChainSource":
    """Open a source; the objects are imported when the tools are listed.

    Raises:
        SourceUnavailable: LangChain is not installed.
    """
    if importlib.util.find_spec("langchain_core") is None:
        raise SourceUnavailable(_EXTRA)
    return LangChainSource(name, config, services)


class LangChainSource:
    """The LangChain tools of a configuration.

    ```python
    config = LangChainConfig.model_validate({"objects": ["my_tools:search"]})
    source = await KIND.open("research", config, Services())
    [tool.spec.name for tool in await source.tools()]
    ```
    """

    def __init__(self, name: str, config: LangChainConfig, services: Services) -> None:
        self.name = name
        self._config = config
        self._services = services

    async def tools(self) -> Sequence[Tool]:
        """Import the objects and list their tools; the import runs in a thread.

        Raises:
            SourceUnavailable: An object does not exist, or is not a tool.
        """
        return await POOL.run(self._list, owner=self.name)

    async def health(self) -> Health:
        """Always healthy: the tools run in this process."""
        return HEALTHY

    async def close(self) -> None:
        """Do nothing: there is nothing to release."""

    def on_change(self, notify: Callable[[], None]) -> None:
        """Do nothing: modules change only when the board is reloaded."""

    def _list(self) -> list[Tool]:
        tools: list[Tool] = []
        known: set[str] = set()
        for reference in self._config.objects:
            found = find_object(reference, self._services.base_dir)
            try:
                for item in _tools_of(reference, found):
                    effect = self._config.effects.get(getattr(item, "name", ""))
                    tools.append(adapt(item, self.name, effect=effect))
                    known.add(tools[-1].spec.action)
            except ToolSignatureError as error:
                raise SourceUnavailable(f"'{reference}': {error}") from error
        unknown = sorted(self._config.effects.keys() - known)
        if unknown:
            # a misspelt name would leave a tool with another effect than was meant
            raise SourceUnavailable(
                f"'effects' names '{unknown[0]}', and there is no such tool; there are "
                f"{', '.join(sorted(known))}"
            )
        return tools


def _tools_of(reference: str, found: Any) -> Iterator[Any]:
    """The tools of an object: itself, its list, or what it returns when called."""
    if callable(found) and not _is_of_langchain(found):
        with translate_build_errors(reference):
            found = found()
    if inspect.iscoroutine(found):
        found.close()
        raise ConfigError(f"'{reference}' is async: give a function that returns the tools")
    get_tools: Any = getattr(found, "get_tools", None)
    if get_tools is not None:
        with translate_build_errors(reference):
            found = get_tools()
    if not isinstance(found, (list, tuple)):
        yield found
        return
    items = cast("Sequence[Any]", found)
    if not items:
        raise SourceUnavailable(f"'{reference}' is an empty list of tools")
    yield from items


def _is_of_langchain(found: Any) -> bool:
    """Whether an object is an instance of a LangChain class; those are not called."""
    from langchain_core.tools import BaseTool, BaseToolkit

    return isinstance(found, (BaseTool, BaseToolkit))
