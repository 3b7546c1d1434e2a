"""The step `knowledge`: the bases that a request may ask, and the tool that asks them."""

from collections.abc import Iterable, Mapping
from fnmatch import fnmatchcase
from functools import partial

from pegboard.assembly.entry_lists import list_entries
from pegboard.assembly.tool_families import family_of, find_visible
from pegboard.assembly.tool_request import ToolRequest
from pegboard.core.model_messages import ModelTool, ToolCall
from pegboard.core.ports.knowledge.bases import BaseDescriber
from pegboard.core.principal import Principal
from pegboard.core.tool import Tool
from pegboard.registry.toolset import MetaTool, Routed, Toolset, render_tool

KB_RETRIEVE, GROUNDED_RETRIEVE = "kb_retrieve", "grounded_retrieve"


def add_knowledge(toolset: Toolset, request: ToolRequest) -> Toolset:
    """List `kb_retrieve` or `grounded_retrieve` where there is a base that it may ask.

    In the mode *auto* all bases that the caller may see; with an agent those of its `kb_ids`, by
    its `retrieval_mode`. The other tools of the source are reached by `call_tool`.
    """
    group = next(iter(find_visible(toolset, request.principal, "knowledge").values()), None)
    if group is None:
        return toolset
    name = GROUNDED_RETRIEVE if request.retrieval_mode == "grounding" else KB_RETRIEVE
    name = KB_RETRIEVE if request.is_auto else name
    tool = group.get(name)
    known: Mapping[str, str] = {}
    if isinstance(tool, BaseDescriber):
        known = tool.describe(request.principal)
    is_open = request.is_auto or request.tools is not None
    bases = known if is_open and not request.kb_ids else _bind(known, request.kb_ids)
    if tool is None or not bases or not toolset.is_reachable(tool):
        return toolset.narrow(_is_no_knowledge)
    return toolset.replace(
        is_inner=_is_no_knowledge,
        knowledge=None if bases is known else frozenset(bases),
        meta_tools=(*toolset.meta_tools, _make_meta_tool(tool, bases)),
    )


def _bind(known: Mapping[str, str], wanted: Iterable[str]) -> Mapping[str, str]:
    patterns = tuple(wanted)
    return {
        name: text
        for name, text in known.items()
        if any(fnmatchcase(name, pattern) for pattern in patterns)
    }


def _is_no_knowledge(tool: Tool) -> bool:
    return family_of(tool) != "knowledge"


def _make_meta_tool(tool: Tool, bases: Mapping[str, str]) -> MetaTool:
    return MetaTool(
        name=tool.spec.name,
        render=partial(_render, tool, bases),
        route=_route,
        entries=tuple(bases),
        describe=lambda: bases,
        is_always_listed=True,
    )


def _render(tool: Tool, bases: Mapping[str, str]) -> ModelTool:
    rendered = render_tool(tool)
    listed = list_entries(bases, more="kb_list lists them all")
    return ModelTool(
        name=rendered.name,
        description=f"{rendered.description} There are:\n{listed}",
        parameters=rendered.parameters,
    )


def _route(_toolset: Toolset, call: ToolCall, _principal: Principal) -> Routed:
    return call  # the tool itself; `Toolset.knowledge` holds it to its bases
