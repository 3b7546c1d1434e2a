"""The source of scripts."""

import logging
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from pegboard.concurrency.thread_pool import POOL
from pegboard.core.health import HEALTHY, Health, HealthStatus
from pegboard.core.ports.sandbox import Sandbox
from pegboard.core.ports.services import Services
from pegboard.core.tool import Tool
from pegboard.errors import SourceUnavailable
from pegboard.sources.script.config import ScriptConfig
from pegboard.sources.script.description import Description
from pegboard.sources.script.discovery import Script, find_scripts, list_files
from pegboard.sources.script.interpreters import PATH, command_of, is_python
from pegboard.sources.script.pep723 import read_dependencies
from pegboard.sources.script.permissions import grant_permissions
from pegboard.sources.script.plain_process import run_plainly
from pegboard.sources.script.python_environments import PythonEnvironments
from pegboard.sources.script.tools import Runnable, Runner, missing_tool, script_tool

_LOG = logging.getLogger("pegboard.sources")
_NO_SANDBOX = "this board has no sandbox"


async def open_scripts(name: str, config: ScriptConfig, services: Services) -> "ScriptSource":
    """Open a source; scripts are read when the tools are listed."""
    return ScriptSource(name, config, services)


class ScriptSource:
    """The scripts of a configuration.

    ```python
    config = ScriptConfig.model_validate({"paths": ["scripts"]})
    source = await KIND.open("ops", config, Services())
    [(tool.spec.name, tool.spec.unavailable) for tool in await source.tools()]
    ```
    """

    def __init__(self, name: str, config: ScriptConfig, services: Services) -> None:
        self.name = name
        self._config = config
        self._services = services
        self._environments = PythonEnvironments(
            services.data_dir, environ=services.environ, timeout=config.environment_timeout
        )
        self._has_warned = False

    async def tools(self) -> Sequence[Tool]:
        """Read all descriptions; an invalid script is listed with the reason.

        Raises:
            SourceUnavailable: A folder of `paths` does not exist.
        """
        scripts = await POOL.run(
            lambda: find_scripts(self._config, self._services.base_dir), owner=self.name
        )
        taken: dict[str, str] = {}
        return [await self._tool(script, taken) for script in scripts]

    async def health(self) -> Health:
        """Whether scripts run as configured."""
        if self._config.sandbox == "none":
            return HEALTHY
        why = await self._why_not_apart(network=self._config.network)
        if not why:
            return HEALTHY
        if self._config.sandbox == "auto":
            reason = f"Scripts run without a sandbox: {why}"
            return Health(status=HealthStatus.DEGRADED, reason=reason)
        return Health(status=HealthStatus.UNHEALTHY, reason=f"Scripts cannot run: {why}")

    async def close(self) -> None:
        """Stop running installations; calls end by themselves."""
        self._environments.close()

    def files(self) -> Sequence[Path]:
        """The scripts, their descriptions, and whatever else is in their folders."""
        return list_files(self._config, self._services.base_dir)

    def on_change(self, notify: Callable[[], None]) -> None:
        """Do nothing: scripts are read again when the board is reloaded."""

    async def _tool(self, script: Script, taken: dict[str, str]) -> Tool:
        description = script.description
        action = (description.name if description else "") or script.stem
        file = script.path.name if script.path else script.stem
        if action in taken:
            reason = f"'{action}' is also the name of {taken[action]}: give one another 'name'"
            action = _other_name(file, taken)
            taken[action] = file
            return missing_tool(self.name, action, reason, description=description)
        taken[action] = file
        if description is None:
            return missing_tool(self.name, action, script.fault)
        try:
            runnable = self._runnable(script, description)
            run = await self._runner(network=runnable.grant.network)
        except SourceUnavailable as error:
            return missing_tool(self.name, action, error.message, description=description)
        return script_tool(self.name, action, runnable, run=run, environments=self._environments)

    def _runnable(self, script: Script, description: Description) -> Runnable:
        services, config = self._services, self._config
        folder = script.path.parent if script.path else services.base_dir
        command = command_of(
            script.path,
            script.head,
            command=description.command,
            search=services.environ.get("PATH", PATH),
        )
        needs = None
        if script.path is not None and is_python(command):
            needs = read_dependencies(script.head, file=script.path.name)
        return Runnable(
            description=description,
            command=command,
            path=script.path,
            needs=needs,
            directory=self._directory(),
            grant=grant_permissions(
                description,
                config,
                folder=folder,
                base_dir=services.base_dir,
                environ=services.environ,
            ),
        )

    def _directory(self) -> Path | None:
        if self._config.directory is None:
            return None
        folder = (self._services.base_dir / self._config.directory).resolve()
        if not folder.is_dir():
            raise SourceUnavailable(
                f"the folder '{self._config.directory}' of 'directory' does not exist"
            )
        return folder

    async def _runner(self, *, network: bool) -> Runner:
        """The function that runs a script.

        Raises:
            SourceUnavailable: A sandbox is required, and none works here.
        """
        if self._config.sandbox == "none":
            return run_plainly
        why = await self._why_not_apart(network=network)
        sandbox = self._services.sandbox
        if sandbox is not None and not why:
            return sandbox.run
        if self._config.sandbox == "auto":
            if not self._has_warned:
                self._has_warned = True
                _LOG.warning("%s: scripts run without a sandbox: %s", self.name, why)
            return run_plainly
        raise SourceUnavailable(
            f"scripts run in a sandbox, and {why}. Where that is not needed, write 'sandbox: none' "
            "into the source's config"
        )

    async def _why_not_apart(self, *, network: bool) -> str:
        sandbox: Sandbox | None = self._services.sandbox
        if sandbox is None:
            return _NO_SANDBOX
        return await sandbox.why_no_commands(network=network)


def _other_name(file: str, taken: dict[str, Any]) -> str:
    name = file
    while name in taken:
        name += "_"
    return name
