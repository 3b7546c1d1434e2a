"""Which call the call of a meta-tool was, read from a conversation, without a toolset."""

from typing import Any, cast

from msgspec import json, structs

from pegboard.core.model_messages import ToolCall
from pegboard.core.wire_names import wire_name
from pegboard.schemas.strict_json import decode

_ACTIONS = {"list_tables": "list_tables", "discover": "describe_table", "query": "query"}


def unwrap_call(call: ToolCall) -> ToolCall:
    """The inner call of a meta-tool, under the same id; any other or faulty call as it is."""
    try:
        given: Any = decode(call.arguments or "{}")
        name, arguments = _read(call.name, cast("dict[str, Any]", given))
    except (ValueError, KeyError, TypeError, AttributeError):
        return call
    # models often write the inner arguments as text
    text = arguments if isinstance(arguments, str) else json.encode(arguments or {}).decode()
    return structs.replace(call, name=name, arguments=text or "{}")


def _read(name: str, given: dict[str, Any]) -> tuple[str, Any]:
    """The name and the arguments of the inner call. Raises `KeyError` for none."""
    match name, given.get("subcommand"):
        case "call_tool", _:
            return str(given["name"]), given.get("arguments")
        case "connector", "execute":
            return wire_name(given["connector"], given["action"]), given.get("parameters")
        case "mcp", "call":
            return wire_name(given["server"], given["tool"]), given.get("parameters")
        case "database", subcommand:
            arguments = {key: given[key] for key in ("table", "sql") if given.get(key)}
            return wire_name(given["database"], _ACTIONS[str(subcommand)]), arguments
        case _:
            raise KeyError(name)
