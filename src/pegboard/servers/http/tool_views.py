"""The tools that a caller can see, as pages and as details."""

import hashlib
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

from starlette.exceptions import HTTPException

from pegboard.access import decide, may_know
from pegboard.core.decision import Action
from pegboard.core.principal import Principal
from pegboard.core.tool import Tool, ToolSpec
from pegboard.errors import ToolNotFound
from pegboard.registry import ToolRegistry
from pegboard.registry.health import with_switches
from pegboard.registry.prepared_search import BY_WORDS, PreparedSearch
from pegboard.registry.search import ToolQuery
from pegboard.runtime import Pegboard

View = Callable[[ToolSpec], dict[str, Any]]
"""Shows one tool of a page."""
_MAX_RANKED = 500
"""The most tools that a search text finds, on all pages together."""


def tool_page(
    registry: ToolRegistry,
    wanted: ToolQuery,
    *,
    principal: Principal,
    cursor: str,
    prepared: PreparedSearch = BY_WORDS,
    unavailable: bool = False,
    view: View | None = None,
) -> dict[str, Any]:
    """One page of the tools that match; `wanted.limit` is its size.

    Without a search text, tools are sorted by name and the cursor is the last name: no tool is
    skipped or repeated when others are added or removed between two pages. With a search text,
    the best 500 tools are sorted by rank, which changes with the tools; the cursor is then valid
    only for the same ranking.

    Raises:
        HTTPException: The cursor is not valid (404).
    """
    most = _MAX_RANKED if wanted.query.strip() else len(registry)
    query = replace(wanted, limit=most)
    found = registry.search(query, principal=principal, prepared=prepared)
    specs = [tool.spec for tool in found]
    if unavailable:
        specs += registry.unavailable(wanted, principal=principal)
    if wanted.query.strip():
        first, mark = _page_by_rank(specs, cursor)
    else:
        specs.sort(key=lambda spec: spec.name)
        first, mark = next((i for i, s in enumerate(specs) if s.name > cursor), len(specs)), ""
    page = specs[first : first + wanted.limit]
    following: str | None = None
    if first + wanted.limit < len(specs):
        following = f"{first + wanted.limit}.{mark}" if mark else page[-1].name
    view = view or partial(_summary, registry, principal)
    return {
        "tools": [view(spec) for spec in page],
        "next_cursor": following,
        "total": len(specs),
    } | ({"skipped": list(prepared.skipped)} if prepared.skipped else {})


def find_visible_tool(board: Pegboard, name: str, principal: Principal) -> Tool:
    """Find a tool by wire name or id, including unavailable ones, if the caller may see it.

    A tool that is switched off is hidden from callers who may not administer tools.

    Raises:
        ToolNotFound: The tool does not exist or is hidden; both look the same.
        SourceUnavailable: The tool's source is unavailable; the message has the reason.
    """
    kit, tool = board.registry.environment, board.find(name, principal=principal)
    if not may_know(principal, tool.spec, policy=kit.policy, switches=kit.switches):
        raise ToolNotFound(name, board.registry.nearest(name, principal))
    return tool


def tool_detail(board: Pegboard, spec: ToolSpec, *, principal: Principal) -> dict[str, Any]:
    """The complete spec, and the definition that it was registered with.

    Dependencies that this caller may not see are left out.
    """
    detail = with_switches(spec, board.registry.environment.switches).to_dict()
    registered = board.catalogue.definition(spec)
    if registered is not None:
        detail["registered"] = registered
    for view in (detail, registered or {}):
        if "dependencies" in view:
            hidden = _find_hidden(board.registry, view["dependencies"], principal)
            names = {name for spec in hidden for name in (spec.id, spec.name)}
            view["dependencies"] = [item for item in view["dependencies"] if item not in names]
    return detail


def _find_hidden(
    registry: ToolRegistry, ids: Sequence[str], principal: Principal
) -> list[ToolSpec]:
    known = [tool.spec for tool in map(registry.find, ids) if tool is not None]
    return [s for s in known if not registry.explain(s.name, principal=principal).visible]


def _page_by_rank(specs: list[ToolSpec], cursor: str) -> tuple[int, str]:
    names = "\n".join(spec.name for spec in specs)
    mark = hashlib.sha256(names.encode()).hexdigest()[:16]
    if not cursor:
        return 0, mark
    offset, _, given = cursor.partition(".")
    if given != mark or not offset.isdecimal():
        raise HTTPException(
            404, "No page has this cursor: the tools or the query changed since it was given."
        )
    return int(offset), mark


def _summary(registry: ToolRegistry, principal: Principal, spec: ToolSpec) -> dict[str, Any]:
    kit = registry.environment
    call = decide(principal, spec, Action.CALL, policy=kit.policy, switches=kit.switches)
    return {
        "id": spec.id,
        "name": spec.name,
        "title": spec.title or spec.name,
        "description": spec.description,
        "category": spec.category,
        "effect": spec.effect.value,
        "version": spec.version,
        "status": spec.status.value,
        "source": spec.source,
        "capabilities": list(spec.capabilities),
        "tags": list(spec.tags),
        "verdict": call.verdict.value,
    } | ({"unavailable": spec.unavailable} if spec.unavailable else {})
