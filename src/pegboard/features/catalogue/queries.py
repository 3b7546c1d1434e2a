"""Queries about tools that were registered by API."""

import re
from collections.abc import Callable, Mapping
from typing import Any, cast

from pegboard.core.tool import ToolSpec
from pegboard.execution.results.redaction import MASK, redact_value
from pegboard.features.catalogue.registered_tools import RegisteredTools
from pegboard.features.catalogue.views import diff_dict, only_row, version_row
from pegboard.registry import ToolRegistry
from pegboard.registry.version_specifiers import resolve_version

_SECRETIVE = re.compile(r"token|secret|pass|pwd|key|credential|auth", re.IGNORECASE)
_USER_INFO = re.compile(r"([a-zA-Z][a-zA-Z0-9+.-]*://[^\s/:@]*:)[^\s/]*@")
_QUERY = re.compile(r"([?&]([^=&#\s]+)=)([^&#\s]+)")


class CatalogueQueries:
    """Reads registered tools and their versions, without access to the store.

    Args:
        registry: The tools of the board.
        registered: The tools that were registered by API.
    """

    def __init__(self, registry: ToolRegistry, registered: RegisteredTools) -> None:
        self._registry = registry
        self._registered = registered

    def history(self, name: str) -> list[dict[str, Any]]:
        """Return all versions of a tool, oldest first; other tools have one version.

        Raises:
            ToolNotFound: There is no such tool.
        """
        tool = self._registry.find(name)
        wire = self._registered.resolve_name(name)
        if wire not in self._registered.stored:
            spec = self._registry.get(name).spec if tool is None else tool.spec
            return [only_row(spec)]
        versions = self._registry.versions
        current = versions.current(wire).version if wire in self._registered.active else ""
        stored = {item.version: item for item in self._registered.stored[wire]}
        return [
            version_row(item, stored.get(item.version), current=current, origin="api")
            for item in versions.history(wire)
        ]

    def find_removed(self, name: str) -> ToolSpec | None:
        """Return the newest spec of a removed tool, by name, id or pin; None for others."""
        wire = self._registered.resolve_name(name)
        if wire in self._registered.active or wire not in self._registered.stored:
            return None
        return self._registry.versions.history(wire)[-1].tool.spec

    def diff(self, name: str, old: str = "", new: str = "") -> dict[str, Any]:
        """Compare two versions of a tool; by default the current one with its predecessor.

        Raises:
            ToolNotFound: There is no such tool.
            VersionNotFound: There is no such version; lists the versions.
            InvalidRequest: A version is ambiguous; lists the candidates.
        """
        rows = self.history(name)
        known = [row["version"] for row in rows]
        current = next((row["version"] for row in rows if row["is_current"]), known[-1])
        old = old and resolve_version(old, known, name=name)
        new = resolve_version(new or current, known, name=name)
        old = old or known[max(0, known.index(new) - 1)]
        wire = self._registered.resolve_name(name)
        header = {"name": wire, "from": old, "to": new}
        if wire not in self._registered.stored:
            return {**header, "kind": "", "changes": []}
        return {**header, **diff_dict(self._registry.versions.diff(wire, old, new))}

    def definition(self, spec: ToolSpec) -> dict[str, Any] | None:
        """Return the registered definition of a tool, secrets masked; None for other tools."""
        found = self._registered.definition(spec)
        return None if found is None else show_definition(found, self._registry.environment.redact)

    def origin(self, name: str) -> str:
        """Return the origin of a registered tool: `api`, `bulk`, ...; empty for other tools."""
        stored = self._registered.stored.get(self._registered.resolve_name(name))
        return stored[-1].origin if stored else ""


def show_definition(
    definition: Mapping[str, Any], redact: Callable[[str], str] | None
) -> dict[str, Any]:
    """Return a definition for display, with secrets masked and empty fields left out.

    Args:
        definition: As it is stored.
        redact: Removes secrets that the board knows; None when there are none.
    """
    given = {
        name.removesuffix("_"): value for name, value in definition.items() if value is not None
    }
    for name in given.keys() & {"url", "server"}:
        given[name] = mask_urls(str(given[name]))
    if "agent_config" in given:
        given["agent_config"] = _mask_by_name(given["agent_config"])
    return given if redact is None else redact_value(given, redact)


def _mask_by_name(value: Any, name: str = "") -> Any:
    """Mask the texts whose names say that they are secret; a number of tokens is not."""
    if isinstance(value, str):
        return MASK if _SECRETIVE.search(name) else mask_urls(value)
    if isinstance(value, Mapping):
        items = cast("Mapping[str, Any]", value).items()
        return {key: _mask_by_name(item, key) for key, item in items}
    if isinstance(value, (list, tuple)):
        return [_mask_by_name(item, name) for item in cast("list[Any]", value)]
    return value


def mask_urls(text: str) -> str:
    """Mask passwords and secret query parameters of the addresses in a text."""
    return _QUERY.sub(_parameter, _USER_INFO.sub(rf"\g<1>{MASK}@", text))


def _parameter(found: re.Match[str]) -> str:
    return f"{found[1]}{MASK}" if _SECRETIVE.search(found[2]) else found[0]
