"""Reviews of entries: everything that adding one would do, with a digest."""

import asyncio
import glob
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any
from urllib.parse import urlsplit

from pegboard.core.text.truncate import truncate
from pegboard.core.tool import Effect, Tool
from pegboard.core.wire_names import is_source_name
from pegboard.errors import EntryNotFound, InvalidRequest, PegboardError
from pegboard.features.marketplace.entries import (
    InstallOption,
    Market,
    MarketEntry,
    RequiredValue,
    entry_to_dict,
)
from pegboard.features.marketplace.formats.sanitize import line
from pegboard.features.marketplace.registrations import action_of, is_too_large, registration_of
from pegboard.features.marketplace.review_digest import digest_review
from pegboard.tools.yaml_positions import dump_yaml

MAX_REGISTRATIONS = 200
_MAX_TOOLS = 5_000
_MAX_DESCRIPTION = 1_000

ListTools = Callable[[str, Mapping[str, Any]], Awaitable[Sequence[Tool]]]
"""Lists the tools of a source that is not on the board; raises a `PegboardError`."""


@dataclass(frozen=True, slots=True, kw_only=True)
class EntrySelection:
    """What to add of an entry.

    Attributes:
        way: The install option; empty for the best.
        tools: The tools, by the names their server uses; empty for all.
        name: Prefix of the tool names; empty for the default of the entry.
    """

    way: str = ""
    tools: tuple[str, ...] = ()
    name: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Review:
    """The review of an entry.

    Attributes:
        shown: The review as it is shown, with its digest.
        places: Digest of each part, to tell later what has changed.
        source: The source for a board file; None if it cannot be one.
        registrations: The registrations to make.
    """

    entry: MarketEntry
    way: InstallOption
    shown: Mapping[str, Any]
    places: Mapping[str, str]
    source: Mapping[str, Any] | None = None
    registrations: Sequence[Mapping[str, Any]] = field(default_factory=list[Mapping[str, Any]])

    @property
    def digest(self) -> str:
        """Digest of the whole review."""
        return str(self.shown["digest"])


async def review_entry(
    entry: MarketEntry,
    market: Market,
    choice: EntrySelection,
    *,
    look: ListTools,
    environ: Mapping[str, str],
) -> Review:
    """Review an entry.

    Args:
        entry: The entry as its catalogue says now.
        market: Its marketplace.
        choice: What to add of it.
        look: Lists the tools of a server; programs are not started.
        environ: Environment variables, to tell which values are missing.

    Raises:
        EntryNotFound: There is no such install option or tool.
        InvalidRequest: The chosen name is not a valid source name.
    """
    way = _find_option(entry, choice.way)
    name = choice.name or entry.short or market.name
    if not is_source_name(name):
        raise InvalidRequest("'name' is at most 30 letters, digits, single '_' and '-'")
    tools, note = await _tools(way, market, look)
    # a list may have many megabytes: process it in a thread
    return await asyncio.to_thread(
        partial(_review, entry, way, choice, name=name, tools=tools, note=note, environ=environ)
    )


def _review(
    entry: MarketEntry,
    way: InstallOption,
    choice: EntrySelection,
    *,
    name: str,
    tools: Sequence[Tool],
    note: str,
    environ: Mapping[str, str],
) -> Review:
    chosen = _select_tools(tools, choice, way)
    rows = [
        _row(tool, entry, way, name, is_whole=len(chosen) <= MAX_REGISTRATIONS) for tool in chosen
    ]
    registrations = [row["registration"] for row in rows if row["registration"] is not None]
    why_not = _why_not(way, rows, registrations, note)
    source = None if way.problem else _source(way, choice.tools, name)
    shown: dict[str, Any] = {
        **_describe(entry),
        "way": way.name,
        "other_ways": [_other_option(item) for item in entry.ways if item.name != way.name],
        "name": name,
        "runs": "here" if way.runs_here else "elsewhere",
        "address": way.address,
        "command": list(way.command),
        "source": source,
        "board_file": "" if source is None else _lines(source),
        "needs": [_need(item, environ) for item in way.needs],
        "can_be_registered": not why_not,
        "why_not": why_not,
        "tools": rows,
        "tools_note": note,
        "warnings": _warnings(entry, way, rows),
    }
    shown["digest"], places = digest_review(shown)
    return Review(
        entry=entry,
        way=way,
        shown=shown,
        places=places,
        source=source,
        registrations=registrations,
    )


def _find_option(entry: MarketEntry, wanted: str) -> InstallOption:
    for way in entry.ways:
        if wanted in {"", way.name}:
            return way
    if not entry.ways:
        return InstallOption(
            name="", source_kind="", problem="Its catalogue does not say how to install it."
        )
    known = ", ".join(way.name for way in entry.ways)
    raise EntryNotFound(f"There is no install option '{line(wanted, most=40)}'; available: {known}")


