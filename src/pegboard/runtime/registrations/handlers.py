"""Opens the handler of an RFC-0003 entry: at once, or at its first call."""

from collections.abc import Awaitable, Callable, Collection, Mapping
from contextlib import AsyncExitStack
from dataclasses import dataclass, field
from typing import Any
from weakref import WeakValueDictionary

from pegboard.core.context import ToolContext
from pegboard.core.event import digest_of
from pegboard.core.ports.services import Services
from pegboard.core.ports.source import SourceKind
from pegboard.core.tool import Tool, ToolSpec
from pegboard.errors import SourceUnavailable
from pegboard.runtime.board_file.models import ToolEntry
from pegboard.runtime.plugins import load_kind
from pegboard.runtime.registrations.shared_handlers import SharedHandlers
from pegboard.runtime.registrations.source_config import (
    KINDS,
    config_of,
    show_handler,
    source_name_of,
)
from pegboard.runtime.registrations.upstreams import Upstreams


async def _allow(_entry: ToolEntry) -> str:
    return ""


def _none(_name: str) -> Tool | None:
    return None


@dataclass(frozen=True, slots=True, kw_only=True)
class HandlerContext:
    """What entries are opened with.

    Attributes:
        services: What sources may use.
        within: Seconds for each entry.
        stack: Closes what was opened for the entries.
        shared: Handlers already opened for other entries.
        refused: Returns why an entry may not run, and what would allow it; empty when it may.
        servers: Names of the sources that an `MCPTool` may name.
        find: The tool of a wire name, where it is there already.
        is_trusted: Whether an entry may say that a request reads whose method writes, or that a
            tool destroys nothing.
        upstreams: The servers that entries name by their address; None where none may.
    """

    services: Services
    within: float
    stack: AsyncExitStack
    shared: SharedHandlers = field(default_factory=SharedHandlers)
    refused: Callable[[ToolEntry], Awaitable[str]] = _allow
    servers: Callable[[], Collection[str]] = tuple
    find: Callable[[str], Tool | None] = _none
    is_trusted: bool = True
    upstreams: Upstreams | None = None


async def open_handler(entry: ToolEntry, opening: HandlerContext, *, where: str) -> Tool:
    """Open the handler of an entry as a tool, lazily where its kind can preview it.

    Raises:
        SourceUnavailable: It cannot be opened, or is more than one tool.
        ValidationError: The entry does not describe its handler correctly.
        ConfigError: Its input schema is neither shorthand nor JSON Schema.
    """
    kind = load_kind(KINDS[entry.type])
    said = config_of(entry, where)
    if kind.preview is not None:
        config = kind.config.model_validate(said)
        spec = kind.preview(source_name_of(entry), config, opening.services)
        if spec is not None:
            return _Later(spec, entry, opening, where)

    async def open_now() -> Tool:
        return await _open(kind, kind.config.model_validate(said), entry, opening)

    return await opening.shared.get(f"{kind.kind} {digest_of(said)}", open_now)


async def _open(kind: SourceKind, config: Any, entry: ToolEntry, opening: HandlerContext) -> Tool:
    source = await kind.open(source_name_of(entry), config, opening.services)
    try:
        tools = await source.tools()
    except BaseException:
        await source.close()
        raise
    opening.stack.push_async_callback(source.close)
    if len(tools) != 1:
        raise SourceUnavailable(
            f"'{show_handler(entry)}' is {len(tools)} tools, but an entry is one tool"
        )
    function = getattr(tools[0], "function", None)
    if function is None:
        return tools[0]
    return _SHARED.setdefault((entry.import_, id(function)), tools[0])


class _Later:
    """A tool that is opened by its first call, since few of thousands are called soon.

    It keeps the entry instead of the config made from it, which is several times as large.
    """

    __slots__ = ("_entry", "_opening", "_tool", "_where", "spec")

    def __init__(
        self, spec: ToolSpec, entry: ToolEntry, opening: HandlerContext, where: str
    ) -> None:
        self.spec = spec
        self._entry = entry
        self._opening = opening
        self._where = where
        self._tool: Tool | None = None

    async def run(self, arguments: Mapping[str, Any], ctx: ToolContext[Any]) -> Any:
        """Open the tool if needed, and run it."""
        if self._tool is None:
            kind = load_kind(KINDS[self._entry.type])
            config = kind.config.model_validate(config_of(self._entry, self._where))
            self._tool = await _open(kind, config, self._entry, self._opening)
        return await self._tool.run(arguments, ctx)


_SHARED: WeakValueDictionary[tuple[str, int], Tool] = WeakValueDictionary()
"""The tool of each import: what reads its arguments is made once, however many entries name it.

Each tool keeps its function alive, so that its id is unique; a reloaded module has other functions.
"""
