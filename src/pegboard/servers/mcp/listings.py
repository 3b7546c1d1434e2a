"""The lists of tools, resources and prompts that callers can see, rendered once and paged."""

import logging
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field, replace
from typing import Any, Literal

from mcp.shared.exceptions import MCPError
from mcp_types import INVALID_PARAMS

from pegboard.core.pagination import decode_cursor, encode_cursor
from pegboard.core.principal import Principal
from pegboard.core.text.uri_templates import match_uri
from pegboard.core.tool import Tool
from pegboard.core.wire_names import MAX_LENGTH, is_shortened, shorten_wire_name
from pegboard.errors import InvalidRequest
from pegboard.registry import ToolRegistry
from pegboard.registry.change_notifier import ChangeKind
from pegboard.registry.resource_tools import PromptTool, ResourceTool
from pegboard.servers.mcp.meta_tools import render_meta_tools
from pegboard.servers.mcp.selection import BoardSelection
from pegboard.servers.mcp.to_mcp import McpTool, to_mcp_prompt, to_mcp_resource, to_mcp_tool

PAGE = 1_000
"""Items on a page: many clients read only the first page, and a page must fit into a message."""

_LOG = logging.getLogger("pegboard.mcp")
_MAX_LISTINGS = 64
ListKind = Literal["tools", "resources", "templates", "prompts"]
_KEYS: dict[ListKind, tuple[str, ChangeKind]] = {
    "tools": ("tools", "tools"),
    "resources": ("resources", "resources"),
    "templates": ("resourceTemplates", "resources"),
    "prompts": ("prompts", "prompts"),
}


@dataclass(frozen=True, slots=True)
class _Entry:
    key: str
    item: Any
    render: Callable[[], dict[str, Any]]


@dataclass(eq=False, slots=True)
class CallerListing:
    """The items of one kind that a caller can see, in order; immutable except for its caches."""

    stamp: tuple[object, ...]
    entries: tuple[_Entry, ...]
    pages: dict[str, dict[str, Any]] = field(default_factory=dict[str, dict[str, Any]])
    _by_key: dict[str, Any] = field(default_factory=dict[str, Any])

    def find(self, key: str) -> Any:
        """The item with this name or URI, or None."""
        if not self._by_key:
            self._by_key.update((item.key, item.item) for item in self.entries)
        return self._by_key.get(key)

    def same_as(self, other: "CallerListing") -> bool:
        """Whether both render the same."""
        if self is other:
            return True
        if len(self.entries) != len(other.entries):
            return False
        pairs = list(zip(self.entries, other.entries, strict=True))
        if any(mine.key != its.key for mine, its in pairs):
            return False
        return all(mine.item is its.item or mine.render() == its.render() for mine, its in pairs)


