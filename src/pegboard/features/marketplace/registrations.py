"""Registrations (RFC-0003) for the tools of an entry."""

import hashlib
import re
from collections.abc import Mapping
from typing import Any
from urllib.parse import urljoin

from msgspec import json

from pegboard.core.tool import Effect, Tool, ToolSpec
from pegboard.core.wire_names import wire_name
from pegboard.features.marketplace.entries import InstallOption, MarketEntry
from pegboard.features.pins.definitions import upstream_of
from pegboard.schemas.document import plain
from pegboard.schemas.tool_definition import definition_digest

MAX_BYTES = 256 * 1024
_MAX_SLUG = 60
_ROUTE = re.compile(r"openapi ([A-Z]+) (\S+)(?: of (.*))?", re.DOTALL)
_VERSION = re.compile(r"(\d+)(?:\.\d+){0,2}(?:[-+.][0-9A-Za-z.-]+)?")
_VARIABLE = re.compile(r"\{([^{}]+)\}")


def upstream_spec(tool: Tool) -> ToolSpec:
    """Return the spec of a tool as its server gives it."""
    return upstream_of(tool) or tool.spec


def action_of(tool: Tool) -> str:
    """Return the name of a tool that its server uses."""
    said = upstream_spec(tool)
    return said.action or said.name


def registration_of(
    tool: Tool, entry: MarketEntry, way: InstallOption, *, prefix: str
) -> dict[str, Any]:
    """Return the complete registration of a tool.

    Args:
        tool: The tool as its server lists it.
        entry: Its entry.
        way: The install option.
        prefix: Prefix of its name.
    """
    spec, said = tool.spec, upstream_spec(tool)
    major, version = _version(entry.version)
    made: dict[str, Any] = {
        "tool_id": f"{slug_of(prefix, spec.action or action_of(tool))}_v{major}",
        "name": (spec.title or action_of(tool))[:200],
        "description": spec.description[:20_000],
        **_TYPES[way.source_kind](said, way),
        "tool": action_of(tool),
        "pin": definition_digest(said),
        "effect": _effect(spec, entry).value,
        "input_schema": _schema(spec.input_schema),
        "category": spec.category[:200],
        "capabilities": _words(entry, "capability", "category"),
        "tags": _words(entry, "tag", "keyword"),
    }
    if spec.output_schema is not None:
        made["output_schema"] = plain(spec.output_schema)
    if spec.idempotent is not None:
        made["idempotent"] = spec.idempotent
    return made | ({"version": version} if version else {})


def is_too_large(registration: Mapping[str, Any]) -> bool:
    """Whether the registration is too large to store."""
    return len(json.encode(registration)) > MAX_BYTES


def slug_of(prefix: str, action: str) -> str:
    """Return the name of a tool, with room for the suffix of its major version."""
    name = wire_name(prefix, action)
    if len(name) <= _MAX_SLUG:
        return name
    digest = hashlib.sha256(action.encode("utf-8", "surrogatepass")).hexdigest()[:8]
    return f"{name[: _MAX_SLUG - 10].rstrip('_')}_x{digest}"


def _mcp(_said: ToolSpec, way: InstallOption) -> dict[str, Any]:
    return {"type": "MCPTool", "server": way.address}


def _openapi(said: ToolSpec, way: InstallOption) -> dict[str, Any]:
    """The route given by the document, and the address it is shown with."""
    made: dict[str, Any] = {"type": "RestAPI", "server": way.address}
    found = _ROUTE.fullmatch(said.handler)
    method, path, servers = found.groups() if found else ("GET", "/", "")
    base = urljoin(way.address, _first_server(servers or "/"))
    return made | {"method": method, "url": f"{base.rstrip('/')}{path}"}


_TYPES = {"mcp": _mcp, "openapi": _openapi}
"""How each kind of source is named in a registration."""


def _first_server(servers: str) -> str:
    """The address in `https://{region}.example.com region=eu, ...`, variables filled in."""
    url, *pairs = servers.partition(", ")[0].split(" ")
    values = {key: value for key, _, value in (pair.partition("=") for pair in pairs)}
    return _VARIABLE.sub(lambda found: values.get(found[1], ""), url)


def _effect(spec: ToolSpec, entry: MarketEntry) -> Effect:
    """The stronger of the effects given by the server and by the catalogue."""
    stated = Effect(entry.effect) if entry.effect else spec.effect
    return max(spec.effect, stated, key=lambda effect: effect.strength)


def _schema(schema: Mapping[str, Any]) -> dict[str, Any]:
    """JSON Schema that cannot be mistaken for the shorthand of the RFC."""
    made: dict[str, Any] = plain(schema)
    return made if "properties" in made else {**made, "type": "object", "properties": {}}


def _words(entry: MarketEntry, *told_as: str) -> list[str]:
    return [label.name for label in entry.labels if label.told_as in told_as]


def _version(said: str) -> tuple[str, str]:
    """The major version, and the whole version if it is a valid one."""
    found = _VERSION.fullmatch(said.removeprefix("v"))
    if found is None or len(said) > 60 or len(found[1]) > 3:
        return "1", ""
    return found[1], found[0]