async def _tools(way: InstallOption, market: Market, look: ListTools) -> tuple[list[Tool], str]:
    """The tools of an install option, or why they are unknown."""
    if way.problem:
        return [], f"It cannot be installed this way: {way.problem}"
    if way.runs_here:
        return [], (
            "Its tools are unknown: only its program can list them, and a review starts no program."
        )
    if way.needs:
        return (
            [],
            "Its tools are unknown: its server is not queried while required values are missing.",
        )
    config = {key: value for key, value in way.config.items() if key != "include"}
    if "auth" in config:  # the config has the placeholder of the board file; this is its value
        config["auth"] = {"kind": "bearer", "token": market.token}
    try:
        found = await look(way.source_kind, config)
    except PegboardError as error:
        return [], f"Its tools are unknown: {error.message}"
    if len(found) > _MAX_TOOLS:
        return [], f"It has more than {_MAX_TOOLS:,} tools."
    tools = [tool for tool in found if way.only in {"", action_of(tool)}]
    if way.only and not tools:
        return [], f"Its server lists no tool '{way.only}' over MCP for this token."
    return tools, ""


def _select_tools(tools: Sequence[Tool], choice: EntrySelection, way: InstallOption) -> list[Tool]:
    if not choice.tools or way.runs_here or not tools:
        return list(tools)
    wanted = set(choice.tools)
    unknown = wanted - {action_of(tool) for tool in tools}
    if unknown:
        raise EntryNotFound(f"It has no tool '{line(min(unknown), most=100)}'.")
    return [tool for tool in tools if action_of(tool) in wanted]


def _row(
    tool: Tool, entry: MarketEntry, way: InstallOption, name: str, *, is_whole: bool
) -> dict[str, Any]:
    spec = tool.spec
    row: dict[str, Any] = {
        "name": action_of(tool),
        "effect": spec.effect.value,
        "description": truncate(spec.description, _MAX_DESCRIPTION),
        "unavailable": spec.unavailable,
        "registration": None,
    }
    if spec.unavailable or not is_whole or _why_no_registration(way):
        return row
    made = registration_of(tool, entry, way, prefix=name)
    if is_too_large(made):
        row["unavailable"] = "Its input schema is too large."
        return row
    return {**row, "effect": made["effect"], "registration": made}


def _why_not(
    way: InstallOption, rows: Sequence[Mapping[str, Any]], registrations: Sequence[Any], note: str
) -> str:
    """Why the entry cannot be registered over HTTP; empty if it can."""
    reason = way.problem or _why_no_registration(way) or note
    if reason or registrations:
        return reason
    if len(rows) > MAX_REGISTRATIONS:
        return f"It has {len(rows)} tools: choose at most {MAX_REGISTRATIONS} of them."
    return "None of its tools can be used." if rows else "It has no tools."


def _why_no_registration(way: InstallOption) -> str:
    if way.runs_here:
        return "A program can only be added in the board file, by the operator."
    if way.needs:
        return "It needs values, which can only be given in the board file."
    if way.config.get("headers"):
        return "It needs headers, which can only be given in the board file."
    is_sse = way.address.partition("?")[0].rstrip("/").endswith("/sse")
    if way.source_kind == "mcp" and way.config.get("transport", "http") != (
        "sse" if is_sse else "http"
    ):
        return "Its transport must be set, which is only possible in the board file."
    return ""


def _source(way: InstallOption, tools: Sequence[str], name: str) -> dict[str, Any]:
    """The entry of a board file's `sources:`."""
    config = dict(way.config)
    if tools and way.source_kind == "openapi":
        config["include"] = [{"operations": sorted(tools)}]
    elif tools:
        config["include"] = sorted(map(glob.escape, tools))
    if any("${" in item for item in tools):
        raise EntryNotFound("No tool has '${' in its name.")
    return {"kind": way.source_kind, "name": name, "config": config}


def _lines(source: Mapping[str, Any]) -> str:
    return dump_yaml({"sources": [dict(source)]}, sort_keys=False, allow_unicode=True, width=10_000)


def _describe(entry: MarketEntry) -> dict[str, Any]:
    return {
        **entry_to_dict(entry),
        "homepage": entry.homepage,
        "repository": entry.repository,
    }


def _other_option(way: InstallOption) -> dict[str, Any]:
    return {
        "way": way.name,
        "runs": "here" if way.runs_here else "elsewhere",
        "address": way.address,
        "command": list(way.command),
        "problem": way.problem,
    }


def _need(need: RequiredValue, environ: Mapping[str, str]) -> dict[str, Any]:
    return {
        "name": need.name,
        "place": need.place,
        "variable": need.variable,
        "description": need.description,
        "is_secret": need.is_secret,
        "is_set": need.variable in environ,
    }


def _warnings(
    entry: MarketEntry, way: InstallOption, rows: Sequence[Mapping[str, Any]]
) -> list[str]:
    warnings = [*entry.warnings, *way.warnings]
    elsewhere = sorted(_origins(rows) - {_origin(way.address)})
    if elsewhere:
        warnings.append(f"Its calls go to {', '.join(elsewhere)}.")
    writing = sum(row["effect"] != Effect.READ for row in rows)
    if writing:
        warnings.append(f"{writing} of its {len(rows)} tools may change something.")
    unusable = sum(bool(row["unavailable"]) for row in rows)
    if unusable:
        warnings.append(f"{unusable} of its {len(rows)} tools cannot be used.")
    return warnings


def _origins(rows: Sequence[Mapping[str, Any]]) -> set[str]:
    """The origins that the registrations call, as far as they name them."""
    made = [row["registration"] for row in rows if row["registration"] is not None]
    return {_origin(item["url"]) for item in made if "url" in item}


def _origin(url: str) -> str:
    parts = urlsplit(url)
    return f"{parts.scheme}://{parts.netloc}"
