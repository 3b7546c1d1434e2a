"""The meta-tools `connector`, `database` and `mcp`: how a model reaches the tools of systems."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from itertools import islice
from typing import Any

from msgspec import Struct, convert, json, structs

from pegboard.assembly.entry_lists import MAX_CHARACTERS, list_entries
from pegboard.assembly.tool_families import Family, find_visible, list_visible
from pegboard.core.model_messages import ModelTool, ToolCall
from pegboard.core.principal import Principal
from pegboard.core.text.suggestions import did_you_mean
from pegboard.core.tool import Tool
from pegboard.errors import InvalidRequest
from pegboard.registry.toolset import MetaTool, Reply, Routed, Toolset, render_tool
from pegboard.schemas.strict_json import decode

CONNECTOR, DATABASE, MCP = "connector", "database", "mcp"
_MAX_WHOLE = 20
"""Tools that `discover` shows with their parameters."""
_LEAST_ACTIONS, _MOST_ACTIONS = 3, 8
"""Of one source that a description names."""
_CHARACTERS_OF_AN_ACTION = 12
"""An estimate."""
_MAX_LISTED = 20_000
"""Characters of the list that `discover` answers with where there are more."""
_QUERY, _LIST, _DESCRIBE = "query", "list_tables", "describe_table"


@dataclass(frozen=True, slots=True, kw_only=True)
class _Words:
    """How one meta-tool names things.

    Attributes:
        name: Of the meta-tool.
        source, action: Its arguments for a source and for one of its tools.
        call: Its subcommand that calls.
        plural: What it reaches.
    """

    name: str
    family: Family
    source: str
    action: str
    call: str
    plural: str


_API = _Words(
    name=CONNECTOR,
    family="connector",
    source="connector",
    action="action",
    call="execute",
    plural="APIs",
)
_SERVER = _Words(
    name=MCP, family="mcp", source="server", action="tool", call="call", plural="MCP servers"
)


class _Arguments(Struct, frozen=True, forbid_unknown_fields=True):
    subcommand: str
    connector: str = ""
    server: str = ""
    action: str = ""
    tool: str = ""
    parameters: Any = {}


class _DatabaseArguments(Struct, frozen=True, forbid_unknown_fields=True):
    subcommand: str
    database: str = ""
    table: str = ""
    sql: str = ""


def connector_tool(toolset: Toolset, principal: Principal) -> MetaTool | None:
    """The meta-tool for APIs; None where the caller reaches none."""
    return _make(_API, toolset, principal)


def mcp_tool(toolset: Toolset, principal: Principal) -> MetaTool | None:
    """The meta-tool for MCP servers; None where the caller reaches none."""
    return _make(_SERVER, toolset, principal)


def database_tool(toolset: Toolset, principal: Principal) -> MetaTool | None:
    """The meta-tool for databases; None where the caller reaches none."""
    groups = find_visible(toolset, principal, "database")
    if not groups:
        return None

    def describe() -> dict[str, str]:
        return {name: _describe_database(tools) for name, tools in groups.items()}

    return MetaTool(
        name=DATABASE,
        render=lambda: _render_database(describe()),
        route=_route_database,
        entries=tuple(groups),
        describe=describe,
        reaches_beyond=partial(_reaches_beyond, toolset, principal, groups),
    )


def _make(words: _Words, toolset: Toolset, principal: Principal) -> MetaTool | None:
    groups = find_visible(toolset, principal, words.family)
    if not groups:
        return None

    def describe() -> dict[str, str]:
        return _name_actions(toolset, principal, groups)

    return MetaTool(
        name=words.name,
        render=lambda: _render(words, describe()),
        route=partial(_route, words),
        entries=tuple(groups),
        describe=describe,
        reaches_beyond=partial(_reaches_beyond, toolset, principal, groups),
    )


def _name_actions(
    toolset: Toolset, principal: Principal, groups: Mapping[str, Mapping[str, Tool]]
) -> dict[str, str]:
    """The first actions of each source, as many as a fair share of a description may hold."""
    fair = MAX_CHARACTERS // len(groups) // _CHARACTERS_OF_AN_ACTION
    most = min(max(fair, _LEAST_ACTIONS), _MOST_ACTIONS)
    texts: dict[str, str] = {}
    for name, tools in groups.items():
        actions = [action for action, _ in islice(list_visible(toolset, principal, tools), most)]
        more = ["…"] if len(tools) > most else []
        texts[name] = ", ".join([*actions, *more])
    return texts


def _reaches_beyond(
    toolset: Toolset,
    principal: Principal,
    groups: Mapping[str, Mapping[str, Tool]],
    listed: frozenset[str],
) -> bool:
    return any(
        tool.spec.name not in listed
        for tools in groups.values()
        for _, tool in list_visible(toolset, principal, tools)
    )


def _render(words: _Words, entries: Mapping[str, str]) -> ModelTool:
    source, action, call = words.source, words.action, words.call
    return ModelTool(
        name=words.name,
        description=(
            f"Use {words.plural} whose tools are not listed. `discover` with a {source} shows its "
            f"{action}s and their parameters; `{call}` with a {source}, a {action} and its "
            f"parameters runs one. There are:\n{list_entries(entries, more='use find_tools')}"
        ),
        parameters=_object_schema(
            {
                "subcommand": {"type": "string", "enum": ["discover", call]},
                source: {"type": "string", "description": "One of those in the description."},
                action: {"type": "string", "description": "A name that `discover` shows."},
                "parameters": {
                    "type": "object",
                    "description": f"Those of the {action}, for `{call}`.",
                    "additionalProperties": True,
                },
            }
        ),
    )


def _render_database(entries: Mapping[str, str]) -> ModelTool:
    return ModelTool(
        name=DATABASE,
        description=(
            "Read databases. `list_tables` shows the tables of a database, `discover` the columns "
            "of a table, and `query` runs one read-only SQL statement. There are:\n"
            f"{list_entries(entries, more='use find_tools')}"
        ),
        parameters=_object_schema(
            {
                "subcommand": {"type": "string", "enum": [_LIST, "discover", _QUERY]},
                "database": {"type": "string", "description": "One of those in the description."},
                "table": {"type": "string", "description": "For `discover`."},
                "sql": {"type": "string", "description": "For `query`."},
            }
        ),
    )


def _object_schema(properties: dict[str, Any]) -> dict[str, Any]:
    return {
        "type": "object",
        "properties": properties,
        "required": ["subcommand"],
        "additionalProperties": False,
    }


def _describe_database(tools: Mapping[str, Tool]) -> str:
    known = tools.get(_QUERY) or next(iter(tools.values()))
    return known.spec.description


def _route(words: _Words, toolset: Toolset, call: ToolCall, principal: Principal) -> Routed:
    try:
        given = convert(decode(call.arguments or "{}"), _Arguments)
    except ValueError as error:
        raise InvalidRequest(
            f"{words.name} takes 'subcommand', '{words.source}', '{words.action}' and "
            f"'parameters': {error}."
        ) from error
    source, action = (
        (given.connector, given.action) if words is _API else (given.server, given.tool)
    )
    groups = find_visible(toolset, principal, words.family)
    if given.subcommand == "discover":
        if not source:
            texts = _name_actions(toolset, principal, groups) if groups else {}
            return Reply(list_entries(texts, more="name one", characters=_MAX_LISTED))
        tools = dict(list_visible(toolset, principal, _find_group(words.source, source, groups)))
        return Reply(_describe_tools(words, tools, action))
    if given.subcommand != words.call:
        raise InvalidRequest(
            f"{words.name} has the subcommands 'discover' and '{words.call}', "
            f"not '{given.subcommand[:50]}'."
        )
    tools = dict(list_visible(toolset, principal, _find_group(words.source, source, groups)))
    inner = _find_action(words.action, action, tools)
    return structs.replace(call, name=inner.spec.name, arguments=_write(given.parameters))


def _route_database(toolset: Toolset, call: ToolCall, principal: Principal) -> Routed:
    try:
        given = convert(decode(call.arguments or "{}"), _DatabaseArguments)
    except ValueError as error:
        raise InvalidRequest(
            f"database takes 'subcommand', 'database', 'table' and 'sql': {error}."
        ) from error
    groups = find_visible(toolset, principal, "database")
    tools = dict(list_visible(toolset, principal, _find_group(DATABASE, given.database, groups)))
    match given.subcommand:
        case "discover" if given.table:
            action, arguments = _DESCRIBE, {"table": given.table}
        case "list_tables" | "discover":
            action, arguments = _LIST, {}
        case "query":
            action, arguments = _QUERY, {"sql": given.sql}
        case other:
            raise InvalidRequest(
                "database has the subcommands 'list_tables', 'discover' and 'query', "
                f"not '{other[:50]}'."
            )
    inner = _find_action("action", action, tools)
    return structs.replace(call, name=inner.spec.name, arguments=_write(arguments))


def _find_group(
    word: str, name: str, groups: Mapping[str, Mapping[str, Tool]]
) -> Mapping[str, Tool]:
    if not name and len(groups) == 1:
        return next(iter(groups.values()))
    if (found := groups.get(name)) is not None:
        return found
    hint = did_you_mean(name, groups, most=3)
    raise InvalidRequest(f"There is no {word} '{name[:100]}'{f'; {hint}' if hint else '.'}")


def _find_action(word: str, name: str, tools: Mapping[str, Tool]) -> Tool:
    found = tools.get(name) or next(
        (tool for tool in tools.values() if tool.spec.name == name), None
    )
    if found is not None:
        return found
    hint = did_you_mean(name, tools, most=3, otherwise="discover shows what there is.")
    raise InvalidRequest(f"There is no {word} '{name[:100]}'; {hint}")


def _describe_tools(words: _Words, tools: Mapping[str, Tool], action: str) -> str:
    """The tools of a source, with parameters where they are few or one is named."""
    if action:
        tools = {action: _find_action(words.action, action, tools)}
    if len(tools) <= _MAX_WHOLE:
        return "\n".join(_describe(words, tools))
    texts = {name: tool.spec.description for name, tool in tools.items()}
    listed = list_entries(texts, more="find_tools finds them", characters=_MAX_LISTED)
    return f"{listed}\n(discover with a {words.action} shows its parameters.)"


def _describe(words: _Words, tools: Mapping[str, Tool]) -> Iterator[str]:
    for name, tool in tools.items():
        rendered = render_tool(tool)
        yield json.encode(
            {
                words.action: name,
                "description": rendered.description,
                "parameters": rendered.parameters,
            }
        ).decode()


def _write(parameters: Any) -> str:
    """Arguments as JSON; models often write the inner ones as text."""
    if isinstance(parameters, str):
        return parameters or "{}"
    return json.encode(parameters or {}).decode()
