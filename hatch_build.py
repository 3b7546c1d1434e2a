"""Adds the built web console to wheels, if `make web` has built it."""

from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface


class ConsoleBuildHook(BuildHookInterface[Any]):
    """Puts `web/dist` where `pegboard.servers.http.console_files` looks for it.

    A wheel that is built without Node and npm has no console, and everything else works. An
    editable installation serves `web/dist` itself.
    """

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Add the files to a wheel."""
        built = Path(self.root, "web", "dist")
        if version == "standard" and (built / "index.html").is_file():
            build_data["force_include"][str(built)] = "pegboard/servers/http/console"
