"""The allowlist for tools that are registered over the API.

A caller of the API must not gain the right to run code on this machine, or to connect to any
database: an import, a script or a database is used only if the board file names it, and a pattern
of imports allows only what its modules define.
Requests go through the guarded client, and tools of other servers keep their own rules, so that
neither needs a permission here.
"""

from fnmatch import fnmatchcase
from functools import cached_property, partial
from pathlib import Path
from typing import Any

from pegboard.concurrency.thread_pool import POOL
from pegboard.errors import SourceUnavailable
from pegboard.features.catalogue.queries import mask_urls
from pegboard.runtime.board_file.models import CatalogueEntry, ToolEntry
from pegboard.runtime.registrations.source_config import hide_password
from pegboard.tools.import_objects import find_own_object


class RegistrationAllowlist:
    """Checks the entries of one request against the allowlist; each script is resolved once.

    ```python
    reason = await RegistrationAllowlist(board.catalogue, base_dir).find_refusal(entry)
    ```

    Args:
        allowed: What the board file names.
        base_dir: Where its paths start.
    """

    def __init__(self, allowed: CatalogueEntry, base_dir: Path) -> None:
        self._allowed = allowed
        self._base_dir = base_dir
        self._is_below: dict[str, bool] = {}

    async def find_refusal(self, entry: ToolEntry) -> str:
        """Why an entry may not run, and what the operator can write; empty when it may run."""
        if entry.import_ and entry.type in {"PythonFunction", "LangChainTool"}:
            return await self._refuse_import(entry)
        if entry.url and entry.type == "Database":
            return self._refuse_database(entry)
        script = entry.script_path
        if script and entry.type == "LocalScript":
            if script not in self._is_below:
                self._is_below[script] = self._look(script)
            if self._is_below[script]:
                return ""
            return (
                f"the script '{script}' is not allowed: the operator can allow its folder in "
                "board.yaml under 'catalogue: {scripts: [...]}'"
            )
        return ""

    def _refuse_database(self, entry: ToolEntry) -> str:
        if entry.tool == "execute":
            return (
                "writes to a database are not registered over the API: the operator can write the "
                "tool into board.yaml under 'tools:'"
            )
        if hide_password(entry.url) in map(hide_password, self._allowed.databases):
            return ""
        return (
            f"the database '{mask_urls(hide_password(entry.url))}' is not allowed: the operator "
            "can allow it in board.yaml under 'catalogue: {databases: [...]}', by its URL without "
            "the password"
        )

    async def _refuse_import(self, entry: ToolEntry) -> str:
        reference, imports = entry.import_, self._allowed.imports
        if reference in imports:
            return ""
        advice = (
            "the operator can allow it in board.yaml under 'catalogue: {imports: [...]}', "
            "with its full name"
        )
        if not any(_matches(glob, reference) for glob in imports):
            return f"the import '{reference}' is not allowed: {advice}"
        try:
            found = await POOL.run(
                partial(find_own_object, reference, self._base_dir), owner="catalogue"
            )
        except SourceUnavailable as error:
            return error.message
        if found is None:
            return (
                f"the import '{reference}' is not allowed: a pattern allows only public names that "
                f"the module itself defines; {advice}"
            )
        if entry.type == "LangChainTool" and not _is_langchain_tool(found):
            return (
                f"the import '{reference}' is not allowed: a pattern allows only LangChain tools, "
                f"and this would be called to get one; {advice}"
            )
        return ""

    @cached_property
    def _folders(self) -> list[Path]:
        return [(self._base_dir / folder).resolve() for folder in self._allowed.scripts]

    def _look(self, script: str) -> bool:
        """Whether a script is in an allowed folder, with links resolved."""
        try:
            path = (self._base_dir / script).resolve()
            return any(path.is_relative_to(folder) for folder in self._folders)
        except (OSError, ValueError):  # a loop of links, or a name with a NUL
            return False


def _matches(glob: str, reference: str) -> bool:
    """Whether a reference has the parts of a pattern; `*` stands for no dot and no colon."""
    if glob.count(":") != 1 or reference.count(":") != 1:
        return False
    for ours, theirs in zip(glob.split(":"), reference.split(":"), strict=True):
        wanted, given = ours.split("."), theirs.split(".")
        if len(wanted) != len(given):
            return False
        if not all(fnmatchcase(name, part) for part, name in zip(wanted, given, strict=True)):
            return False
    return True


def _is_langchain_tool(found: Any) -> bool:
    """Whether an object is an instance of LangChain's `BaseTool`, without importing LangChain."""
    return any(
        kind.__name__ == "BaseTool" and kind.__module__.startswith("langchain_core.")
        for kind in type(found).__mro__
    )