class Catalogue:
    """Caches the lists of a board by caller and selection.

    Args:
        registry: Registry of an open board.
        page: Items on a page.
        by_alias: Whether tools are shown by the second names that they have on the board.
        name_length: Characters of the name of a tool at most; a longer one is cut.
    """

    def __init__(
        self,
        registry: ToolRegistry,
        *,
        page: int = PAGE,
        by_alias: bool = False,
        name_length: int = MAX_LENGTH,
    ) -> None:
        self._registry = registry
        self._name_length = name_length
        self._by_alias = by_alias
        self._page = page
        self._rendered: dict[str, tuple[Tool, bool, McpTool]] = {}
        self._listings: dict[tuple[ListKind, Principal, BoardSelection], CallerListing] = {}
        self._versions: dict[str, int] = {}
        self._stop = registry.changes.listen(self._on_change)

    def close(self) -> None:
        """Stop following the registry."""
        self._stop()

    def page(
        self, kind: ListKind, principal: Principal, selection: BoardSelection, cursor: str | None
    ) -> dict[str, Any]:
        """One page, as the result of a list request; cached until something changes.

        Raises:
            MCPError: The cursor is invalid.
        """
        listing = self.listing(kind, principal, selection)
        page = listing.pages.get(cursor or "")
        if page is None:
            after = _cursor_key(cursor) if cursor else ""
            entries = listing.entries
            first = next((i for i, item in enumerate(entries) if item.key > after), len(entries))
            chosen = entries[first : first + self._page]
            page = {"resultType": "complete", _KEYS[kind][0]: [item.render() for item in chosen]}
            if first + self._page < len(entries):
                page["nextCursor"] = encode_cursor(chosen[-1].key)
            if (
                len(listing.pages) <= len(entries) // self._page
            ):  # pages of invented cursors are not cached
                listing.pages[cursor or ""] = page
        return page

    def listing(
        self, kind: ListKind, principal: Principal, selection: BoardSelection
    ) -> CallerListing:
        """Every item of a kind that this caller can see, by name, each name once."""
        key = (kind, principal, selection)
        kit = self._registry.environment
        stamp = (self._versions.get(_KEYS[kind][1], 0), kit, str(kit.switches.state()))
        known = self._listings.pop(key, None)
        if known is None or known.stamp != stamp:
            entries = {item.key: item for item in self._entries(kind, principal, selection)}
            known = CallerListing(stamp, tuple(entries[name] for name in sorted(entries)))
        self._listings[key] = known  # moved to the end: the least recently used is dropped first
        while len(self._listings) > _MAX_LISTINGS:
            del self._listings[next(iter(self._listings))]
        return known

    def render_tool(self, tool: Tool) -> McpTool:
        """Render a tool for a list; cached."""
        spec = tool.spec
        budget = spec.max_result_bytes
        if budget is None:
            budget = self._registry.environment.settings.max_result_bytes
        known = self._rendered.get(spec.name)
        if known is not None and known[0] is tool and known[1] == bool(budget):
            return known[2]
        try:
            made = to_mcp_tool(spec, paged=bool(budget))
        except Exception:  # noqa: BLE001 - a door: one tool must not take the list of all others away
            _LOG.exception("mcp: the schemas of %s cannot be shown, and are left out", spec.name)
            open_schema = {"type": "object", "additionalProperties": True}
            plain = spec.replace(input_schema=open_schema, output_schema=None)
            made = to_mcp_tool(plain, paged=False)
        self._rendered[spec.name] = (tool, bool(budget), made)
        return made

    def client_name(self, tool: Tool, selection: BoardSelection) -> str:
        """The name of a tool that clients see, who put a prefix before it and refuse long ones."""
        alias = tool.spec.alias if self._by_alias and not selection.own else ""
        if alias and self._registry.find(alias) is tool:
            return alias
        return shorten_wire_name(selection.client_name(tool.spec), self._name_length)

    def find_shortened(
        self, principal: Principal, selection: BoardSelection, name: str
    ) -> Tool | None:
        """The tool that this caller sees under a name that was cut; None for none."""
        if not is_shortened(name):
            return None
        every = replace(selection, listed=())
        return self.listing("tools", principal, every).find(name)

    def resource(
        self, principal: Principal, selection: BoardSelection, uri: str
    ) -> ResourceTool | None:
        """The resource or template of a board URI, if this caller can see it."""
        shown = selection.client_uri(uri)
        found = self.listing("resources", principal, selection).find(shown)
        if found is not None:
            return found
        templates = self.listing("templates", principal, selection)
        exact = templates.find(shown)
        if exact is not None:
            return exact
        fitting = (item for item in templates.entries if match_uri(item.key, shown) is not None)
        return next((item.item for item in fitting), None)

    def prompt(
        self, principal: Principal, selection: BoardSelection, name: str
    ) -> PromptTool | None:
        """The prompt of this client name, if this caller can see it."""
        return self.listing("prompts", principal, selection).find(name)

    def _entries(
        self, kind: ListKind, principal: Principal, selection: BoardSelection
    ) -> Iterable[_Entry]:
        match kind:
            case "tools":
                yield from self._tool_entries(principal, selection)
            case "prompts":
                for offered in self._registry.offers.prompts(principal):
                    if selection.has(offered.spec):
                        yield _prompt_entry(offered, selection.client_name(offered.spec))
            case "resources" | "templates":
                for offered in self._registry.offers.resources(principal):
                    wanted = offered.resource.spec.is_template == (kind == "templates")
                    if wanted and selection.has(offered.spec):
                        yield _resource_entry(offered, selection.client_uri(offered.uri))

    def _tool_entries(self, principal: Principal, selection: BoardSelection) -> Iterable[_Entry]:
        tools = [it for it in self._registry.visible(principal) if selection.has(it.spec)]
        for tool in filter(lambda it: selection.lists(it.spec), tools):
            yield self._tool_entry(tool, self.client_name(tool, selection))
        if selection.listed:
            for name, rendered in render_meta_tools(tools).items():
                yield _meta_entry(name, rendered)

    def _tool_entry(self, tool: Tool, name: str) -> _Entry:
        return _Entry(name, tool, lambda: self.render_tool(tool).with_name(name))

    def _on_change(self, kind: ChangeKind, _uri: str) -> None:
        self._versions[kind] = self._versions.get(kind, 0) + 1
        if kind == "tools" and len(self._rendered) > 2 * len(self._registry) + self._page:
            self._rendered.clear()  # mostly tools that are gone


def _meta_entry(name: str, rendered: dict[str, Any]) -> _Entry:
    return _Entry(name, rendered, lambda: rendered)


def _prompt_entry(offered: PromptTool, name: str) -> _Entry:
    spec = offered.prompt.spec
    return _Entry(name, offered, lambda: to_mcp_prompt(spec, name))


def _resource_entry(offered: ResourceTool, uri: str) -> _Entry:
    spec = offered.resource.spec
    return _Entry(uri, offered, lambda: to_mcp_resource(spec, uri))


def _cursor_key(cursor: str) -> str:
    try:
        place = decode_cursor(cursor, str)
    except InvalidRequest as error:
        raise MCPError(INVALID_PARAMS, error.message) from error
    return place[0] if place is not None else ""
