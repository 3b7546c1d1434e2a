"""The allowlist for tools that are registered over the API.

A caller of the API must not gain the right to run code on this machine: an import or a script runs
only if the board file names it. Requests go through the guarded client, and tools of other servers
keep their own rules, so that neither needs a permission here.
"""

from fnmatch import fnmatchcase
from functools import cached_property
from pathlib import Path

from pegboard.runtime.board_file.models import CatalogueEntry, ToolEntry


class RegistrationAllowlist:
    """Checks the entries of one request against the allowlist; each script is resolved once.

    ```python
    reason = RegistrationAllowlist(loaded.board.catalogue, loaded.base_dir).find_refusal(entry)
    ```

    Args:
        allowed: What the board file names.
        base_dir: Where its paths start.
    """

    def __init__(self, allowed: CatalogueEntry, base_dir: Path) -> None:
        self._allowed = allowed
        self._base_dir = base_dir
        self._is_below: dict[str, bool] = {}

    def find_refusal(self, entry: ToolEntry) -> str:
        """Why an entry may not run, and what the operator can write; empty when it may run."""
        if entry.import_ and entry.type in {"PythonFunction", "LangChainTool"}:
            if any(fnmatchcase(entry.import_, glob) for glob in self._allowed.imports):
                return ""
            return (
                f"the import '{entry.import_}' is not allowed: the operator can allow it in "
                "board.yaml under 'catalogue: {imports: [...]}'"
            )
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
