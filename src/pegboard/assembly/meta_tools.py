"""The meta-tools `find_tools` and `call_tool`: how a model reaches tools that are not listed."""

from collections.abc import Iterable, Mapping
from functools import partial
from typing import Any, cast

from msgspec import Struct, ValidationError, convert, json, structs

from pegboard.core.model_messages import ModelTool, ToolCall
from pegboard.core.principal import Principal
from pegboard.core.tool import Tool
from pegboard.errors import InvalidRequest
from pegboard.registry.prepared_search import BY_WORDS_ONLY
from pegboard.registry.toolset import MetaTool, Reply, Routed, Toolset, render_tool
from pegboard.schemas.strict_json import decode

FIND_TOOLS = "find_tools"
CALL_TOOL = "call_tool"
KNOWLEDGE_NAMES = frozenset(
    {"kb_retrieve", "grounded_retrieve", "kb_list", "kb_open", "kb_grep", "kb_around"}
)
"""The names of the tools of knowledge bases, which the step `knowledge` lists."""
RESERVED_NAMES = KNOWLEDGE_NAMES | {
    FIND_TOOLS,
    CALL_TOOL,
    "connector",
    "database",
    "mcp",
    "read_skill",
    "call_agent",
}
"""The names of all meta-tools; another tool of such a name is not shown to models."""
_DEFAULT_LIMIT = 6
_MAX_LIMIT = 20
MAX_QUERY = 1_000
"""Characters of a query that are searched for."""
_NONE_FITS = "No tool fits. Try other words, or answer without a tool."

_RENDERED = (
    ModelTool(
        name=FIND_TOOLS,
        description=(
            "Find more tools than those that are listed. Say in a few words what has to be done; "
            "the answer has names, descriptions and parameters. Call what it finds by call_tool."
        ),
        parameters={
            "type": "object",
            "properties": {
                "query": {"type": "string", "description": "What has to be done."},
                "limit": {
                    "type": "integer",
                    "minimum": 1,
                    "maximum": _MAX_LIMIT,
                    "default": _DEFAULT_LIMIT,
                    "description": "How many tools at most.",
                },
            },
            "required": ["query"],
            "additionalProperties": False,
        },
    ),
    ModelTool(
        name=CALL_TOOL,
        description=(
            "Call a tool that is not listed, as find_tools or a message about tools describes it."
        ),
        parameters={
            "type": "object",
            "properties": {
                "name": {"type": "string", "description": "The name of the tool."},
                "arguments": {
                    "type": "object",
                    "description": "The arguments of the tool, by name.",
                    "additionalProperties": True,
                },
            },
            "required": ["name"],
            "additionalProperties": False,
        },
    ),
)


class _FindArguments(Struct, frozen=True, forbid_unknown_fields=True):
    query: str
    limit: int = _DEFAULT_LIMIT


class _CallArguments(Struct, frozen=True, forbid_unknown_fields=True):
    name: str
    arguments: Any = {}


def _route_call(_toolset: Toolset, call: ToolCall, _principal: Principal) -> Routed:
    """The inner call of `call_tool`, under the same id.

    Raises:
        InvalidRequest: It names no tool, or its arguments are no object.
    """
    try:
        found = convert(decode(call.arguments or "{}"), _CallArguments)
    except ValueError as error:
        raise InvalidRequest(
            f"call_tool takes 'name', and 'arguments' as an object: {error}."
        ) from error
    arguments = found.arguments
    # models often write the inner arguments as text
    text = arguments if isinstance(arguments, str) else json.encode(arguments or {}).decode()
    return structs.replace(call, name=found.name, arguments=text or "{}")


def _route_find(toolset: Toolset, call: ToolCall, principal: Principal) -> Routed:
    return Reply(find_tools(toolset, _read_object(call), principal))


def find_tools(toolset: Toolset, arguments: Mapping[str, Any], principal: Principal) -> str:
    """The answer of `find_tools`.

    Args:
        toolset: Where to search.
        arguments: As the model gave them.
        principal: The caller; only what it may see now is found.

    Raises:
        InvalidRequest: The arguments do not fit.
    """
    try:
        wanted = convert(dict(arguments), _FindArguments)
    except ValidationError as error:
        raise InvalidRequest(f"find_tools takes 'query' and 'limit': {error}.") from error
    limit = min(max(wanted.limit, 1), _MAX_LIMIT)
    found = toolset.search(wanted.query[:MAX_QUERY], limit=limit, principal=principal)
    text = describe_tools(found) if found else _NONE_FITS
    return f"{text}\n({BY_WORDS_ONLY})" if toolset.prepared.skipped else text


def read_query(call: ToolCall) -> str:
    """What a call of `find_tools` looks for; empty where its arguments do not fit."""
    try:
        query = _read_object(call).get("query")
    except InvalidRequest:
        return ""
    return query[:MAX_QUERY] if isinstance(query, str) else ""


def _read_object(call: ToolCall) -> Mapping[str, Any]:
    try:
        arguments = decode(call.arguments or "{}")
    except ValueError as error:
        raise InvalidRequest(f"The arguments of '{call.name}' are no JSON: {error}.") from error
    if not isinstance(arguments, dict):
        raise InvalidRequest(f"The arguments of '{call.name}' are a JSON object with their names.")
    return cast("dict[str, Any]", arguments)


def describe_tools(tools: Iterable[Tool]) -> str:
    """Tools as text for a model: one JSON object a line, with name, description and parameters."""
    return "\n".join(json.encode(_describe(tool)).decode() for tool in tools)


def _describe(tool: Tool) -> dict[str, Any]:
    return structs.asdict(render_tool(tool))


def _get(rendered: ModelTool) -> ModelTool:
    return rendered


META_TOOLS = tuple(
    MetaTool(name=rendered.name, render=partial(_get, rendered), route=route)
    for rendered, route in zip(_RENDERED, (_route_find, _route_call), strict=True)
)
"""Those that reach every inner tool."""
